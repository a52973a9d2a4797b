"""Puts the tables that were measured into the page of benchmarks, each between two comments that name it."""

import re
from pathlib import Path

from benchmarks.common import RESULTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
TABLES = ("engines", "engines-costs", "engines-model", "engines-faults")


def written(text: str) -> str:
    """Return the page with its tables as they were last measured."""
    for name in TABLES:
        begin, end = f"<!-- {name}: written by `make bench-engines` -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"the page must hold {begin} and {end}, once")
        block = f"{begin}\n\n{(RESULTS / f'{name}.md').read_text().strip()}\n\n{end}"
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, block=block: block, text, flags=re.DOTALL)
    return text


def update() -> None:
    PAGE.write_text(written(PAGE.read_text()))
    print(f"Wrote the tables of {PAGE.name}")


if __name__ == "__main__":
    update()
