"""The privacy kernel: relations, budgets, noise, the ledger, and the one door to the data."""

from knoll.privacy.accounting import Cost, epsilon_for, mu_for
from knoll.privacy.budget import Budget, Shares
from knoll.privacy.curator import Curator
from knoll.privacy.discovery import Discovered
from knoll.privacy.errors import (
    BoundsError,
    BudgetExceededError,
    CapExceededError,
    DataError,
    LedgerError,
    LedgerWarning,
    PrivacyError,
)
from knoll.privacy.grant import Grant
from knoll.privacy.ledger import FileLedger, MemoryLedger, open_ledger
from knoll.privacy.query import Ask, either
from knoll.privacy.relation import Record, Relation, User
from knoll.privacy.released import Privacy, Released

__all__ = [
    "Ask",
    "BoundsError",
    "Budget",
    "BudgetExceededError",
    "CapExceededError",
    "Cost",
    "Curator",
    "DataError",
    "Discovered",
    "FileLedger",
    "Grant",
    "LedgerError",
    "LedgerWarning",
    "MemoryLedger",
    "Privacy",
    "PrivacyError",
    "Record",
    "Relation",
    "Released",
    "Shares",
    "User",
    "either",
    "epsilon_for",
    "mu_for",
    "open_ledger",
]
