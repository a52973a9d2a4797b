"""The whole state of an object, to be compared with another's byte for byte.

`tree` follows everything that can be reached from an object: attributes, private ones too, slots, what it would be
pickled as, the items of containers, the insides of arrays, what functions have closed over. Every part becomes a
digest of its type, its bytes, and the names, order and digests of its own parts. So two trees agree if and only if
nothing that is stored differs. Where they differ, the path to it is known.

Left out, because they differ between two runs on the same data: where things lie in memory, whether equal parts are
one object or two, the order of a set, and the times in a ledger's lines.
Not followed: modules and what can be imported by name; they are code, and the same for both runs.
"""

import hashlib
import struct
import sys
import weakref
from collections.abc import Iterable
from types import CodeType, FunctionType, GeneratorType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from knoll.privacy.book import Line
from knoll.privacy.errors import PrivacyError

_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type(Ellipsis)})
_REDUCED: tuple[Any, Any] = (object.__reduce_ex__, object.__reduce__)
_AS_IT_IS = (object.__getstate__, BaseEstimator.__getstate__)  # pickled as their attributes, which are followed anyway
_OPAQUE: dict[type, Any] = {
    MappingProxyType: dict,
    memoryview: bytes,
    weakref.ReferenceType: lambda found: found(),
    type({}.values()): list,
    type({}.keys()): list,
    type({}.items()): list,
    GeneratorType: lambda found: found.gi_frame and found.gi_frame.f_locals,
}

Parts = list[tuple[str, Any]]


class Node(NamedTuple):
    """One part of a state: the digest of all of it, its own parts by name, and what it is if it is an estimator."""

    digest: bytes
    parts: dict[str, "Node"]
    estimator: str = ""


def tree(value: Any) -> Node:
    """Return the whole state of an object.

    >>> tree({"a": [1, 2]}) == tree({"a": [1, 2]}), tree(1) == tree(1.0), tree(1) == tree(np.int64(1))
    (True, False, False)
    """
    try:
        return _Walk().node(value)
    except RecursionError:
        raise PrivacyError("what is published is nested too deeply to be compared") from None


def differences(one: Node, other: Node, path: str) -> list[str]:
    """Return the paths at which two states differ: names, never values.

    >>> differences(tree({"a": 1, "b": [2]}), tree({"a": 1, "b": [3]}), "x")
    ["x['b']"]
    """
    if one.digest == other.digest:
        return []
    found = [] if list(one.parts) == list(other.parts) else [f"what {path} holds, or its order,"]
    for name in one.parts.keys() & other.parts.keys():
        part = one.parts[name]
        found += differences(part, other.parts[name], _joined(path, name, part.estimator))
    return sorted(found) or [path]


def _joined(path: str, name: str, estimator: str) -> str:
    """Extend a path; an estimator in a list, as a pipeline's steps are, begins one of its own."""
    return estimator if estimator and name.startswith("[") else path + name


def _digest(*parts: bytes) -> bytes:
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.digest()


def _name(kind: Any) -> bytes:
    return f"{kind.__module__}.{kind.__qualname__}".encode(errors="surrogatepass")


