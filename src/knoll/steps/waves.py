"""Clusters from one release of waves along the released axes: where columns are many and the budget is small.

    axes     the principal axes that stand out of the noise                                        (axes.py)
    release  the sums of cosines and sines of random frequencies along these axes                  (FourierFeatures)
    explain  the round Gaussians that explain them best, with some spares if steps can merge them  (wave_mixture.py)

A tree divides its share among levels, and each level sees less of the records of a cell. Waves see all records at once:
a cluster of m records stands m times the noise of one count above it, however many axes there are.

What one record changes. For each frequency it adds a cosine and a sine, whose squares sum to one: `FourierFeatures`
bounds the norm of all of them together, wherever the record lies. Frequencies are drawn with public randomness and
scaled by released variances; axes, mean and count are released before. All else is post-processing. With Laplace noise
the l1 norm counts, which grows with the root of the number of waves: there the tree stays.
"""

from typing import Any

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.threads import one_thread
from knoll.numeric.wave_mixture import Waves, explain
from knoll.privacy import Ask, Grant
from knoll.queries import FourierFeatures, Frame
from knoll.steps.axes import MOST_ROTATED, ROTATE_FROM, rotates
from knoll.steps.centres import Centres
from knoll.steps.search import Searched, search_tree
from knoll.steps.shapes import unit_frame
from knoll.steps.tree import Leaves

WAVES = "waves"
# Settled on the tuned kinds of benchmarks/small/wide.py.
FREQUENCIES = 800  # more tell the waves of different clusters apart, but take longer; they cost no budget
LONGEST, SHORTEST = 0.7, 8.0  # frequencies, over the standard deviation of all records: clusters may be much narrower
COUNT = 0.02  # weight of the number of records, which is known already
MOST_WAVES = 40  # clusters: more were not tried
MOST_AXES = 6  # more tell more of the places, but clusters are harder to find among them
MOST_CLEAR = 60.0  # records of a cluster over the noise of one count, up to which waves show more than a tree


def may_use_waves(norm: int, frame: Frame, k: int) -> bool:
    """Whether noise, bounds and the number of clusters allow waves: what is known before a release."""
    return norm == 2 and rotates(frame) and 2 <= k <= MOST_WAVES


def wave_asks(n_columns: int, k: int, share: float) -> list[Ask]:
    """Return the most that the release of waves asks."""
    if not (ROTATE_FROM <= n_columns <= MOST_ROTATED and 2 <= k <= MOST_WAVES):
        return []
    probe = FourierFeatures(unit_frame(n_columns).domain, np.zeros((FREQUENCIES, n_columns)), COUNT)
    return [Ask.like(probe, share=share)]


def wave_reason(value: float) -> str:
    """Return in a sentence why waves were used; `value`: records of a cluster over the noise of one count."""
    clear = f"A cluster has about {value:.3g} times as many records as one count has noise"
    return f"{clear}, not above {MOST_CLEAR:g}, and columns are many: waves along the axes show more than a tree"


def search_waves(
    context: FitContext, grants: Any, root: Leaves, k: int, rng: np.random.RandomState
) -> tuple[Searched, Centres]:
    """Release the axes, and waves along them with the grants of tails and tree. Return the clusters along the axes."""
    found = search_tree(context, grants, k, rng, root=root, tree=False, most_axes=MOST_AXES)
    assert found.rotation is not None
    along = found.rotation.search(context)
    return found, wave_centres(grants.tails.joined(grants.tree), along, found.seed, k, rng)


def wave_centres(grant: Grant, frame: Frame, root: Leaves, k: int, rng: np.random.RandomState) -> Centres:
    """Release waves along axes, about the released mean, with all of a grant. Return the clusters that explain them."""
    mean, spread, n = root.mean[0], root.variance[0], float(root.count[0])
    query = FourierFeatures(frame.domain, drawn_frequencies(spread, rng), COUNT)
    released = grant.release(query)
    cosines, sines = released.value[1:].reshape(2, -1) / n
    phase = query.frequencies @ mean
    about = cosines * np.cos(phase) + sines * np.sin(phase), sines * np.cos(phase) - cosines * np.sin(phase)
    seen = Waves(query.frequencies, *about, np.full(FREQUENCIES, float(released.stderr[1]) / n), spread)
    with one_thread(loops=True):
        found = explain(seen, k, (root.lower[0] - mean, root.upper[0] - mean), rng)
    width = np.tile(found.width, (k, 1))
    return Centres(found.at + mean, width, found.part / found.part.sum() * n, np.zeros(k))


def drawn_frequencies(spread: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return random frequencies: any direction, and lengths for clusters as wide as all records down to narrow ones."""
    direction = rng.standard_normal((FREQUENCIES, len(spread)))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    length = np.exp(rng.uniform(np.log(LONGEST), np.log(SHORTEST), FREQUENCIES))
    return np.asarray(direction * (length / np.sqrt(np.median(spread)))[:, None])
