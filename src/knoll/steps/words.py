"""Lloyd steps on directions: many words first, then fewer, then the clusters.

    words    public random directions, spread along the released axes as the records are
    round    release number and mean of the records nearest to each word; move each word towards that mean, as far as
             all words together show more than noise
    merge    after some rounds, weighted k-means of the words leaves fewer of them, in the end k

A record adds to one word only, so many words cost as much as few. What limits them is their noise (`how_many`).
Everything but the releases is post-processing.
"""

from dataclasses import dataclass

import numpy as np

from knoll.numeric.elbow import RATIO, elbow
from knoll.numeric.weighted import weighted_kmeans
from knoll.privacy import Ask, Grant
from knoll.queries import Frame, Nearest
from knoll.queries.sphere import lengthened
from knoll.steps.choose import Choice
from knoll.steps.directions import MOST_AXES, View
from knoll.steps.refine import UNKNOWN, averaged, expected
from knoll.steps.shapes import ShapeRequest, Shapes

# Squares are hardly needed: records of length one are as far from their mean as its length tells.
WORD = ShapeRequest("count and mean of directions", count=0.4, squares=0.1, bias=0.0)
# Settled on the corpora of benchmarks/topics and on made-up mixtures.
ROUNDS, MERGES = 8, (2, 3, 5)  # rounds, and those after which words are merged: k are left after the last
PER_WORD = 2.0  # records to a word, at least, in standard errors of a count
MOST, FEWEST, LARGEST = 6, 150, 4000  # words for each cluster; in all, if the noise allows; limit for the time
GROWTH = 1.2  # each round gets this many times the budget of the one before: it measures better words
ROOM = 1.25  # clip of squared displacements, over their mean
TIGHT = 0.8  # the same while words move: most displacements are cut to one length, which hardly turns their sum
CUT = 1.16  # times longer displacements are than this leaves of them, if their lengths differ by a fifth
NARROW = 0.05  # least part of a squared length one that is taken for the variance of a word's records
FIRST = 0.5  # expected length of the mean of a word's records, before anything is known
SHORTEST, LONGEST = 0.05, 0.98  # of such means
MANY = 200  # words up to which a merge leaves poor optima by breathing, which takes longer
FEWEST_PIECES, MOST_PIECES = 12, 320  # words in which clusters are looked for, if their number is not known
PER_PIECE = 4.0  # records to each of them, in standard errors of a count
BEND, FEW_BEND, SMALL = 0.12, 0.35, 3  # what an elbow bends, at least; at up to SMALL clusters, where clouds bend too
UNSEEN = 6  # if there is no elbow: one cluster for so many words
VIEWS = 1.15, 1.8  # ratios of other looks at the elbow
REDRAWS = 20  # repetitions: probabilities have steps of 1 / 21
LEFT_OUT = 0.3  # part of the words that a repetition leaves out: an elbow that a few words make is not one of clusters
FEWEST_LEFT = 6  # words of a look at the elbow
TOLD = 3.0  # standard errors of a count: words with fewer records lie anywhere, and look like one more cluster
MOST_LIGHT = 0.8  # part of the words that may be such: with more, all are looked at, and the number is in doubt
FAINT, UNSURE = 0.6, 0.6  # an elbow that bends less may be that of groups of clusters: the confidence is this part
LEAST_GAIN = 0.05  # of a round: words that seem to rest are still moved a little


@dataclass(frozen=True)
class Words:
    """Words, and what is known of them.

    Attributes
    ----------
    at : array of shape (m, q)
        Means of their records: shorter than one.
    count, doubt : arrays of shape (m,)
        Records of each, averaged over the rounds, and the variances of their noise.
    weight : array of shape (m,)
        Counts, shrunk as far as they are noise.
    noise : array of shape (m, q), optional
        Variances of the noise that the last round left in `at`.
    seen : Shapes, optional
        What the last round released.
    """

    at: np.ndarray
    count: np.ndarray
    doubt: np.ndarray
    weight: np.ndarray
    noise: np.ndarray | None = None
    seen: Shapes | None = None

    @classmethod
    def start(cls, at: np.ndarray, weight: np.ndarray) -> "Words":
        """Return words of which only the weights are known."""
        return cls(at, weight, np.full(len(at), UNKNOWN), weight)

    def kept(self, which: np.ndarray) -> "Words":
        """Return some of the words."""
        noise = None if self.noise is None else self.noise[which]
        return Words(self.at[which], self.count[which], self.doubt[which], self.weight[which], noise)

    def merged(self, k: int, rng: np.random.RandomState) -> "Words":
        """Return k words instead of these, by weighted k-means of their directions."""
        restarts = None if k <= MANY else 1
        at, labels = weighted_kmeans(lengthened(self.at), self.weight, k, rng, restarts=restarts)
        length = float(np.average(np.linalg.norm(self.at, axis=1), weights=self.weight))
        return Words.start(length * at, np.maximum(np.bincount(labels, self.weight, k), 1e-3))


def find_words(
    grant: Grant, frame: Frame, view: View, k: int, rng: np.random.RandomState, rounds: int = ROUNDS
) -> Words:
    """Spend a grant on rounds with words, fewer and fewer. Return k of them: the directions of clusters."""
    parts = grant.in_proportion(GROWTH ** np.arange(rounds))
    m = how_many(parts[0], frame, view.count, k)
    now = first_words(m, view, rng)
    for number, part in enumerate(parts):
        now = step(now, part, frame, view.variance)
        if number in MERGES:
            left = 1 - (1 + MERGES.index(number)) / len(MERGES)
            fewer = round(m**left * k ** (1 - left))
            now = now.merged(fewer, rng) if fewer < len(now.at) else now
    return now


