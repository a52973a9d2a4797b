"""Of what the table of releases is made: public facts of a fit, conditions on them, numbers, and what is asked.

A condition and a number have words for readers and a function for tests, made together where they can be, so that they
cannot say different things.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from knoll.queries import OpenWords, Query

NUMERALS = {1: "one", 2: "two", 3: "three", 4: "four", 8: "eight"}


@dataclass(frozen=True)
class Fit:
    """What decides which releases a fit makes, all of it public or released.

    Attributes
    ----------
    columns : int
        Columns of the records.
    effective : float
        Effective dimensions of the bounds, given or bought: below `columns` if some columns are narrow.
    parameters : dict
        The estimator's parameters.
    sparse, texts : bool
        Whether the records are sparse rows, and whether they have words.
    """

    columns: int
    effective: float
    parameters: Mapping[str, Any]
    sparse: bool = False
    texts: bool = False

    @classmethod
    def of(cls, model: Any) -> "Fit":
        """Return the facts of a fitted model."""
        half = np.ones(model.bounds_.n_columns) if model.scale_by_bounds else np.asarray(model.bounds_.half)
        sparse = not bool((getattr(model, "column_weights_", np.ones(1)) == 1.0).all())
        texts = getattr(model, "has_texts_", False)
        effective = float(half.sum() ** 2 / (half * half).sum())
        return cls(len(half), effective, model.get_params(deep=False), sparse, texts)

    def given(self, **parameters: Any) -> "Fit":
        """Return the same facts with other parameters."""
        return replace(self, parameters={**self.parameters, **parameters})

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]


@dataclass(frozen=True)
class When:
    """A condition that everybody can check: its words, and whether a fit meets it."""

    words: str
    holds: Callable[[Fit], bool]

    def __and__(self, other: "When") -> "When":
        words = ", ".join(filter(None, (self.words, other.words)))
        return When(words, lambda fit: self.holds(fit) and other.holds(fit))


ALWAYS = When("", lambda fit: True)
SPARSE = When("sparse rows", lambda fit: fit.sparse)
DENSE = When("dense rows", lambda fit: not fit.sparse)
TEXTS = When("there are texts", lambda fit: fit.texts)
PURE = When("`delta=0`", lambda fit: fit["delta"] == 0)
NOT_PURE = When("`delta` above 0", lambda fit: fit["delta"] > 0)


def columns(least: int, most: int | None = None) -> When:
    """A number of columns.

    >>> [columns(1, 1).words, columns(1, 3).words, columns(4).words]
    ['one column', 'up to 3 columns', '4 or more columns']
    """
    if most is None:
        return When(f"{least} or more columns", lambda fit: fit.columns >= least)
    words = "one column" if most == 1 else f"up to {most} columns"
    return When(words, lambda fit: least <= fit.columns <= most)


def option(name: str, *values: Any) -> When:
    """A parameter with one of these values.

    >>> option("preset", "paper").words
    '`preset="paper"`'
    """
    words = [f'`{name}="{value}"`' if isinstance(value, str) else f"`{name}={value}`" for value in values]
    return When(" or ".join(words), lambda fit: isinstance(fit[name], type(values[0])) and fit[name] in values)


def given(name: str) -> When:
    """A parameter that is not None."""
    return When(f"`{name}` given", lambda fit: fit[name] is not None)


@dataclass(frozen=True)
class Number:
    """How often something is asked: words, and the least and the most. If these differ, released values decide."""

    words: str
    least: Callable[[Fit], int]
    most: Callable[[Fit], int]


def times(least: int, most: int | None = None) -> Number:
    """A fixed number, or a range.

    >>> [times(1).words, times(4).words, times(1, 10).words]
    ['one', 'four', '1 to 10 x']
    """
    words = NUMERALS[least] if most is None else f"{least} to {most} x"
    return Number(words, lambda fit: least, lambda fit: least if most is None else most)


def parameter(name: str, *, paper: int | None = None) -> Number:
    """As often as a parameter says; `paper` times with the paper's preset."""

    def number(fit: Fit) -> int:
        return int(fit[name]) if paper is None or fit["preset"] != "paper" else paper

    words = f"`{name}` x" if paper is None else f'`{name}` ({paper} if `preset="paper"`) x'
    return Number(words, number, number)


ONCE = times(1)


@dataclass(frozen=True)
class Release:
    """A query that a fit releases.

    Attributes
    ----------
    query : type of Query
        Its class.
    number : Number
        How often, one after the other.
    when : When
        On which condition; it is not asked otherwise.
    called : str
        What ``privacy_`` and the ledger call it, where the class alone does not say; "#" stands for a number.
    what : str
        Words for what is asked about.
    """

    query: type[Query] | type[OpenWords]
    number: Number = ONCE
    when: When = ALWAYS
    called: str = ""
    what: str = ""

    @property
    def name(self) -> str:
        """What ``privacy_`` calls it."""
        return self.called or self.query.name

    @property
    def words(self) -> str:
        """How often, which query, of what, when."""
        text = f"{self.number.words} `{self.query.__name__}`"
        text += f" {self.what}" if self.what else ""
        return text + (f" (if {self.when.words})" if self.when.words else "")


@dataclass(frozen=True)
class As:
    """All that another estimator releases, bounds aside; `inside` says of which one, from this one's facts."""

    words: str
    inside: Callable[[Fit], tuple[str, Fit]]
    when: When = ALWAYS


@dataclass(frozen=True)
class Case:
    """What an estimator releases under one condition, in order.

    Attributes
    ----------
    steps : tuple of Release and As
        What is asked.
    when : When
        The condition. Of an estimator's cases, exactly one holds for a fit.
    note : str
        More words for readers.
    public : tuple of str
        What is assumed public besides what always is.
    """

    steps: tuple[Release | As, ...]
    when: When = ALWAYS
    note: str = ""
    public: tuple[str, ...] = field(default=())
