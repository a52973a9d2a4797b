"""Who is protected: neighbouring relations and the unit of privacy.

Two datasets are neighbours if one can be had from the other by

=================  ==============================================================  ==================
relation           change                                                          number of records
=================  ==============================================================  ==================
add_remove         adding or removing one record                                   private
replace_special    turning one record into a null that adds nothing, or back       public
replace_one        replacing one record by any other                               public
=================  ==============================================================  ==================

The unit is one record, or one user with at most `cap` records. Which of a user's records count, if there are
more, follows from that user's id and records alone (knoll.engines.users); the sensitivity of a sum over them
is then at most `cap` times that of one record, by the triangle inequality.
"""

from dataclasses import dataclass
from enum import StrEnum

from knoll.privacy.errors import PrivacyError, brief


class Relation(StrEnum):
    """A neighbouring relation between datasets."""

    ADD_REMOVE = "add_remove"
    REPLACE_SPECIAL = "replace_special"
    REPLACE_ONE = "replace_one"

    @classmethod
    def parse(cls, value: object) -> "Relation":
        """Return the relation of this name, or explain which ones there are."""
        try:
            return cls(str(value))
        except ValueError:
            names = ", ".join(repr(str(relation)) for relation in cls)
            raise PrivacyError(f"relation={brief(value)} is not one of {names}") from None

    @property
    def sentence(self) -> str:
        """What an observer cannot tell, in words."""
        return {
            Relation.ADD_REMOVE: "whether any one {unit} is in the data",
            Relation.REPLACE_SPECIAL: "whether any one {unit} is in the data, the number of records being public",
            Relation.REPLACE_ONE: "the values of any one {unit}, the number of records being public",
        }[self]


@dataclass(frozen=True)
class Record:
    """The unit of privacy is one record (one row)."""

    @property
    def cap(self) -> int:
        """Rows that one unit may hold."""
        return 1

    def __str__(self) -> str:
        return "record"


@dataclass(frozen=True)
class User:
    """The unit of privacy is a user: all rows that share an id, of which at most `cap` are used.

    Parameters
    ----------
    column : str or int
        Name (frames, files) or position (arrays) of the column that holds the ids. It is not a feature.
    cap : int
        Rows used per user: those with the smallest hash of their own values. Noise grows with the cap.
    """

    column: str | int
    cap: int

    def __post_init__(self) -> None:
        if isinstance(self.cap, bool) or not isinstance(self.cap, int) or not 1 <= self.cap <= 10**6:
            raise PrivacyError(
                f"cap={brief(self.cap)}: the records used per user must be an integer from 1 to 1,000,000"
            )

    def __str__(self) -> str:
        return f"user (column {self.column!r}, at most {self.cap} records each)"


Unit = Record | User
