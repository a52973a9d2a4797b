"""The list of mutants is up to date: the code that each one removes is there, once."""

from tools.mutants import MUTANTS, ROOT


def test_every_protection_is_where_the_list_says():
    for mutant in MUTANTS:
        assert (ROOT / "src" / "knoll" / mutant.file).read_text().count(mutant.code) == 1, mutant.protection
        assert mutant.code != mutant.without
        assert all((ROOT / test).exists() for test in mutant.tests.split())
    assert len(MUTANTS) >= 15
