"""Results as JSON and Markdown."""

import json
import platform
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    header = list(rows[0])
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(row[name]) for name in header) + " |" for row in rows]
    return "\n".join(lines)


def write(name: str, command: str, rows: list[dict[str, Any]], folder: Path = RESULTS) -> None:
    """Print a table and write it as JSON and Markdown."""
    folder.mkdir(exist_ok=True)
    table = markdown(rows)
    print("\n" + table)
    (folder / f"{name}.json").write_text(json.dumps({"command": command, "rows": rows}, indent=1) + "\n")
    note = f"Made by `{command}` on {platform.machine()}, Python {platform.python_version()}.\n"
    (folder / f"{name}.md").write_text(f"{table}\n\n{note}")
    print(f"\nWrote {folder.parent.name}/{folder.name}/{name}.md and .json")
