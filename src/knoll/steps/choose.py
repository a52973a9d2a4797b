"""How many clusters? Too many pieces first, then joined where no valley shows (steps/pieces.py, numeric/valleys.py).

The answer comes with a probability, and with the runners-up. The pieces are joined again and again, each time with the
released noise drawn once more and with another view of how deep a valley must be. The confidence is how often the
answers agree within 5 %. It knows nothing of clusters lost before the last pieces were released; benchmarks/choose
measures how far it can be believed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage

from knoll.estimator import FitContext
from knoll.numeric.valleys import Evidence, join, one_in_all_but, widths
from knoll.privacy import Ask, Grant, Shares
from knoll.queries import Product
from knoll.steps.axes import rotated_tree_asks
from knoll.steps.centres import Centres
from knoll.steps.pieces import MOST, Pieces, find_pieces, how_many, joined, pieces_asks
from knoll.steps.search import Searched, search_tree
from knoll.steps.tree import Leaves

# Settled on made-up clusters and clouds; benchmarks/choose measures them on others.
VIEWS = 1.0  # standard deviation, from view to view, of the log odds from which on pieces are joined
REDRAWS = 40  # repetitions: probabilities have steps of 1 / 41
LIGHT = 0.1  # a group of fewer records than this part of an average group's is no cluster
UNEVEN = 0.25  # with a group lighter than this part, nobody can tell clusters from tails
UNSURE = 0.45  # and the confidence is this part of what it would be
NEAR = 0.05  # numbers that differ by this part count as agreeing
RUNNERS = 5  # candidates, at most
COARSE = 0.05  # probability that groups of clusters are meant, where there are such
FEWEST_GROUPED, JUMP = 4, 1.5  # clusters that may lie in groups; how much farther groups are from each other


@dataclass(frozen=True)
class Choice:
    """A number of clusters, the probability that it is right within 5 %, and candidates: rows of (k, probability)."""

    k: int
    confidence: float
    candidates: np.ndarray

    @classmethod
    def given(cls, k: int) -> "Choice":
        """Return a number that was given."""
        return cls(k, 1.0, np.array([[float(k), 1.0]]))

    @classmethod
    def of(cls, k: int, drawn: np.ndarray, sure: float = 1.0) -> "Choice":
        """Return a choice from the numbers that redraws gave, itself among them. `sure` multiplies the confidence."""
        close = np.abs(drawn - k) <= NEAR * k
        confidence = sure * float(close.mean())
        values, times = np.unique(drawn[~close], return_counts=True)
        order = np.argsort(-times, kind="stable")[: RUNNERS - 1]
        others = [[float(values[i]), sure * float(times[i] / len(drawn))] for i in order]
        return cls(k, confidence, np.array([[float(k), confidence], *others]))

    def with_coarser(self, k: int) -> "Choice":
        """Return the same with a coarser level among the candidates (0: there is none)."""
        if not k or k in self.candidates[:, 0]:
            return self
        rows = self.candidates[: RUNNERS - 1] * [1.0, 1 - COARSE]
        return Choice(self.k, float(rows[0, 1]), np.vstack([rows, [float(k), COARSE]]))

    def attributes(self, of: str = "n_clusters") -> dict[str, Any]:
        """Return the fitted attributes."""
        return {f"{of}_confidence_": self.confidence, f"{of}_candidates_": self.candidates}


def as_far_as_seen(attributes: Mapping[str, Any], seen: np.ndarray, of: str = "n_clusters") -> dict[str, Any]:
    """Return fitted attributes with the confidence in a chosen number times the part of the clusters that is seen.

    A cluster that cannot be told from noise is no evidence of how many there are.
    """
    sure, candidates = attributes.get(f"{of}_confidence_"), attributes.get(f"{of}_candidates_")
    if sure is None or candidates is None or not len(seen):
        return dict(attributes)
    part = float(np.mean(seen))
    less = np.vstack([candidates[:1] * [1.0, part], candidates[1:]])
    return dict(attributes) | {f"{of}_confidence_": part * sure, f"{of}_candidates_": less}


@dataclass(frozen=True)
class Chosen:
    """What was found: the search, the pieces, the group of each (-1: none), a centre for each group, and the choice."""

    found: Searched
    pieces: Pieces
    group: np.ndarray
    centres: Centres
    choice: Choice


def choice_asks(n_columns: int, shares: Any) -> list[Ask]:
    """Return the most that `choose_clusters` releases, with shares named root, axes, tails, tree, rounds and votes."""
    tree = rotated_tree_asks(n_columns, MOST, (shares.root, shares.axes, shares.tails, shares.tree))
    return [*tree, *pieces_asks(n_columns, shares.rounds, shares.votes)]


def choose_clusters(
    context: FitContext, grant: Grant, shares: Shares, rng: np.random.RandomState,
    asked: tuple[Any, Leaves] | None = None,
) -> Chosen:  # fmt: skip
    """Find clusters and their number with a grant and shares of it, named as in `choice_asks`.

    `asked` is the grant divided by the shares, and all records as one cell, if these are released already.
    """
    grants, seen = asked or (grant.split(shares), None)
    found = search_tree(context, grants, lambda frame, root: how_many(grant, frame, root), rng, alike=True, root=seen)
    rounds = grants.rounds if found.rotation is not None else grants.rounds.joined(grants.axes)
    pieces = find_pieces(found, rounds, grants.votes, rng)
    group, choice = choose_k(pieces, rng, levels_of(context, found))
    return Chosen(found, pieces, group, centres_of(pieces, group), choice)


@dataclass(frozen=True)
class Levels:
    """Columns of levels: their coordinates, and the axes that pieces are measured along (rows).

    Nothing lies between two levels, so that every level of a column would be a cluster. Levels make clusters where
    several columns go together: groups that differ in one column of levels alone are one.
    """

    parts: list[slice]
    axes: np.ndarray

    def joined(self, group: np.ndarray, pieces: Pieces) -> np.ndarray:
        """Return the groups of pieces after groups that differ in one column of levels alone are joined."""
        while True:
            known, squared = centres_of(pieces, group), np.square(self.axes)
            error = _errors_of(pieces, group) @ squared
            found = one_in_all_but(self.parts, known.at @ self.axes, error, known.variance @ squared, known.weight)
            if found.max() == group.max():
                return group
            group = np.where(group >= 0, found[group], -1)


def levels_of(context: FitContext, found: Searched) -> Levels | None:
    """Return the columns of levels, if there are some beside another column."""
    domain = context.domain
    if not isinstance(domain, Product) or not domain.levels or len(domain.parts) < 2:
        return None
    axes = np.eye(domain.n_columns) if found.rotation is None else found.rotation.axes
    return Levels([where for _, where, _ in domain.levels], axes)


def choose_k(pieces: Pieces, rng: np.random.RandomState, levels: Levels | None = None) -> tuple[np.ndarray, Choice]:
    """Return the group of each piece (-1: none), and how many there are, with candidates."""
    m = len(pieces.count)
    if m == 1:
        return np.zeros(1, dtype=int), Choice.of(1, np.array([1]), 1.0 if levels is None else UNSURE)
    evidence = pieces.evidence(rng)
    group = _grouped(evidence, pieces, levels)
    others = [_again(evidence, pieces, rng, levels) for _ in range(REDRAWS)]
    k = int(group.max()) + 1
    sizes = np.bincount(group[group >= 0], pieces.count[group >= 0])
    even = sizes.min() >= UNEVEN * sizes.mean()
    told = levels is None or k > 1  # beside levels, one cloud and many that overlap look alike
    choice = Choice.of(k, np.array([k, *others]), 1.0 if even and told else UNSURE)
    return group, choice.with_coarser(coarser_level(centres_of(pieces, group).at))


def _grouped(evidence: Evidence, pieces: Pieces, levels: Levels | None, doubt: float = 0.0) -> np.ndarray:
    """Return the group of each piece (-1: none)."""
    group = heavy(join(evidence, len(pieces.at), doubt), pieces.count)
    return group if levels is None else levels.joined(group, pieces)


def _again(evidence: Evidence, pieces: Pieces, rng: np.random.RandomState, levels: Levels | None) -> int:
    """Return the number of clusters with noise drawn once more, in another view."""
    at = pieces.at + pieces.at_sd * rng.standard_normal(pieces.at.shape) / 2**0.5
    width = widths(at, pieces.variance, pieces.count, evidence.ends)
    votes = evidence.votes + 2**0.5 * evidence.votes_sd * rng.standard_normal(len(evidence.votes))
    again = replace(evidence, votes=votes, width=width)
    return int(_grouped(again, replace(pieces, at=at), levels, VIEWS * rng.standard_normal()).max()) + 1


def heavy(group: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the groups without those that are too light, numbered anew; their pieces belong to none (-1)."""
    sizes = np.bincount(group, count)
    kept = np.flatnonzero(sizes >= LIGHT * sizes.mean())
    number = np.full(len(sizes), -1)
    number[kept] = np.arange(len(kept))
    return number[group]


