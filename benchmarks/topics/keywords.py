"""Keywords of topics: which part of the words that are shown have a true lift above two, and how many are shown.

    python -m benchmarks.topics.keywords [--runs 3]

Texts are the words of news and of questions to an assistant, vectors given; the true lift is that of the texts as
`predict` assigns them, without noise, counting each text once for a word.
"""

import argparse

import numpy as np
from scipy import sparse

import knoll
from benchmarks.topics.data import corpus

ROWS, TOPICS = 20_000, 20


def true_lifts(words: sparse.csr_array, labels: np.ndarray, k: int) -> np.ndarray:
    """Return the lift of each word in each topic, from the texts themselves: for judging only."""
    counts = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(k, len(labels))) @ words
    counts = counts.toarray()
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    return counts / np.maximum(expected, 1e-9)


def run(name: str, epsilon: float, seed: int) -> tuple[float, float, int, int]:
    """Return the part of shown words with a lift above two, words per topic, words released, and fewest a topic."""
    vectors, words, vocabulary = corpus(name)
    some = np.random.default_rng(0).permutation(len(vectors))[:ROWS]
    vectors, words = vectors[some], sparse.csr_array(words[some])
    names = np.array(vocabulary, dtype=object)
    texts = [" ".join(names[words.indices[words.indptr[i] : words.indptr[i + 1]]]) for i in range(len(some))]
    model = knoll.TopicMap(TOPICS, epsilon=epsilon, random_state=seed).fit(texts, vectors=vectors)
    lift = true_lifts(words, model.predict(vectors), model.n_clusters_)
    place = {word: j for j, word in enumerate(vocabulary)}
    shown = [[word for word, _, _ in model.keywords(i)] for i in range(model.n_clusters_)]
    right = [lift[i, place[word]] > 2 for i, each in enumerate(shown) for word in each if word in place]
    many = [len(each) for each in shown]
    return float(np.mean(right)) if right else 1.0, float(np.mean(many)), len(model.words_), min(many)


def main() -> None:
    """Print a row for each corpus and budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    print("| corpus | epsilon | lift above 2 | words a topic | released | fewest a topic |")
    print("|---|---|---|---|---|---|")
    for name in ("agnews", "clinc150"):
        for epsilon in (1.0, 4.0):
            found = np.array([run(name, epsilon, seed) for seed in range(runs)]).mean(axis=0)
            print(
                f"| {name} | {epsilon:g} | {found[0]:.1%} | {found[1]:.1f} | {found[2]:.0f} | {found[3]:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
