"""Empirical lower bounds on epsilon: attacks that look at any estimator, or any callable, from outside.

An audit runs a mechanism many times on neighbouring datasets that are chosen to hurt. It asks how well an attacker, who
knows everything else, can tell them apart. The attacker's success gives a lower bound on the privacy loss, at a stated
confidence. A bound above the declared epsilon proves a mistake. A bound below it proves nothing, but the closer it
comes, the more a pass means.

>>> import knoll
>>> from knoll.audit import audit
>>> found = audit(knoll.Lloyd(2, n_steps=1, bounds=(-1, 1), epsilon=1.0), runs=60)
>>> found.passed, found.epsilon <= 1.0
(True, True)
"""

from importlib import import_module
from typing import Any

from knoll.audit.core import audit
from knoll.audit.evidence import Guarantee, one_run_epsilon
from knoll.audit.one_run import OneRun, audit_one_run
from knoll.audit.pairs import Pair, hurtful_pairs
from knoll.audit.plain import audit_release
from knoll.audit.registry import AUDITED, make_audited
from knoll.audit.verdict import Audit

__all__ = [
    "AUDITED",
    "Audit",
    "Guarantee",
    "OneRun",
    "Pair",
    "audit",
    "audit_one_run",
    "audit_release",
    "hurtful_pairs",
    "make_audited",
    "one_run_epsilon",
    "plot_audit",
]


def __getattr__(name: str) -> Any:
    """Load the picture when it is asked for: it needs matplotlib."""
    if name != "plot_audit":
        raise AttributeError(f"module 'knoll.audit' has no attribute {name!r}")
    return import_module("knoll.audit.picture").plot_audit
