"""Errors that the kernel raises. Each message says what to do next and nothing about any record."""

from reprlib import Repr

_LONGEST = 80  # characters of a parameter's value in a message: it is there to be recognised, not to be read
_SHORTENED = Repr()
_SHORTENED.maxother = _SHORTENED.maxstring = _LONGEST


def brief(value: object) -> str:
    """Return a parameter's value as a message shows it: on one line, cut in the middle where it gets long.

    >>> brief(list(range(400))), brief("kmeans")
    ('[0, 1, 2, 3, 4, 5, ...]', "'kmeans'")
    """
    text = " ".join(_SHORTENED.repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 30]}...{text[-27:]}"


class PrivacyError(ValueError):
    """A request that cannot be granted under its privacy parameters; nothing was released."""


class BudgetExceededError(PrivacyError):
    """The release would exceed the budget of this fit."""


class CapExceededError(BudgetExceededError):
    """The release would exceed the cap of this dataset in the ledger."""


class LedgerError(RuntimeError):
    """The ledger cannot be read or written; nothing was released."""


class LedgerWarning(UserWarning):
    """Something about the ledger that its keeper should look at; nothing was lost by it alone."""


class DataError(ValueError):
    """The data cannot be read as finite numbers in the declared columns; nothing was released."""


class BoundsError(ValueError):
    """Bounds are missing or make no sense."""
