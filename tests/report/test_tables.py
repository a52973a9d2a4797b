"""Numbers with errors as text, and tables that do not fit the terminal."""

import numpy as np
import pytest
from rich.console import Console

from knoll.cli import printed
from knoll.report.clusters import count_with_error, with_error


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (67.589, 0.028, "67.589 ± 0.028"), (1234.5, 20.0, "1,234 ± 20"), (1.0, np.inf, "not seen"),
        (1.5, 0.0, "1.5 ± <1e-08"), (1.5, 1e-12, "1.5 ± <1e-08"), (2.0, 3e-7, "2.00000000 ± 0.00000030"),
    ],
)  # fmt: skip
def test_a_value_has_the_digits_of_its_error(value, error, text):
    assert with_error(value, error) == text


def test_a_count_is_never_sure_to_zero():
    assert count_with_error(66, 13.2) == "66 ± 13"
    assert count_with_error(66, 0.2) == "66 ± <1"
    assert count_with_error(66, np.inf) == "not seen"


def test_a_narrow_terminal_names_columns_instead_of_cutting_numbers(monkeypatch, capsys):
    monkeypatch.setattr(printed, "console", Console(width=60))
    header = ["cluster", "size", *(f"column_{i}" for i in range(6))]
    printed.print_table("title", header, [["0", "1,234 ± 56", *["67.589 ± 0.028"] * 6]] * 3, "centers.csv")
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count("67.589 ± 0.028") % 3 == 0
    assert "column_5" in shown
    assert "centers.csv" in shown
