"""A private map of topics: clusters of texts, with words on them.

    vectors     a public encoder turns each text, by itself, into a vector
    topics      spherical k-means of the vectors (`SphericalKMeans`)
    words       release the words that many users write, with their counts: an open vocabulary, and a threshold that
                hides rare words (`knoll.privacy.discovery`); a given vocabulary is public and needs neither
    by topic    release how many users use each of these words in each topic
    lift        a topic's keywords are used there more than twice as often as elsewhere, sure of the noise
    groups      topics are joined by Ward's criterion on released centres

A user adds at most `words_per_unit` words to either release, whatever he writes (`knoll.queries.words`).
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll import progress
from knoll.cluster.found import Clusters
from knoll.cluster.spherical import SphericalKMeans
from knoll.columns.frames import frame_of
from knoll.estimator import FitContext, declared
from knoll.numeric.lift import lifts
from knoll.numeric.ward import ward
from knoll.parameters import MOST_CLUSTERS, Passes, Whole
from knoll.privacy import Ask, Budget, DataError, Grant, PrivacyError, Shares
from knoll.privacy.errors import brief
from knoll.queries import ChosenColumns, Nearest, OpenWords, WordsByTopic
from knoll.queries.sphere import lengthened
from knoll.texts import label_texts, prepare


@dataclass(frozen=True)
class TopicShares(Shares):
    """Shares of the budget; the last two were settled on made-up texts of 6, 11 and 18 words (docs/benchmarks.md)."""

    topics: float = 0.55
    words: float = 0.17
    by_topic: float = 0.28


SHARES = TopicShares()
HIDING = 0.1  # of delta: the threshold grows by a tenth if it is ten times less, and other noise hardly shrinks
MOST_CANDIDATES = 3000  # words that are counted by topic: more would be seldom used
ROOM = 1.3  # words that a unit adds by topic, over those that it holds on average
SURE = 1.75  # standard errors by which a keyword's count lies above a lift of two
"""Keywords are sure by so much."""


def _check_words(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, str) or not all(isinstance(word, str) and 0 < len(word) <= 60 for word in value):
        raise PrivacyError("vocabulary and stop_words are lists of words, of at most 60 characters each")


@declared
class TopicMap(SphericalKMeans):
    """Topics of texts, with sizes, keywords and groups, under differential privacy.

    Texts stay where they are: what is published are topics as directions of vectors, their sizes, and words that many
    users write, with counts by topic. A word that one user alone writes is hidden by a threshold, and its small chance
    to appear is part of `delta`.

    Parameters
    ----------
    n_clusters : int or None, default=20
        Number of topics.
    text : str, optional
        The column of texts, if X is a table or a file.
    encoder : callable, str or None
        What turns texts into vectors, each text by itself: a function from a list of texts to an array (or to sparse
        rows); the name of a sentence-transformers model that is on this machine; or None, which hashes words into
        sparse columns and needs no model. It is public: it must not have been made from these texts.
    vocabulary : list of str, optional
        Public words among which keywords are looked for. By default the vocabulary is open: words come from the texts,
        and rare ones are hidden; that needs ``delta > 0``.
    words_per_unit : int, default=10
        Words that one user (or record) adds at most. More words, more noise.
    stop_words : list of str, optional
        Words to leave out, beside common English ones.
    n_groups : int, optional
        Groups into which topics are joined; by default about the square root of the number of topics.
    {parameters}

    Attributes
    ----------
    words_ : list of str
        Released words.
    word_counts_, word_counts_stderr_ : array of shape (n_clusters, n_words), and float
        Released number of users (or records) that use a word in a topic, and its standard error.
    word_lifts_, word_lifts_stderr_ : arrays of shape (n_clusters, n_words)
        How much more often a word is used in a topic than in all, and its standard error.
    words_sure_ : array of shape (n_clusters, n_words)
        Standard errors by which a count lies above what a lift of two would give.
    groups_ : array of shape (n_clusters,)
        The group of each topic.
    column_weights_ : array of shape (n_features,)
        For sparse vectors: the weight of each column, 0 if it was not chosen. Else ones.
    {attributes}

    Notes
    -----
    {releases}

    Examples
    --------
    >>> import knoll
    >>> texts, _, customers = knoll.datasets.support_questions(20_000)
    >>> topics = knoll.TopicMap(10, epsilon=2.0, unit=knoll.User("customer", 2), random_state=0)
    >>> topics = topics.fit(texts, users=customers)
    >>> topics.n_clusters_, "parcel" in topics.words_
    (10, True)
    """

    n_clusters: int | None = 20
    _: KW_ONLY
    text: str | None = None
    encoder: Any = None
    vocabulary: Any = None
    words_per_unit: int = 10
    stop_words: Any = None
    n_groups: int | None = None

    _rules: ClassVar = {
        "words_per_unit": Whole(1000), "n_groups": Whole(MOST_CLUSTERS, none=True), "vocabulary": Passes(_check_words),
        "stop_words": Passes(_check_words),
    }  # fmt: skip
    _published: ClassVar = {
        **SphericalKMeans._published, "word_counts_": "kw", "word_counts_stderr_": "", "word_lifts_": "kw",
        "word_lifts_stderr_": "kw", "words_sure_": "kw", "groups_": "k",
    }  # fmt: skip
    _published_words: ClassVar = {"words_": "w"}
    words_: ClassVar[list[str]]

    def fit(self, X: Any, y: Any = None, *, vectors: Any = None, users: Any = None) -> Self:
        """Fit to texts, within the budget.

        Parameters
        ----------
        X : list of str, table, path or Source; or array
            Texts; or a table or file with a column of texts, named by `text`. An array of numbers is vectors without
            texts: topics have no words then.
        y : ignored
        vectors : array or sparse matrix of shape (n_texts, n_features), optional
            The vectors of the texts, if they are made already; row i must have been made from text i alone.
        users : sequence, optional
            The user of each text, if `unit` is a user and X a list.

        Returns
        -------
        self
        """
        self._check_parameters()
        with progress.shown(type(self).__name__, enabled=self.verbose):
            rows = prepare(self, X, vectors, users)
        return self._fit_to(rows)

    def _budget_for(self, n_columns: int) -> Budget:
        """Keep a part of delta back for the threshold, if words are looked for."""
        return Budget(self.epsilon, self.delta, HIDING if self._looks_for_words else 0.0)

    @property
    def _looks_for_words(self) -> bool:
        return getattr(self, "has_texts_", False) and not self.vocabulary

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        return self._with_words(super()._asks(n_columns))

    def _sparse_asks(self, n_columns: int) -> list[Ask]:
        return self._with_words(super()._sparse_asks(n_columns))

    def _with_words(self, asks: Sequence[Ask]) -> list[Ask]:
        if not getattr(self, "has_texts_", False):
            return list(asks)
        m, words = int(self.words_per_unit), len(self.vocabulary or ()) or MOST_CANDIDATES
        counted = Ask(m, words * (self._n_clusters() or 64), share=SHARES.by_topic)
        looked = [] if self.vocabulary else [Ask(m, m, share=SHARES.words)]
        return [*(ask.within(SHARES.topics) for ask in asks), *looked, counted]

    def _search(self, context: FitContext, k: int | None, rng: np.random.RandomState) -> Clusters:
        if not getattr(self, "has_texts_", False):
            found = super()._search(context, k, rng)
            more = self._words_of(found, _NOTHING)
            return replace(found, more={**found.more, **more}, each=(*found.each, *_EACH))
        grants = context.grant.split(SHARES)
        found = super()._search(replace(context, grant=grants.topics), k, rng)
        words, overall, noise = self._candidates(grants.words)
        cells = _cells(context, found)
        by_topic = grants.by_topic.joined(grants.words) if self.vocabulary else grants.by_topic
        counted = _NOTHING
        if words:
            released = by_topic.release(WordsByTopic(words, cells, self._most_words(overall, found)))
            counted = Counted(words, released.value, float(released.stderr.max()), overall, noise)
        more = self._words_of(found, counted)
        return replace(found, more={**found.more, **more}, each=(*found.each, *_EACH))

    def _most_words(self, overall: np.ndarray | None, found: Clusters) -> int:
        """Return how many of the candidates a unit adds at most: twice what it holds on average, as far as released.

        A unit adds its words of the first release at most, and few of them are among the candidates: a smaller cap cuts
        little and has less noise.
        """
        most = int(self.words_per_unit)
        if overall is None:
            return most
        held = float(overall.sum()) / max(float(np.maximum(found.means.counts, 0.0).sum()), 1.0)
        return int(np.clip(np.ceil(ROOM * held), 1, most))

    def _candidates(self, grant: Grant) -> tuple[list[str], np.ndarray | None, float]:
        """Return the words that are counted by topic: those given, or the most frequent of those that are shown."""
        if self.vocabulary:
            return sorted({word.casefold() for word in self.vocabulary}), None, 0.0
        shown = grant.discover(OpenWords(int(self.words_per_unit)))
        most = np.sort(np.argsort(-shown.value, kind="stable")[:MOST_CANDIDATES])
        noise = float(shown.stderr.max(initial=0.0))
        return [shown.names[j] for j in most], shown.value[most], noise

    def _words_of(self, found: Clusters, words: "Counted") -> dict[str, Any]:
        """Return what is published of words and groups."""
        counts = words.counts if len(words.words) else np.zeros((len(found.means.centres), 0))
        lift = lifts(counts, words.noise, words.overall, words.overall_noise)
        at, sizes = found.means.centres, np.maximum(found.means.counts, 1.0)
        k = len(at)
        groups = min(k, self.n_groups or max(1, round(k**0.5)))
        return {
            "words_": list(words.words), "word_counts_": counts, "word_counts_stderr_": words.noise,
            "word_lifts_": lift.lift, "word_lifts_stderr_": lift.stderr, "words_sure_": lift.sure,
            "groups_": ward(at, sizes, groups),
        }  # fmt: skip

    def keywords(self, topic: int, most: int = 10) -> list[tuple[str, float, float]]:
        """Return the words that set a topic apart: word, lift and its standard error, the surest first.

        Parameters
        ----------
        topic : int
            Number of the topic.
        most : int, default=10
            Words to return at most. Only those whose lift is above two, sure of the noise, are keywords; a topic that
            cannot be told from noise has none.

        Returns
        -------
        words : list of (str, float, float)
        """
        check_is_fitted(self)
        if not 0 <= topic < self.n_clusters_:
            raise DataError(f"topic={brief(topic)}: there are {self.n_clusters_}, numbered from 0")
        if not self.clusters_seen_[topic]:  # a topic that may be empty has no words either
            return []
        sure = self.words_sure_[topic]
        order = [j for j in np.argsort(-sure, kind="stable")[:most] if sure[j] > SURE]
        return [
            (self.words_[j], float(self.word_lifts_[topic, j]), float(self.word_lifts_stderr_[topic, j])) for j in order
        ]

    def summary(self, frame: str | None = "auto") -> Any:
        """Return a DataFrame with a row for each topic, the largest first: group, size with its error, share, keywords.

        Parameters
        ----------
        frame : {"auto", "pandas", "polars"} or None
            Library of the DataFrame; by default pandas. None gives a dict of lists.
        """
        check_is_fitted(self)
        order = np.argsort(-self.cluster_sizes_, kind="stable")
        total = max(float(self.cluster_sizes_.sum()), 1e-300)
        table = {
            "topic": order.tolist(),
            "group": self.__dict__["groups_"][order].tolist(),
            "size": self.cluster_sizes_[order].tolist(),
            "size ±": self.cluster_sizes_stderr_[order].tolist(),
            "share": (self.cluster_sizes_[order] / total).tolist(),
            "keywords": [", ".join(word for word, _, _ in self.keywords(int(i))) for i in order],
        }
        return frame_of(self, table, frame)

    def predict(self, X: Any) -> np.ndarray:
        """Return the topic of each text (or vector): that of the nearest released centre, by cosine.

        Parameters
        ----------
        X : as for `fit`
            Texts, a table or file with texts, or vectors.

        Returns
        -------
        labels : integer array of shape (n_texts,)
            -1 for a missing text, if ``missing="drop"``.
        """
        check_is_fitted(self)
        return label_texts(self, X, super().predict)

    def fit_predict(self, X: Any, y: Any = None, **given: Any) -> np.ndarray:
        """Fit on X, then return the topic of each text. Labels are not private: they describe records."""
        self.fit(X, **given)
        vectors = given.get("vectors")
        return self.predict(X if vectors is None else vectors)

    def _restore(self) -> None:
        super()._restore()
        self.__dict__["groups_"] = np.asarray(self.__dict__["groups_"]).astype(int)


@dataclass(frozen=True)
class Counted:
    """Released counts of words by topic, and before topics were looked at."""

    words: Sequence[str]
    counts: np.ndarray
    noise: float
    overall: np.ndarray | None
    overall_noise: float


_NOTHING = Counted((), np.zeros((0, 0)), 1.0, None, 0.0)
_EACH = ("word_counts_", "word_lifts_", "word_lifts_stderr_", "words_sure_", "groups_")


def _cells(context: FitContext, found: Clusters) -> Nearest:
    """Return the cells of released topics: those that `predict` uses."""
    weights, centres = found.more["column_weights_"], lengthened(found.means.centres)
    if not context.sparse:
        return Nearest(centres, context.domain)
    chosen = np.flatnonzero(weights)
    return Nearest(centres[:, chosen], ChosenColumns(len(weights), chosen, weights[chosen]))
