"""The false-alarm rate of every statistical test, in one place. Nothing here is retried."""

FALSE_ALARM = 1e-7
"""Chance that a correct sampler fails one test."""

POWER = 1e-12
"""What a test must report for a sampler that is wrong in the stated way: it would be caught with near certainty."""