class _Walk:
    """Follows an object. What was seen is kept alive, so that an id means one object."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, Node]] = {}
        self._open: dict[int, int] = {}

    def node(self, value: Any) -> Node:
        """Return the state of one part."""
        kind = type(value)
        if kind in _PLAIN:
            return Node(_digest(_name(kind), _plain(value)), {})
        key = id(value)
        if key in self._open:  # a cycle: how many steps back
            return Node(_digest(b"back", str(len(self._open) - self._open[key]).encode()), {})
        if key not in self._done:
            self._open[key] = len(self._open)
            content, parts = _content(value)
            below = {name: self.node(part) for name, part in parts}
            del self._open[key]
            named = (piece for name, part in below.items() for piece in (name.encode(errors="replace"), part.digest))
            title = kind.__name__ if hasattr(kind, "get_params") else ""
            self._done[key] = value, Node(_digest(_name(kind), content, *named), below, title)
        return self._done[key][1]


def _content(value: Any) -> tuple[bytes, Parts]:
    """Return the bytes of a part itself, and the parts it is made of, in order."""
    if isinstance(value, np.ndarray):
        return _of_array(value)
    if isinstance(value, np.generic):
        return value.dtype.str.encode() + value.tobytes(), []
    if isinstance(value, dict):
        return b"", [*_items(value), *_attributes(value)]
    if isinstance(value, list | tuple):
        if type(value) in (list, tuple) and all(type(each) in _PLAIN for each in value):
            return _digest(*(part for each in value for part in (_name(type(each)), _plain(each)))), []
        return b"", [*((f"[{i}]", each) for i, each in enumerate(value)), *_attributes(value)]
    if isinstance(value, int | float | complex | str | bytes):  # a subclass, which may hold more
        own: Any = next(kind for kind in (int, float, complex, str, bytes) if isinstance(value, kind))
        return _plain(own(value)), _attributes(value)
    if isinstance(value, set | frozenset):
        return b"".join(sorted(tree(each).digest for each in value)), _attributes(value)
    if isinstance(value, type | FunctionType):
        return _of_code(value)
    if isinstance(value, ModuleType):
        return value.__name__.encode(), []
    if isinstance(value, CodeType):
        return value.co_code + repr(value.co_names).encode(), [(".co_consts", value.co_consts)]
    return _of_object(value)


def _plain(value: Any) -> bytes:
    """Return the bytes of a plain value; of a float all of them, even if it is NaN."""
    if type(value) in (float, complex):
        return struct.pack("dd", value.real, value.imag)
    return repr(value).encode(errors="surrogatepass")


def _items(value: dict[Any, Any]) -> Parts:
    if all(type(key) is str for key in value):
        return [(f"[{key!r}]", each) for key, each in value.items()]
    pairs = enumerate(value.items())
    return [part for i, (key, each) in pairs for part in ((f".keys()[{i}]", key), (f".values()[{i}]", each))]


def _of_array(value: np.ndarray) -> tuple[bytes, Parts]:
    plain = value.view(np.ndarray)
    head = f"{plain.dtype.str} {plain.shape}".encode()
    own = _attributes(value)
    if plain.dtype.names:  # padding between fields holds no data
        return head, [*((f"[{name!r}]", plain[name]) for name in plain.dtype.names), *own]
    if plain.dtype.hasobject:
        return head, [("[...]", plain.ravel().tolist()), *own]
    return head + plain.tobytes(), own


def _of_code(value: Any) -> tuple[bytes, Parts]:
    """A function or a class: its name if it can be imported, else what is in it."""
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is value:
        return _name(value), []
    if isinstance(value, type):
        return _name(value), [(f".{name}", each) for name, each in vars(value).items() if name != "__weakref__"]
    cells = [_held(cell) for cell in value.__closure__ or ()]
    inside = {"code": value.__code__, "defaults": value.__defaults__, "kwdefaults": value.__kwdefaults__}
    return _name(value), [*((f".__{name}__", each) for name, each in inside.items()), (".__closure__", cells),
                          *_attributes(value)]  # fmt: skip


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _of_object(value: Any) -> tuple[bytes, Parts]:
    kind = type(value)
    parts = _attributes(value)
    if isinstance(value, Line):
        return b"", [part for part in parts if part[0] != ".time"]
    for opaque, inside in _OPAQUE.items():
        if kind is opaque:
            return b"", [*parts, (".inside", inside(value))]
    if (kind.__reduce_ex__, kind.__reduce__) == _REDUCED and kind.__getstate__ in _AS_IT_IS and parts:
        return b"", parts
    return _pickled(value, parts)


def _pickled(value: Any, parts: Parts) -> tuple[bytes, Parts]:
    """What a pickle would hold besides; nothing for a lock, a file and others that have none."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:
        return b"", parts
    if isinstance(reduced, str):
        return reduced.encode(), parts
    held = [list(each) if i > 2 and each is not None else each for i, each in enumerate(reduced)]
    return b"", [*parts, (" as pickled", held)]


def _attributes(value: Any) -> Parts:
    """Everything in an object's `__dict__`, in order, and in its slots."""
    own = getattr(value, "__dict__", None)
    found = [(f".{name}", each) for name, each in own.items()] if isinstance(own, dict) else []
    for name in _slots(type(value)):
        if name not in ("__dict__", "__weakref__") and hasattr(value, name):
            found.append((f".{name}", getattr(value, name)))
    return found


def _slots(kind: type) -> Iterable[str]:
    for each in kind.__mro__:
        slots = vars(each).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            hidden = name.startswith("__") and not name.endswith("__")
            yield f"_{each.__name__.lstrip('_')}{name}" if hidden else name
