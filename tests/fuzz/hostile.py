"""Ways to spoil a JSON document: as a value, and as text that no value gives."""

import copy
import json
import string

VALUES = [
    None, True, False, -1, 0, 1, 2, 0.5, -0.5, 1e-300, 1e308, -1e308, 10**400, -(10**400), 2**63, -(2**63), 2**64, "",
    "x", "1", "NaN", "\x00", "\ud800", "é" * 40, "\u202egnp.exe", "__import__('os').system('touch pwned')", "knoll.os",
    "../../etc/passwd", "/etc/passwd", "Lloyd", "KMeans", "os.system", "[red]", [], {}, [[]], [None], [None] * 3,
    [0] * 2000,
    [1, "a"], [[1.0], [1.0, 2.0]], {"__class__": "os.system"}, {"__reduce__": ["os.system", ["touch pwned"]]},
    {"estimator": "Lloyd", "parameters": {}}, {"estimator": "subprocess.Popen", "parameters": {"args": "touch pwned"}},
]  # fmt: skip
TEXTS = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" * 10**5, "-" + "9" * 5000, "1e-400", "0x10", "+1", "01",
         "[" * 10**5, "[" * 10**5 + "]" * 10**5, '{"a":' * 10**5 + "1" + "}" * 10**5, "[" * 900 + "]" * 900,
         "1." + "0" * 10**5, "1_000", "'x'", "undefined", "nul", '"\\ud800"', '"\\u0000"', '"\\x"']  # fmt: skip
WHOLE = [b"", b" ", b"null", b"[]", b"{}", b"0", b'"x"', b"\xff\xfe", b"\xef\xbb\xbf{}", b"\x00" * 50, b"[" * 10**5,
         b"{" * 10**5, b"NaN", b"1e400", b"9" * 10**5, b'{"a": 1, "a": 2}', b"[]]", b"\x80\x04\x95",
         b"<html>", b"true false"]  # fmt: skip
ABSURD = [  # changes to a model of Lloyd that no fit gives
    lambda good: good.update(estimator="../../etc/passwd"),
    lambda good: good.update(estimator=["Lloyd"]),
    lambda good: good.update(estimator="x" * 10**7),
    lambda good: good.update(estimator="knoll.Lloyd"),
    lambda good: good.update(knoll=True),
    lambda good: good.update(parameters=[]),
    lambda good: good["parameters"].update(n_clusters=2.5),
    lambda good: good["parameters"].update(n_clusters="3"),
    lambda good: good["parameters"].update(epsilon=[1.0]),
    lambda good: good["parameters"].update(relation="none"),
    lambda good: good["parameters"].update(preset="x" * 10**7),
    lambda good: good["parameters"].update(n_steps={"estimator": "Lloyd", "parameters": dict(good["parameters"])}),
    lambda good: good["bounds"].update(lower=["0", "0"]),
    lambda good: good["bounds"].update(lower=[]),
    lambda good: good["bounds"].update(lower="00", upper="11"),
    lambda good: good["bounds"].update(names=["only one"]),
    lambda good: good["fitted"].update(cluster_centers_=[[1.0, 2.0, 3.0]]),
    lambda good: good["fitted"].update(cluster_centers_=[1.0, 2.0]),
    lambda good: good["fitted"].update(cluster_sizes_=[1.0]),
    lambda good: good["fitted"].update(cluster_sizes_=[10**400] * 3),
    lambda good: good["privacy"].update(epsilon=-1),
    lambda good: good["privacy"].update(epsilon="1"),
    lambda good: good["privacy"].update(delta=1e300),
    lambda good: good["privacy"].update(relation="nobody"),
    lambda good: good["privacy"].update(releases=[{}]),
    lambda good: good["privacy"]["releases"][0].update(shape=[-1]),
    lambda good: good["privacy"]["releases"][0].update(shape=[10**15] * 10**4),
    lambda good: good["privacy"]["releases"][0].update(scale=0),
    lambda good: good.update(columns=["a"]),
    lambda good: good.update(columns="ab"),
]
MARK = "@@here@@"


def spoiled(good, others, chance):
    """Return the text of a document with one to three things wrong; now and then, another document altogether."""
    if chance.random() < 0.02:
        return chance.choice(WHOLE)
    document = copy.deepcopy(good)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        change_one(document, others, chance)
    kind = chance.random()
    if kind < 0.15:
        node, key = somewhere(document, chance)
        if node is not None:
            node[key] = MARK
            return json.dumps(document).replace(f'"{MARK}"', chance.choice(TEXTS)).encode()
    text = json.dumps(document)
    if kind < 0.19:  # a key twice
        at = text.find("{") + 1
        return (text[:at] + '"epsilon": 3, "epsilon": 4, ' + text[at:]).encode()
    content = text.encode()
    if kind < 0.23:
        at = chance.randrange(len(content) + 1)
        return (
            content[:at]
            + chance.choice([b"", b"\xff", b"}", b"\x00", b",", b'"'])
            + content[at + chance.randrange(9) :]
        )
    return text.encode("utf-16") if kind < 0.24 else content


def somewhere(document, chance):
    """Walk down at random; return what holds a value and its key there, or (None, None) for an empty document."""
    node, key = None, None
    here = document
    while isinstance(here, dict | list) and here and (node is None or chance.random() < 0.8):
        node, key = here, chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
        here = node[key]
    return node, key


def change_one(document, others, chance):
    """Replace, remove, repeat, rename, nest, swap, resize or take over one thing."""
    node, key = somewhere(document, chance)
    if node is None:
        return
    value = node[key]
    kind = chance.randrange(9)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, dict):
        node[chance.choice([*string.ascii_letters, "client", "_threshold", "scale", "__init__", "épsilon"])] = node.pop(
            key
        )
    elif kind == 2 and isinstance(node, list):
        node[key:key] = [copy.deepcopy(value)] * chance.choice([1, 2, 100])
    elif kind == 3:
        for _ in range(chance.choice([1, 2, 40])):
            value = [value] if chance.random() < 0.5 else {"estimator": "Lloyd", "parameters": value, "base": value}
            if len(str(value)) > 10**4:
                break
        node[key] = value
    elif kind == 4 and type(value) in (int, float) and abs(value) < 1e300:
        node[key] = chance.choice([-value, value + 0.5, value * 1e6, value / 1e6, int(value), str(value), -1 - value])
    elif kind == 5:
        other, at = somewhere(chance.choice(others), chance)
        node[key] = copy.deepcopy(other[at])
    elif kind == 6:
        other, at = somewhere(document, chance)
        if other is not None:
            node[key], other[at] = copy.deepcopy(other[at]), copy.deepcopy(value)
    elif kind == 7 and isinstance(value, list):
        node[key] = chance.choice([value[:-1], value[::-1], [*value, *value], dict(enumerate(map(str, value)))])
    else:
        node[key] = copy.deepcopy(chance.choice(VALUES))
