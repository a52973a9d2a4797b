"""Positive controls: the audit catches every known mistake, and passes the same mechanism done right."""

import numpy as np
import pytest

from knoll.audit import audit, audit_release, hurtful_pairs
from knoll.privacy.sources import WordNoise
from knoll.queries import Count
from tests.audit.controls import CONTROLS, EPSILON

CONFIDENCE = 1 - 1e-7
"""Of every bound below: the chance that a sound mechanism fails one of these tests."""


def attack(name, right):
    control = CONTROLS[name]
    return audit(
        control.make(right), epsilon=EPSILON, delta=control.delta, gaussian=control.delta > 0, pairs=control.pairs,
        batch=control.batch, runs=control.runs, confidence=CONFIDENCE, name=name,
    )  # fmt: skip


@pytest.mark.parametrize("name", CONTROLS)
def test_a_known_mistake_is_caught(name):
    found = attack(name, right=False)
    assert not found.passed, str(found)
    if CONTROLS[name].batch:
        assert found.epsilon > EPSILON  # proven by statistics alone
    assert "FAILED" in str(found)


@pytest.mark.parametrize("name", CONTROLS)
def test_the_same_done_right_passes(name):
    found = attack(name, right=True)
    assert found.passed, str(found)
    assert "Passed" in str(found)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_sampler_with_half_the_noise_is_caught_behind_the_real_door(delta):
    """The entry, the scale and the sensitivity are all right; only the draws are too small."""

    class Halved(WordNoise):
        def perturb(self, total, law, scale):
            return super().perturb(total, law, scale / 2)

    pair = hurtful_pairs()[0]
    found = audit_release(Count(), pair, delta=delta, source=Halved(), confidence=CONFIDENCE)
    assert found.epsilon > 1.5
    assert not found.passed


def test_a_release_through_the_door_cannot_be_told_apart_from_bits(rng):
    """The low bits of a real release say as little as the rest of it."""
    from knoll.engines import ArrayEngine
    from knoll.privacy import Budget, Curator

    def mechanism(rows):
        return Curator(ArrayEngine(rows), Budget(EPSILON, 0.0)).release(Count(), 1.0).value

    found = audit(mechanism, epsilon=EPSILON, runs=600, pairs=hurtful_pairs()[:1], confidence=CONFIDENCE)
    assert found.passed
    assert np.isfinite(found.epsilon)
