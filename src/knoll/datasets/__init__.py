"""Data to try things on. Made up, so nobody is in it."""

from knoll.datasets.clinic import clinic_visits, write_clinic_csv

__all__ = ["clinic_visits", "write_clinic_csv"]