def how_many(grant: Grant, frame: Frame, count: float, k: int) -> int:
    """Return with how many words to begin, for k clusters: as many as can be told from noise."""
    noise = WORD.noise(grant, frame) / WORD.count
    most = max(k, min(max(MOST * k, FEWEST), LARGEST))
    return int(np.clip(count / (PER_WORD * noise), min(2 * k, most), most))


def choose_words(grant: Grant, frame: Frame, view: View, rng: np.random.RandomState) -> tuple[Words, Choice]:
    """Return as many words as can be told apart, and in how many clusters they lie: where their elbow is.

    The confidence is how often the same comes out, within 5 %, with noise drawn once more, some words left out, and a
    closer or wider look.
    """
    noise = WORD.noise(grant.worth(grant.share / ROUNDS), frame) / WORD.count
    words = find_words(
        grant, frame, view, int(np.clip(view.count / (PER_PIECE * noise), FEWEST_PIECES, MOST_PIECES)), rng
    )
    light = words.count < TOLD * np.sqrt(words.doubt)
    crowd = light.mean() > MOST_LIGHT or (~light).sum() < FEWEST_LEFT
    told = words if crowd else words.kept(~light)
    k, bend = elbow_of(told.at, told.weight)
    drawn = [k, *(another_look(told, rng) for _ in range(REDRAWS))]
    sure = 0.0 if bend == 0.0 else UNSURE if crowd or bend < FAINT else 1.0
    return words, Choice.of(k, np.array(drawn), sure)


def another_look(words: Words, rng: np.random.RandomState) -> int:
    """Return the number of clusters with noise drawn once more, some words left out, and another view."""
    assert words.noise is not None
    kept = rng.permutation(len(words.at))[: max(FEWEST_LEFT, round((1 - LEFT_OUT) * len(words.at)))]
    at = words.at[kept] + np.sqrt(words.noise[kept] / 2) * rng.standard_normal((len(kept), words.at.shape[1]))
    return elbow_of(at, words.weight[kept], float(rng.uniform(*VIEWS)))[0]


def elbow_of(at: np.ndarray, weight: np.ndarray, ratio: float = RATIO) -> tuple[int, float]:
    """Return the number of clusters at the elbow, and how much it bends: 0 if none is clear."""
    numbers, bend = elbow(lengthened(at), weight, ratio)
    above = bend - np.where(numbers <= SMALL, FEW_BEND, BEND)
    best = int(above.argmax())
    return (int(numbers[best]), float(bend[best])) if above[best] > 0 else (max(1, len(at) // UNSEEN), 0.0)


def first_words(number: int, view: View, rng: np.random.RandomState) -> Words:
    """Return random directions of a Gaussian with the released variances."""
    at = lengthened(rng.standard_normal((number, len(view.variance))) * np.sqrt(view.variance))
    return Words.start(FIRST * at, np.full(number, view.count / number))


def step(now: Words, grant: Grant, frame: Frame, variance: np.ndarray) -> Words:
    """Release number and mean displacement of each word's records, and move the words."""
    towards = lengthened(now.at)
    seen = WORD.ask(grant, Nearest(towards, frame.domain), frame, now.at, *ellipsoids(now.at, variance, TIGHT))
    count, doubt = averaged(now.count, now.doubt, seen)
    weight = expected(count, doubt, len(now.at))
    n = np.maximum(weight, seen.count_sd / 2)[:, None]
    found, noise = now.at + CUT * seen.sums / n, np.square(CUT * seen.sums_sd / n)
    at, gain = moved(found, noise, towards)
    return Words(at, count, doubt, weight, gain * noise, seen)


def moved(found: np.ndarray, noise: np.ndarray, towards: np.ndarray) -> tuple[np.ndarray, float]:
    """Return means drawn to their directions before, and by how much: James and Stein's factor, one for all.

    Means of few records have more noise, and are farther from where they were expected. So one factor suits all.
    """
    length = float((found * towards / noise).sum() / max(float((np.square(towards) / noise).sum()), 1e-300))
    likely = np.clip(length, SHORTEST, LONGEST) * towards
    off = found - likely
    gain = max(LEAST_GAIN, 1.0 - 1.0 / max(float((np.square(off) / noise).mean()), 1e-12))
    at = likely + gain * off
    return at / np.maximum(np.linalg.norm(at, axis=1, keepdims=True) / LONGEST, 1.0), gain


def ellipsoids(at: np.ndarray, variance: np.ndarray, room: float = ROOM) -> tuple[np.ndarray, np.ndarray]:
    """Return column weights and radii of clips about means of directions that spread like `variance`.

    Records of length one and mean m have a mean squared distance of 1 - |m|^2 from it.
    """
    left = np.maximum(1.0 - np.square(at).sum(axis=1), NARROW)[:, None]
    s = np.sqrt(left * variance / variance.sum())
    s = np.maximum(s, 0.02 * s.max(axis=1, keepdims=True))
    return 1 / np.sqrt(s), np.sqrt(room * s.sum(axis=1))


def word_asks(n_columns: int, k: int, share: float, rounds: int = ROUNDS) -> list[Ask]:
    """Return the most that `find_words` releases."""
    most = max(k, min(max(MOST * k, FEWEST), LARGEST))
    first = share / float((GROWTH ** np.arange(rounds)).sum())
    return [WORD.plan(min(n_columns, MOST_AXES), most, rounds, share=first)]
