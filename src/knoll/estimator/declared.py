"""An estimator's class declares its parameters as fields; what all have in common is written here, once."""

import re
from dataclasses import dataclass
from typing import ClassVar, dataclass_transform

from knoll.parameters import Flag, OneOf, Rule
from knoll.releases import releases_note

COMMON_PARAMETERS = """epsilon, delta : float, default=1.0 and 1e-6
        Privacy budget of one fit. ``delta=0`` gives pure differential privacy (Laplace noise). A GridSearchCV fits
        many times, and `privacy_` tells of the last fit only; a shared `ledger` adds them up.
    bounds : Box, Ball, (lower, upper), list of (lower, upper) per column, dict, "sphere" or "private"
        Where records can lie, known without looking at them; records outside are clipped. ``"sphere"`` scales every
        row to length one, if only directions matter: there is nothing to know. ``"private"`` buys
        bounds with 6 % of the budget if records are many, up to 40 % if they are few for so many columns; look at
        `bounds_` and `bounds_in_doubt_`.
    scale_by_bounds : bool, default=True
        Measure distances in units of each column's bounds, so that years and dollars count alike. False measures in
        raw units. (Scaling by the data's own spread, as a StandardScaler before the estimator does, is not private, and
        no estimator can see it: `privacy_` does not cover other steps of a pipeline.)
    relation : {"add_remove", "replace_special", "replace_one"}, default="add_remove"
        What neighbouring datasets are.
    unit : Record or User, optional
        Who is protected: one record (default), or ``User(column, cap)``.
    missing : {"refuse", "drop"}, default="refuse"
        Rows with NaN or infinity: an error, or left out. Where the number of records is public (the two replace
        relations) a row whose features are all missing is a null record: it adds nothing, under either.
    ledger : path or ledger, optional
        Where releases are recorded, against a cap per dataset. In memory by default. A file's name names its data;
        for frames and arrays say whose they are: ``ledger=knoll.Ledger("privacy.db", dataset="visits")``.
    random_state : int, RandomState or None
        Public randomness. Never the noise.
    verbose : bool, default=False
        Show progress of long fits."""

DROP_UNSEEN = """drop_unseen : bool, default=False
        Leave out what cannot be told from noise; at least one stays. Records then go to what is left. Standard errors
        account for it.
    """

METRIC = """metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine": only directions matter. Rows are scaled to length one and go to the centre of the largest cosine.
        Leave `bounds` out. The same as ``bounds="sphere"``.
    """

COMMON_ATTRIBUTES = """bounds_ : Box or Ball
        The bounds used, given or bought.
    bounds_in_doubt_ : boolean array of shape (n_features,)
        True where bounds were bought and the noise may hide more than 2 % of the records outside. Give bounds for such
        columns, or take more records, fewer columns or a larger epsilon. False where bounds were given.
    privacy_ : Privacy
        What was released, at what cost; print it.
    diagnostics_ : tuple of Diagnostic
        Remarks on the fit, from released values alone: what is doubtful, and what to do about it.
    columns_ : Columns
        If kinds of columns were declared: these.
    imputed_ : array of shape (n_features,)
        If missing values of a column are imputed: what they are filled with, as `columns_` encodes it; NaN for others.
    table_type_ : TableType
        The library of the table that was fitted.
    n_features_in_, feature_names_in_
        As in scikit-learn."""


def _others(shared: str, known: str) -> str:
    """Return shared parameters without those that a docstring explains itself."""
    entries = re.split(r"\n    (?=\w)", shared)
    return "\n    ".join(each for each in entries if f"\n    {each.split(' ', 1)[0]} :" not in known)


@dataclass_transform()
def declared(cls: type) -> type:
    """Make an estimator of a class that declares its parameters as fields: add `__init__`, complete its docstring.

    What all estimators share is filled in for {parameters} and {attributes}, but for parameters that the docstring
    explains itself; a class with attributes or parameters of its own kind names them in `_ATTRIBUTES` and
    `_PARAMETERS`, which come first. {releases} becomes what the class releases, from `knoll.releases`.
    """
    if cls.__doc__:
        attributes = getattr(cls, "_ATTRIBUTES", "") + COMMON_ATTRIBUTES
        parameters = getattr(cls, "_PARAMETERS", "") + _others(COMMON_PARAMETERS, cls.__doc__)
        cls.__doc__ = cls.__doc__.replace("{parameters}", parameters).replace("{attributes}", attributes)
        if "{releases}" in cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("{releases}", releases_note(cls.__name__))
    return dataclass(cls, eq=False, repr=False)


@dataclass(kw_only=True, eq=False, repr=False)
class DropsUnseen:
    """The parameter of models that may leave out what cannot be told from noise."""

    drop_unseen: bool = False

    _PARAMETERS: ClassVar = DROP_UNSEEN
    _rules: ClassVar[dict[str, Rule]] = {"drop_unseen": Flag()}


@dataclass(kw_only=True, eq=False, repr=False)
class HasMetric(DropsUnseen):
    """The parameter of clusterers that can measure by cosine."""

    metric: str = "euclidean"

    _PARAMETERS: ClassVar = METRIC + DROP_UNSEEN
    _rules: ClassVar[dict[str, Rule]] = {"metric": OneOf(("euclidean", "cosine"))}
