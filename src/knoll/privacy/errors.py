"""Errors that the kernel raises. Each message says what to do next and nothing about any record."""


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