def coarser_level(at: np.ndarray) -> int:
    """Return in how many groups clusters lie, if they do: before the largest jump in the distance of what is joined."""
    if len(at) < FEWEST_GROUPED:
        return 0
    height = linkage(at, "average")[:, 2]
    jumps = height[1:] / np.maximum(height[:-1], 1e-300)
    last = len(jumps) - 1 - int(jumps[::-1][: max(1, len(at) // 2 - 1)].argmax())  # groups of two or more, on average
    return len(at) - 1 - last if jumps[last] > JUMP else 0


def centres_of(pieces: Pieces, group: np.ndarray) -> Centres:
    """Return a centre for each group, with the moments of all its records."""
    which = np.flatnonzero(group >= 0)
    known = Centres(pieces.at, pieces.variance, pieces.count, np.square(pieces.at_sd).sum(axis=1))
    return joined(known, pieces.count, which, group[which])


def _errors_of(pieces: Pieces, group: np.ndarray) -> np.ndarray:
    """Return the squared errors of the means of groups, per column."""
    which = np.flatnonzero(group >= 0)
    weight = pieces.count[which] / np.bincount(group[which], pieces.count[which])[group[which]]
    part = np.zeros((int(group.max()) + 1, len(which)))
    part[group[which], np.arange(len(which))] = np.square(weight)
    return np.asarray(part @ np.square(pieces.at_sd[which]))
