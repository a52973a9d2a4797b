"""Which fits `transcripts.py` records: every estimator and option that changes what is asked, and on which data.

A variant is an estimator, by its public name, with parameters. Each is fitted under every relation and law, to datasets
that take turns; the variant without a label is also fitted to every dataset. A case is fitted in the same way whatever
other cases there are.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from transcript_data import DATASETS, Data

import knoll
from knoll.registry import ESTIMATORS

RELATIONS = ("add_remove", "replace_special", "replace_one")
LAWS = {"gaussian": 1e-6, "laplace": 0.0}  # law -> delta


@dataclass(frozen=True)
class Variant:
    """An estimator with parameters; a callable stands for a value that depends on the data."""

    estimator: str
    label: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    on: tuple[str, ...] = ()  # datasets that it can, or should, be fitted to: all, if none are named
    mixture: dict[str, Any] | None = None  # parameters of `to_mixture`, for clusterers
    response: bool = False  # whether the last column is given as y

    @property
    def name(self) -> str:
        """Its name in a transcript."""
        return f"{self.estimator}, {self.label}" if self.label else self.estimator

    @property
    def datasets(self) -> tuple[str, ...]:
        """Where it can be fitted."""
        return self.on or tuple(DATASETS)

    def make(self, data: Data, **given: Any) -> Any:
        """Return the unfitted estimator."""
        own = {name: value(data) if callable(value) else value for name, value in self.parameters.items()}
        return getattr(knoll, self.estimator)(**{**data.options, **own, **given})


@dataclass(frozen=True)
class Case:
    """One fit."""

    variant: Variant
    dataset: str
    relation: str
    law: str

    @property
    def name(self) -> str:
        """Its name in a transcript."""
        return " | ".join([self.variant.name, self.dataset, self.relation, self.law])

    def make(self) -> tuple[Any, Data]:
        """Return the unfitted estimator and its data."""
        data = DATASETS[self.dataset]()
        common = {"relation": self.relation, "delta": LAWS[self.law], "epsilon": data.epsilon, "random_state": 0}
        return self.variant.make(data, **common), data


def of_half(fraction: float) -> Callable[[Data], np.ndarray]:
    """Return a bandwidth per column: a fraction of its half width."""
    return lambda data: fraction * data.half


def below(name: str, **parameters: Any) -> Callable[[Data], Any]:
    """Return an estimator to be used by another."""
    return lambda data: getattr(knoll, name)(**parameters)


FEW = ("blobs_2", "bumps_1", "moons_2", "tight_3", "ball_2", "users_2", "csv_2", "frame_3_scaled")
ONE = ("bumps_1", "tight_1")
SEVERAL = tuple(name for name in DATASETS if name not in ONE)
WIDE = ("heavy_5", "blobs_12", "blobs_20", "ball_14", "tight_3", "frame_3_unscaled")
PLANE = ("blobs_2", "moons_2", "uniform_2", "drowned_2", "ball_2", "users_2", "private_bounds_2", "missing_2", "csv_2")
SHAPES = ("tied", "diag", "spherical")
THREE, TWO = {"n_clusters": 3}, {"n_components": 2}


def _clusterers() -> Iterator[Variant]:
    """Yield the methods with centres."""
    yield Variant("KMeans", "", THREE, mixture={})
    yield Variant("KMeans", "k unknown", {"n_clusters": None})
    yield Variant("KMeans", "spare centres", {"n_clusters": 11}, FEW)
    yield Variant("Lloyd", "", THREE, mixture={})
    yield Variant("Lloyd", "many centres", {"n_clusters": 1200, "n_steps": 1}, ("uniform_2", "blobs_20"))
    yield Variant("Lloyd", "restart", {"n_clusters": 6, "restart": True})
    yield Variant("Lloyd", "paper", {**THREE, "preset": "paper"}, mixture={"covariance_type": "diag"})
    yield Variant("Lloyd", "2 steps", {**THREE, "n_steps": 2}, mixture={"covariance_type": "tied", "epsilon": 2.0})
    yield Variant("FastLloyd", "", THREE, mixture={"covariance_type": "spherical"})
    yield Variant("FastLloyd", "restart", {"n_clusters": 6, "restart": True, "clip": 0.4, "n_steps": 4})
    yield Variant("FastLloyd", "paper", {**THREE, "preset": "paper"})
    yield Variant("PEMeans", "", THREE, mixture={})
    yield Variant("PEMeans", "projection", {**THREE, "projection": 2}, WIDE)
    yield Variant("PEMeans", "many candidates", {"n_clusters": 190}, ("blobs_12", "users_folder_3"))
    yield Variant("PEMeans", "paper", {**THREE, "preset": "paper"}, ("blobs_2", "bumps_1", "drowned_2", "ball_2"))
    yield Variant("PEMeans", "paper, projection", {**THREE, "preset": "paper", "projection": 1}, ("heavy_5", "users_2"))
    yield Variant("LSHTree", "", THREE, mixture={})
    yield Variant("LSHTree", "shallow", {**THREE, "max_depth": 5})
    yield Variant("LSHTree", "paper", {**THREE, "preset": "paper", "max_depth": 3})
    yield Variant("Cubes", "", THREE, mixture={})
    yield Variant("Cubes", "projection", {**THREE, "projection": 1, "max_depth": 6}, SEVERAL)
    yield Variant("Cubes", "paper", {**THREE, "preset": "paper", "max_depth": 3})


def _morse() -> Iterator[Variant]:
    """Yield clusters of any shape."""
    six = {"n_subclusters": 6}
    yield Variant("MorseClustering", "", six, mixture={})
    yield Variant("MorseClustering", "overlap", {"n_clusters": 2, **six})
    yield Variant("MorseClustering", "default subclusters", {"n_clusters": 2}, ("blobs_2", "bumps_1", "heavy_5"))
    for cut in ("prominence", "persistence", "height"):
        yield Variant("MorseClustering", cut, {"n_clusters": 2, "cut": cut, **six}, FEW)
    yield Variant("MorseClustering", "flow", {"assign": "flow", **six}, FEW)
    for base in ("KMeans", "Lloyd", "FastLloyd", "PEMeans", "LSHTree", "Cubes"):
        yield Variant("MorseClustering", f"{base} below", {"base": below(base), **six}, FEW)
    yield Variant("MorseClustering", "GaussianMixture below", {"base": below("GaussianMixture"), **six}, FEW)
    paper = below("GaussianMixture", preset="paper", covariance_type="diag")
    yield Variant("MorseClustering", "paper mixture below", {"base": paper, **six}, FEW)
    for base in ("EMGaussianMixture", "HardEMGaussianMixture"):
        yield Variant("MorseClustering", f"{base} below", {"base": below(base, n_steps=2), **six}, FEW)


def _mixtures() -> Iterator[Variant]:
    """Yield the mixtures behind the door."""
    yield Variant("GaussianMixture", "", TWO)
    yield Variant("GaussianMixture", "k unknown", {"n_components": None})
    yield Variant("GaussianMixture", "k unknown, one column", {"n_components": None}, ONE)
    yield Variant("GaussianMixture", "tied, one column", {**TWO, "covariance_type": "tied"}, ONE)
    yield Variant("GaussianMixture", "paper", {**TWO, "preset": "paper"})
    for shape in SHAPES:
        yield Variant("GaussianMixture", shape, {"n_components": 3, "covariance_type": shape, "covariance_floor": 0.05})
    for name in ("EMGaussianMixture", "HardEMGaussianMixture"):
        yield Variant(name, "", TWO)
        yield Variant(name, "packed", {"n_components": 3, "start": "packed", "n_steps": 3})
        for shape in SHAPES:
            own = {"n_components": 3, "covariance_type": shape, "n_steps": 2, "covariance_floor": 0.02}
            yield Variant(name, shape, own)


def _modes() -> Iterator[Variant]:
    """Yield the methods on a released kernel sum."""
    fine, wide = {"n_frequencies": 64}, {"bandwidth": of_half(0.3), "n_frequencies": 64}
    for name, on in (("KernelDensity", ()), ("ModeSeeking", ()), ("ModalRegression", SEVERAL)):
        yield Variant(name, "", fine, on)
        yield Variant(name, "private bandwidth", {"bandwidth": "private", **fine}, on)
        yield Variant(name, "bandwidth", wide, on)
        yield Variant(name, "one bandwidth", {"bandwidth": 0.4, "scale_by_bounds": True, **fine}, on)
    given = ("blobs_2", "moons_2", "heavy_5", "blobs_12", "frame_3_scaled", "tight_3")
    yield Variant("ModalRegression", "X and y", {"bandwidth": of_half(0.3), **fine}, given, response=True)
    yield Variant("ModeSeeking", "2 modes", {"n_modes": 2, **fine})
    each = {"release": "each-step", **wide}
    yield Variant("ModeSeeking", "each step", each)
    yield Variant("ModeSeeking", "3 steps", {**each, "n_steps": 3, "bandwidth": "private"}, PLANE)
    yield Variant("ModeSeeking", "mini-batches", {**each, "mini_batches": True, "n_steps": 4, "n_modes": 2})
    yield Variant("ModeSeeking", "mini-batches, ladder", {"release": "each-step", "mini_batches": True}, PLANE)
    yield Variant("ModeClustering", "", {}, mixture={})
    yield Variant("ModeClustering", "3 clusters", {**THREE, "labels": "nearest"}, mixture={})
    yield Variant("ModeClustering", "6 clusters", {"n_clusters": 6, "bandwidth": "private", "chance": 0.01})
    yield Variant("ModeClustering", "bandwidth", {"bandwidth": of_half(0.3)}, FEW)


def _others(listed: tuple[Variant, ...]) -> Iterator[Variant]:
    """Yield the registered example of every estimator that has no variants of its own here."""
    for each in ESTIMATORS:
        if not each.local and each.name not in {variant.estimator for variant in listed}:
            yield Variant(each.name, "", dict(each.example))


_LISTED = (*_clusterers(), *_morse(), *_mixtures(), *_modes())
VARIANTS = (*_LISTED, *_others(_LISTED))


def fits() -> Iterator[Case]:
    """Yield every fit behind the door, each once."""
    seen: set[str] = set()
    combined = tuple(product(RELATIONS, LAWS))
    for variant in VARIANTS:
        names, turn = variant.datasets, zlib.crc32(variant.name.encode())
        cases = [Case(variant, names[(turn + i) % len(names)], *both) for i, both in enumerate(combined)]
        if not variant.label:
            cases += [Case(variant, name, *combined[(turn + i) % len(combined)]) for i, name in enumerate(names)]
        for case in cases:
            if case.name not in seen:
                seen.add(case.name)
                yield case
