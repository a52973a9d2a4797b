"""The list of mutants is up to date: the code that each one removes is there, once."""

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_protection_is_where_the_list_says(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    mutants = runpy.run_path(str(ROOT / "benchmarks" / "mutants.py"))["MUTANTS"]
    sys.modules.pop("common", None)
    for mutant in mutants:
        assert (ROOT / "src" / "knoll" / mutant.file).read_text().count(mutant.code) == 1, mutant.protection
        assert mutant.code != mutant.without
        assert all((ROOT / test).exists() for test in mutant.tests.split())
    assert len(mutants) >= 15
