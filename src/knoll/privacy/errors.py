"""Errors that the kernel raises. Each message says what to do next, nothing about any record, and no password."""

import re
from reprlib import Repr

_LONGEST = 80  # characters of a parameter's value in a message: it is there to be recognised, not to be read
_SHORTENED = Repr()
_SHORTENED.maxother = _SHORTENED.maxstring = _LONGEST
_URI = re.compile(r"\b([A-Za-z][\w+.-]+:/{1,2})([^\s'\"]*@)?([^\s'\"?#;]*)([?#;][^\s'\"]+)?")


def masked(text: str) -> str:
    """Return a text without what may be a password: what stands before the last @ of a URI, and its parameters.

    >>> masked("cannot read postgresql://ann:secret@host/clinic?password=secret")
    'cannot read postgresql://...@host/clinic?...'
    """
    return _URI.sub(lambda uri: f"{uri[1]}{'...@' if uri[2] else ''}{uri[3]}{'?...' if uri[4] else ''}", text)


class _MaskedError(Exception):
    """An error whose message holds no credentials, whatever it quotes."""

    def __init__(self, *said: object):
        super().__init__(*(masked(each) if isinstance(each, str) else each for each in said))


def brief(value: object) -> str:
    """Return a parameter's value as a message shows it: on one line, cut in the middle where it gets long.

    >>> brief(list(range(400))), brief("kmeans")
    ('[0, 1, 2, 3, 4, 5, ...]', "'kmeans'")
    """
    text = " ".join(masked(_SHORTENED.repr(masked(value) if isinstance(value, str) else value)).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 30]}...{text[-27:]}"


class PrivacyError(_MaskedError, ValueError):
    """A request that cannot be granted under its privacy parameters; nothing was released."""


class BudgetExceededError(PrivacyError):
    """The release would exceed the budget of this fit."""


class CapExceededError(BudgetExceededError):
    """The release would exceed the cap of this dataset in the ledger."""


class LedgerError(_MaskedError, RuntimeError):
    """The ledger cannot be read or written; nothing was released."""


class LedgerWarning(UserWarning):
    """Something about the ledger that its keeper should look at; nothing was lost by it alone."""


class DataError(_MaskedError, ValueError):
    """The data cannot be read as finite numbers in the declared columns; nothing was released."""


class BoundsError(_MaskedError, ValueError):
    """Bounds are missing or make no sense."""
