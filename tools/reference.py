"""Write the pages of the site that are made from the code and from results. `make docs` calls it before it builds.

docs/reference.md   every public name, by subject
docs/results/       the tables of benchmarks and audits, so that links to them lead somewhere
"""

import sys
from pathlib import Path

import knoll
from knoll.registry import ESTIMATORS

ROOT = Path(__file__).parent.parent
SUBJECTS = {
    "Columns": ["Columns", "Number", "Log", "Whole", "Boolean", "Category", "Ordered", "Date", "Cyclic"],
    "Bounds, data and units": ["Box", "Ball", "Source", "Table", "Record", "User"],
    "Budgets": ["Budget", "Ledger", "plan", "simulate_plan"],
    "Results": ["Diagnostic", "DiagnosticWarning", "Quality", "save", "load"],
}
ROOMS = {
    "knoll.cluster": "Clusterers",
    "knoll.mixture": "Mixtures",
    "knoll.modes": "Modes",
    "knoll.local": "Local reports",
    "knoll.profile": "Profile",
}
ELSEWHERE = ("audit.audit", "plots.plot", "datasets.clinic_visits", "datasets.write_clinic_csv")
HEAD = "# Reference\n\nEvery public name. In Python: `help(knoll.KMeans)`.\n"


def reference() -> str:
    """Return the text of the reference."""
    subjects = {title: [each.name for each in ESTIMATORS if each.room == room] for room, title in ROOMS.items()}
    subjects |= SUBJECTS
    listed = {name for names in subjects.values() for name in names}
    subjects |= {"More": sorted(set(knoll.__all__) - listed), "In rooms of their own": list(ELSEWHERE)}
    return "\n".join([HEAD, *(_listing(title, names) for title, names in subjects.items() if names)])


def _listing(title: str, names: list[str]) -> str:
    lines = "\n".join(f"   knoll.{name}" for name in names)
    return f"## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n\n{lines}\n```\n"


def results(folder: Path) -> None:
    """Write a page for each table of results."""
    folder.mkdir(exist_ok=True)
    for source in (*ROOT.glob("benchmarks/results/*.md"), *ROOT.glob("tools/results/*.md")):
        text = source.read_text(encoding="utf-8")
        head = "" if text.lstrip().startswith("#") else f"# {source.stem.replace('-', ' ').capitalize()}\n\n"
        folder.joinpath(source.name).write_text(f"---\norphan: true\n---\n\n{head}{text}", encoding="utf-8")


if __name__ == "__main__":
    docs = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    docs.joinpath("reference.md").write_text(reference(), encoding="utf-8")
    results(docs / "results")
