"""Data to try things on. Made up, so nobody is in it."""

from knoll.datasets.clinic import clinic_visits, write_clinic_csv
from knoll.datasets.support import support_questions, write_support_csv

__all__ = ["clinic_visits", "support_questions", "write_clinic_csv", "write_support_csv"]
