"""How often two standard errors of a profile hold the same figure of the records without noise."""

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.random import RandomState

import knoll
from benchmarks.profile.made import Parameters, table
from knoll.columns import encode_table
from knoll.profile.figures import QUANTILES
from knoll.profile.narrowed import counting

GAPS = (0.0, 0.002, 0.05, 0.3)  # shares of missing values, one of them for each column
_ROUND = 1e-9  # of a figure: what is exact without noise differs by rounding


def with_gaps(data: dict[str, np.ndarray], rng: RandomState) -> dict[str, list]:
    """Return a table with missing values in most columns."""
    found = {}
    for name, values in data.items():
        gone = rng.rand(len(values)) < GAPS[rng.randint(len(GAPS))]
        found[name] = [None if absent else value for value, absent in zip(values.tolist(), gone.tolist(), strict=True)]
    return found


def held(profile: Any, encoded: np.ndarray, names: tuple[str, ...]) -> dict[tuple[str, str], list[bool]]:
    """Return by figure and column which intervals hold the truth."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    found["records", "all"].append(_within(len(encoded), profile.n_records_, profile.n_records_stderr_))
    line, missing = 0, np.isnan(encoded).mean(axis=0)
    for j, place in enumerate(profile._layout()):
        name = names[j]
        found["missing", name].append(
            _within(missing[j], profile.missing_shares_[j], profile.missing_shares_stderr_[j])
        )
        values = encoded[~np.isnan(encoded[:, j]), j]
        which = profile.cells_[:, 0] == j
        counts = np.bincount(np.searchsorted(profile.cells_[which, 1][1:], values, side="right"), minlength=which.sum())
        parts = profile.cell_shares_[which], profile.cell_shares_stderr_[which]
        found["shares", name] += [_within(*each) for each in zip(counts / len(values), *parts, strict=True)]
        if place.line is None:
            continue
        low, high = profile.quantiles_low_[line], profile.quantiles_high_[line]
        truth = np.quantile(values, QUANTILES, method="inverted_cdf")
        if place.kind is not None and place.kind.word == "whole":
            low, high = np.rint(low), np.rint(high)
        if place.kind is not None and place.kind.word == "date":
            low, high = np.floor(low), np.floor(high)
        found["quantiles", name] += ((low <= truth) & (truth <= high)).tolist()
        if place.kind is None or place.kind.word != "log":
            found["means", name].append(_within(values.mean(), profile.averages_[line], profile.averages_stderr_[line]))
        line += 1
    return found


def _within(truth: float, figure: float, error: float) -> bool:
    return bool(abs(truth - figure) <= 2 * error + _ROUND * abs(truth))


def coverage_rows(
    sizes: tuple[int, ...], epsilons: tuple[float, ...], delta: float, given: Parameters, seeds: range
) -> list[dict[str, Any]]:
    """Return a row for each figure and column."""
    seen: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for n in sizes:
        for epsilon in epsilons:
            for seed in seeds:
                rng = RandomState(seed)
                data, columns = table(n, given, rng)
                gappy = with_gaps(data, rng)
                profile = knoll.Profile(columns, epsilon=epsilon, delta=delta).fit(gappy)
                encoded = encode_table(counting(columns), gappy)
                for key, values in held(profile, encoded, columns.names).items():
                    seen[key] += values
                    seen[key[0], "all"] += values if key[1] != "all" else []
    return [
        {"figure": figure, "column": name, "intervals": len(values), "coverage": f"{100 * np.mean(values):.1f} %"}
        for (figure, name), values in sorted(seen.items())
    ]
