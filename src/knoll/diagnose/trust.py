"""Remarks on whether the result may be published at all."""

from knoll.diagnose.diagnostic import Diagnostic
from knoll.diagnose.facts import Facts


def seeded_noise(facts: Facts) -> Diagnostic | None:
    """Say that the noise came from a test source."""
    if not facts.warning:
        return None
    advice = "Fit again without knoll.testing before you show the result to anyone."
    return Diagnostic("seeded-noise", "error", facts.warning, advice)
