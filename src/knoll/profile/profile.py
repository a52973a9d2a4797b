"""A private first look at a table: what every column holds, from up to three looks at all columns at once.

    look at equal cells of every column on a line             (a small share of the budget)
    look again: heavy cells are split, light ones joined      (a small share)
    look at all columns: cells of about equal mass and groups of them, levels of categories
    fit all counts of a column together; read shares, quantiles and a mean off the fit

One record casts one vote per column and level of cells, so that d columns cost as much as sqrt(d) counts with Gaussian
noise, d counts with Laplace noise. Missing values are a cell of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from knoll.columns import Category, Columns, Kind, Number
from knoll.columns.toml import load_toml
from knoll.diagnose import Facts, facts_of
from knoll.estimator import FitContext, PrivateFit, declared
from knoll.parameters import OneOf
from knoll.privacy import Ask
from knoll.privacy.errors import BoundsError, PrivacyError
from knoll.profile.figures import QUANTILES
from knoll.profile.found import read_figures
from knoll.profile.lines import Line, line_of
from knoll.profile.looks import Column
from knoll.profile.narrowed import counting, narrowed
from knoll.profile.rounds import look_at, looks_asks
from knoll.profile.tables import Place, ProfileTables, averaged, layout_of

COUNT = "count"
MOST_COLUMNS = 2000  # more would leave each a budget that shows nothing, and take minutes

ATTRIBUTES = """n_records_, n_records_stderr_ : float
        Released number of records, and its standard error. As everywhere in a profile, standard errors are of what
        privacy changes: the figure against the same figure of these records without noise.
    missing_shares_, missing_shares_stderr_ : arrays of shape (n_columns,)
        Share of the records without a value, for each column.
    cells_ : array of shape (n_cells, 3)
        Column, lower and upper edge of every cell, as the columns are encoded; levels are cells around 0, 1, ...
    cell_shares_, cell_shares_stderr_ : arrays of shape (n_cells,)
        Share of a column's values in each of its cells.
    quantiles_, quantiles_low_, quantiles_high_ : arrays of shape (n_ordered_columns, 7)
        Quantiles at 1, 5, 25, 50, 75, 95 and 99 %, encoded, and where they may be within two standard errors.
    averages_, averages_stderr_ : arrays of shape (n_ordered_columns,)
        Means, in the terms of the columns.
    columns_ : Columns
        What was declared, if columns have kinds.
    """


@declared
class Profile(ProfileTables, PrivateFit, BaseEstimator):
    """A private first look at a table, column by column: missing values, shares or quantiles, each with its error.

    One budget for all columns. The natural step before clustering, and a way to find bounds: a fitted profile can be
    given as ``bounds=`` to any estimator, which then has bounds around the released outer quantiles.

    Parameters
    ----------
    columns : Columns, dict, path of a columns.toml, or as `bounds`
        What the columns hold; the same as `bounds`. Wide bounds cost little: cells are chosen where records are.
    missing : {"count", "refuse", "drop"}, default="count"
        "count" counts missing values in every column, whatever the column declares: a row with a gap still counts in
        its other columns. "refuse" and "drop": rows with NaN or infinity are an error, or left out.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    Examples
    --------
    >>> import knoll
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> table = {"age": rng.normal(40, 10, 20_000), "plan": rng.choice(["basic", "gold"], 20_000)}
    >>> profile = knoll.Profile({"age": (0, 110), "plan": {"basic", "gold"}}, epsilon=1.0).fit(table)
    >>> median, error = profile.quantile("age", 0.5)
    >>> bool(abs(median - 40) < 1 and error < 0.5)
    True
    """

    columns: Any = None
    _: KW_ONLY
    missing: str = COUNT

    _ATTRIBUTES: ClassVar = ATTRIBUTES
    _has_metric: ClassVar = False
    _rules: ClassVar = {"missing": OneOf((COUNT, "refuse", "drop"))}
    _published: ClassVar = {
        "n_records_": "", "n_records_stderr_": "", "missing_shares_": "s", "missing_shares_stderr_": "s",
        "cells_": "ce", "cell_shares_": "c", "cell_shares_stderr_": "c", "quantiles_": "lq", "quantiles_low_": "lq",
        "quantiles_high_": "lq", "averages_": "l", "averages_stderr_": "l",
    }  # fmt: skip

    def _fit_to(self, X: Any, response: Any = None) -> Self:
        given, kinds = self.bounds, self._declared()
        try:
            self.bounds = counting(kinds) if self.missing == COUNT and isinstance(kinds, Columns) else kinds
            super()._fit_to(X, response)
        finally:
            self.bounds = given
        if isinstance(kinds, Columns):
            self.columns_ = kinds
        return self

    def _declared(self) -> Any:
        """Return what was declared of the columns, by either parameter; kinds wherever there are names."""
        if self.columns is not None and self.bounds is not None:
            raise BoundsError("columns= and bounds= declare the same: give one of them")
        given = self.bounds if self.columns is None else self.columns
        if isinstance(given, PathLike) or (isinstance(given, str) and given.endswith(".toml")):
            return load_toml(Path(given))
        if isinstance(given, Profile):
            return given.found_columns
        named = isinstance(given, Mapping) and all(isinstance(key, str) for key in given)
        return Columns(given) if named else given

    def _lines(self, domain: Any) -> list[Line]:
        """Return the slots of every column: of its declared kind, or of numbers between bounds."""
        if hasattr(self, "columns_"):
            return [line_of(kind) for _, kind in self.columns_]
        kinds = _numbers(domain)
        return [Line(low, 1.0, 1) if kind is None else line_of(kind) for kind, low in kinds]

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        number = len(self.columns_) if hasattr(self, "columns_") else n_columns
        if number > MOST_COLUMNS:
            raise PrivacyError(f"{number:,} columns are too many for one profile: take {MOST_COLUMNS:,} at most")
        lines = (
            [line_of(kind) for _, kind in self.columns_]
            if hasattr(self, "columns_")
            else [line_of(Number(0, 1))] * number
        )
        return looks_asks(lines)

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        columns = [Column.of(line) for line in self._lines(context.domain)]
        kinds = self.columns_.kinds if hasattr(self, "columns_") else [None] * len(columns)
        with threadpool_limits(1, "blas"):  # the matrices of a column are too small to share among threads
            return read_figures(look_at(context.grant, columns), [averaged(kind) for kind in kinds])

    def _layout(self) -> list[Place]:
        if hasattr(self, "columns_"):
            kinds = counting(self.columns_) if self.missing == COUNT else self.columns_
            return layout_of(list(kinds.names), list(kinds.kinds))
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return layout_of([str(name) for name in names], [None] * len(names))

    @property
    def found_columns(self) -> Columns:
        """The columns with bounds around where the records are: what ``bounds=profile`` uses.

        Outer quantiles, continued outwards by their errors and a part of the width: they rather extend than cut, and
        stay within what was declared.
        """
        check_is_fitted(self, "cells_")
        places = self._layout()
        if hasattr(self, "columns_"):
            keys: tuple[Any, ...] = self.columns_.keys
            kinds: list[Kind | None] = list(self.columns_.kinds)
        else:
            keys, kinds = tuple(place.name for place in places), [kind for kind, _ in _numbers(self.bounds_)]
            if not hasattr(self, "feature_names_in_"):
                keys = tuple(range(len(places)))
        found = {}
        for key, kind, place in zip(keys, kinds, places, strict=True):
            if kind is not None and place.line is not None:
                ends = [each[place.line] for each in (self.quantiles_low_, self.quantiles_, self.quantiles_high_)]
                kind = narrowed(kind, *ends)
            found[key] = Number(-1.0, 1.0) if kind is None else kind
        return Columns(found)

    def _facts(self) -> Facts:
        others = []
        for j, at in enumerate(self._layout()):
            if isinstance(at.kind, Category):
                _, shares, errors = self._level_shares(j, at)
                others.append((at.name, float(shares[at.kind.other]), float(errors[at.kind.other])))
        return facts_of(self, records=self.n_records_, noise=self.n_records_stderr_, others=tuple(others))

    def _html_repr(self) -> str:
        return super()._html_repr() + (self._table_html() if hasattr(self, "cells_") else "")

    def _restore(self) -> None:
        """Refuse a model that could not have been fitted."""
        d, places = self.n_features_in_, self._layout()
        lines, which = sum(place.line is not None for place in places), self.cells_[:, 0]
        fits = len(self.missing_shares_) == d and self.quantiles_.shape == (lines, len(QUANTILES))
        if not fits or self.cells_.shape[1] != 3 or sorted(set(which.tolist())) != list(range(d)):
            raise ValueError("its cells do not fit its columns")
        plain = [value for name, value in vars(self).items() if name in self._published and "stderr" not in name]
        if not all(np.isfinite(value).all() for value in plain) or (np.diff(which) < 0).any():
            raise ValueError("a figure is not finite, or cells are not in order")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"non_deterministic": True}  # the same for scikit-learn 1.5


def _numbers(domain: Any) -> list[tuple[Kind | None, float]]:
    """Return columns of numbers between the bounds of a box or around a ball; none for a constant, and its value."""
    lower, upper = domain.centre - domain.half, domain.centre + domain.half
    pairs = zip(lower.tolist(), upper.tolist(), domain.constant.tolist(), strict=True)
    return [(None, low) if flat else (Number(low, high), low) for low, high, flat in pairs]
