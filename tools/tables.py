"""Write the tables that documents take from the package: what every estimator releases (`make tables`)."""

import re
from pathlib import Path

from knoll.releases import names_table, releases_table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "threat-model.md"
TABLES = {"releases": releases_table, "names": names_table}


def written(text: str) -> str:
    """Return a page with its tables made anew, each between two comments that name it."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name}: written by `make tables` -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"the page must hold {begin} and {end}, once")
        block = f"{begin}\n\n{table()}\n\n{end}"
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, block=block: block, text, flags=re.DOTALL)
    return text


def main() -> None:
    PAGE.write_text(written(PAGE.read_text()))
    print(f"Wrote the tables of {PAGE.name}")


if __name__ == "__main__":
    main()
