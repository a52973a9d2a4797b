"""The floors of the house: no module cycle, and no import that gets around a floor from inside a function.

The layers contract in pyproject.toml (`lint-imports`) says which floor may use which. It takes packages as wholes; a
cycle within one, and a way round it through the lazily loaded names of `knoll`, are looked for here.
"""

import ast
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import knoll

SOURCE = Path(knoll.__file__).parent
LATE = {  # who may import a module of ours inside a function, and why
    "knoll.cli": "a command loads what it needs, so that `knoll --help` answers at once",
    "knoll.source": "readers of CSV and parquet are heavy, and arrays do not need them",
}
WHOLE = {"knoll.audit", "knoll.cli"}  # above all estimators: they may ask `knoll` for any of them


def name_of(file):
    return ".".join(("knoll", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(file): file for file in SOURCE.glob("**/*.py")}


def imports(code, known):
    """Return the modules of ours that code imports, and whether inside a function; those for type checkers are none."""
    found = []

    def visit(node, late):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            found.extend((each.name, late) for each in node.names if each.name in known)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            places = (f"{node.module}.{each.name}" for each in node.names)
            found.extend((place if place in known else node.module, late) for place in places)
        for part in ast.iter_child_nodes(node):
            visit(part, late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    visit(ast.parse(code), False)
    return [(name, late) for name, late in found if name in known]


def cycle(graph):
    """Return the modules of a cycle, in order; nothing if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def within(name, rooms):
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


@pytest.fixture(scope="module")
def all_imports():
    return {name: imports(file.read_text(), MODULES) for name, file in MODULES.items()}


def test_no_module_cycle(all_imports):
    found = cycle({name: {other for other, _ in theirs} for name, theirs in all_imports.items()})
    assert not found, " -> ".join(found)


def test_no_import_inside_a_function_gets_around_the_floors(all_imports):
    late = {name for name, theirs in all_imports.items() if any(late for _, late in theirs)}
    assert not {name for name in late if not within(name, LATE)}
    assert all(any(within(name, [room]) for name in late) for room in LATE)  # no exception outlives its reason


def test_only_the_top_asks_for_the_whole_package(all_imports):
    assert not {name for name, theirs in all_imports.items() if "knoll" in dict(theirs) and not within(name, WHOLE)}


def test_the_walk_sees_cycles_and_late_imports():
    known = {"knoll", "knoll.a", "knoll.b"}
    first = imports("def f():\n    from knoll import b\n", known)
    assert first == [("knoll.b", True)]
    second = imports("if TYPE_CHECKING:\n    import knoll\nelse:\n    pass\nfrom knoll.a import f\n", known)
    assert second == [("knoll.a", False)]
    assert set(cycle({"knoll.a": {name for name, _ in first}, "knoll.b": {name for name, _ in second}})) == known - {
        "knoll"
    }
    assert not cycle({"knoll.a": {"knoll.b"}, "knoll.b": set()})


def test_contributors_are_told_the_floors_and_files_that_there_are():
    root = Path(__file__).parents[2]
    before, picture, after = (root / "CONTRIBUTING.md").read_text().split("```")
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    floors = next(each["layers"] for each in contracts if each["type"] == "layers")
    drawn = [line.split("   ")[0].split() for line in picture.splitlines() if line[:1].strip()]
    assert drawn == [[name.strip().removeprefix("knoll.") for name in floor.split("|")] for floor in floors]
    paths = re.findall(r"`([\w/]+(?:\.py|\.md|\.toml|/))`", before + after)
    assert len(paths) > 20
    assert [path for path in paths if not ((root / path).exists() or (SOURCE / path).exists())] == []
