"""Topic maps: topics and words of texts, sparse rows without texts, and what must not come out."""

import json
import re
import sqlite3
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.privacy import DataError, PrivacyError
from knoll.source.encoders import each_alone, encoder_of
from knoll.testing import seeded_noise

pytestmark = pytest.mark.filterwarnings("ignore::knoll.DiagnosticWarning")


@pytest.fixture(scope="module")
def questions():
    return knoll.datasets.support_questions(12_000)


@pytest.fixture(scope="module")
def fitted(questions):
    texts, _, customers = questions
    with seeded_noise(0):
        model = knoll.TopicMap(10, epsilon=4.0, unit=knoll.User("customer", 2), random_state=0)
        return model.fit(texts, users=customers)


def test_topics_and_words_of_questions(questions, fitted):
    texts, topics, _ = questions
    assert adjusted_rand_score(topics, fitted.predict(texts)) > 0.5
    shown = [word for i in range(10) for word, _, _ in fitted.keywords(i, 3)]
    assert {"parcel", "refund", "invoice", "password"} <= set(shown)
    for i in range(10):
        for word, lift, error in fitted.keywords(i):
            assert word in fitted.words_
            assert lift > 2
            assert error >= 0
    assert [e.query for e in fitted.privacy_.releases][-2:] == ["words", "words by topic"]
    table = fitted.summary()
    assert list(table["size"]) == sorted(table["size"], reverse=True)
    assert len(set(fitted.groups_.tolist())) == 3


def test_the_statement_tells_the_threshold_and_keeps_within_the_budget(fitted):
    privacy = fitted.privacy_
    (words,) = [entry for entry in privacy.releases if entry.threshold]
    assert 0 < words.cost.delta <= 0.1 * privacy.delta
    assert privacy.spent_epsilon <= 4.0
    assert sum(entry.share for entry in privacy.releases) == pytest.approx(1.0)
    (counts,) = [entry for entry in privacy.releases if entry.query == "words by topic"]
    assert counts.sensitivity < 4096 * 10**0.5 * 1.001  # of ten words, not of ten words in each of two records


def test_what_one_customer_writes_is_not_in_anything_published(questions, tmp_path):
    """The attack: a secret in many texts of one customer, and in no other's."""
    texts, _, customers = questions
    secret = [f"zyxsecret{letter}" for letter in "abcdef"]
    poisoned = [*texts, *([" ".join(secret)] * 500)]
    ids = [*customers.tolist(), *([-1] * 500)]
    for seed in range(5):
        model = knoll.TopicMap(5, epsilon=8.0, unit=knoll.User("customer", 3), random_state=seed)
        model.fit(poisoned, users=ids)
        knoll.save(model, tmp_path / "model.json")
        model.report(tmp_path / "report.html")
        for file in ("model.json", "report.html"):
            assert "zyxsecret" not in (tmp_path / file).read_text()
        assert "zyxsecret" not in repr(vars(model))


def test_saved_and_loaded_the_same(questions, fitted, tmp_path):
    texts, _, _ = questions
    knoll.save(fitted, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert again.words_ == fitted.words_
    assert np.array_equal(again.predict(texts[:300]), fitted.predict(texts[:300]))
    assert again.keywords(0) == fitted.keywords(0)
    data = json.loads((tmp_path / "model.json").read_text())
    for words in (data["fitted"]["words_"][:-1], [*data["fitted"]["words_"][:-1], 5], "words"):
        bad = {**data, "fitted": {**data["fitted"], "words_": words}}
        (tmp_path / "bad.json").write_text(json.dumps(bad))
        with pytest.raises(DataError, match="damaged"):
            knoll.load(tmp_path / "bad.json")


def test_a_page_escapes_every_word(fitted, tmp_path):
    fitted.__dict__["words_"] = ["<script>alert(1)</script>", *fitted.words_[1:]]
    with seeded_noise(1):
        fitted.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert" not in page
    assert re.search(r"<h1>\d+ topics</h1>", page)
    assert fitted.plot() is not None


def test_frames_files_and_vectors(questions, tmp_path):
    texts, _, customers = questions
    frame = pd.DataFrame({"customer": customers, "message": texts})
    knoll.datasets.write_support_csv(tmp_path / "texts.csv", 12_000)
    frame.to_parquet(tmp_path / "texts.parquet")
    vectors = HashingVectorizer(n_features=64, alternate_sign=False).transform(texts)
    counts = []
    for data in (frame, tmp_path / "texts.csv", tmp_path / "texts.parquet"):
        with seeded_noise(3):
            model = knoll.TopicMap(4, text="message", unit=knoll.User("customer", 2), epsilon=4.0, random_state=0)
            found = model.fit(data).word_counts_
        counts.append(found)
    assert all(np.array_equal(each, counts[0]) for each in counts)
    dense = knoll.TopicMap(4, epsilon=4.0, random_state=0).fit(texts, vectors=vectors.toarray())
    assert dense.cluster_centers_.shape == (4, 64)
    assert (dense.column_weights_ == 1).all()
    assert len(dense.words_) > 10
    assert len(dense.fit_predict(texts, vectors=vectors)) == len(texts)


def test_csv_files_are_read_strictly_and_in_any_dialect(questions, tmp_path):
    """One record with an open quote would swallow others: it is refused, as in every other CSV file."""
    texts, _, customers = questions
    rows = [f"{customer};{text}" for customer, text in zip(customers[:3000], texts[:3000], strict=True)]
    fit = {"text": "message", "unit": knoll.User("customer", 2), "epsilon": 4.0, "random_state": 0}
    (tmp_path / "plain.csv").write_text("\n".join(["customer;message", *rows]))
    quoted = [f'{row.split(";")[0]};"{row.split(";")[1]}\nsent from afar"' for row in rows]
    (tmp_path / "breaks.csv").write_text("\n".join(["customer;message", *quoted]))
    (tmp_path / "open.csv").write_text("\n".join(["customer;message", *rows[:100], '7;"I am 6" tall', *rows[100:]]))
    assert knoll.TopicMap(4, **fit).fit(tmp_path / "plain.csv").words_
    assert knoll.TopicMap(4, **fit).fit(knoll.Source(tmp_path / "breaks.csv", line_breaks=True)).words_
    with pytest.raises(DataError, match="line_breaks=True"):
        knoll.TopicMap(4, **fit).fit(tmp_path / "breaks.csv")
    with pytest.raises(DataError, match="swallow others"):
        knoll.TopicMap(4, **fit).fit(tmp_path / "open.csv")


def test_texts_of_a_stream_and_of_a_database(questions, tmp_path):
    texts, _, customers = questions
    frame = pl.DataFrame({"customer": customers, "message": texts})
    with sqlite3.connect(tmp_path / "texts.db") as base:
        base.execute("CREATE TABLE texts (customer INTEGER, message TEXT)")
        base.executemany("INSERT INTO texts VALUES (?, ?)", frame.rows())
    counts = []
    for data in (frame, frame.lazy(), knoll.Table(f"sqlite:///{tmp_path}/texts.db", "texts")):
        model = knoll.TopicMap(4, text="message", unit=knoll.User("customer", 2), epsilon=4.0, random_state=0)
        with seeded_noise(3):
            counts.append(model.fit(data).word_counts_)
    assert all(np.array_equal(each, counts[0]) for each in counts)
    with pytest.raises(DataError, match="not texts"):
        knoll.TopicMap(4, text="customer").fit(frame.lazy())


def test_memory_grows_by_vectors_and_words_alone(tmp_path, monkeypatch):
    """Long texts in a file: what a fit holds grows by far less than what it reads."""
    monkeypatch.setattr("knoll.engines.texts._RECORD", 2**16)  # Arrow reads some blocks ahead

    def peak(n):
        place = tmp_path / f"{n}.csv"
        with open(place, "w", encoding="utf-8") as file:
            file.write("message\n")
            file.writelines(f"parcel number{i % 7} " + "4711 " * 800 + "\n" for i in range(n))
        model = knoll.TopicMap(2, text="message", encoder=lambda texts: np.ones((len(texts), 8)), random_state=0)
        tracemalloc.start()
        model.fit(place)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1000)  # what is loaded and compiled takes memory of its own
    assert peak(12_000) - peak(5000) < 7000 * 4000 / 4  # as texts, they would take 28 MB


def test_a_public_vocabulary_needs_no_threshold(questions):
    texts, _, _ = questions
    model = knoll.TopicMap(4, epsilon=4.0, delta=0.0, vocabulary=["Parcel", "refund", "unheard"], random_state=0)
    model.fit(texts)
    assert model.words_ == ["parcel", "refund", "unheard"]
    assert not any(entry.threshold for entry in model.privacy_.releases)
    assert sum(entry.share for entry in model.privacy_.releases) == pytest.approx(1.0)
    with pytest.raises(PrivacyError, match="vocabulary="):
        knoll.TopicMap(4, delta=0.0).fit(texts)


def test_missing_texts_and_bad_input(questions):
    texts, _, customers = questions
    gaps = [None, float("nan"), *texts]
    with pytest.raises(DataError, match="no text"):
        knoll.TopicMap(3).fit(gaps)
    model = knoll.TopicMap(3, missing="drop", random_state=0).fit(gaps)
    assert (model.predict(gaps)[:2] == -1).all()
    with pytest.raises(DataError, match="users=ids"):
        knoll.TopicMap(3, unit=knoll.User("customer", 2)).fit(texts)
    with pytest.raises(DataError, match="2 user ids"):
        knoll.TopicMap(3, unit=knoll.User("customer", 2)).fit(texts, users=[1, 2])
    with pytest.raises(DataError, match="column of texts"):
        knoll.TopicMap(3).fit(pd.DataFrame({"message": texts, "customer": customers}))
    with pytest.raises(DataError, match="no column 'body'"):
        knoll.TopicMap(3, text="body").fit(pd.DataFrame({"message": texts}))
    with pytest.raises(DataError, match="3 vectors"):
        knoll.TopicMap(3).fit(texts, vectors=np.eye(3))
    for bad in ({"words_per_unit": 0}, {"vocabulary": "words"}, {"stop_words": [1]}, {"n_groups": -1}):
        with pytest.raises(PrivacyError):
            knoll.TopicMap(3, **bad).fit(texts)


def test_a_huge_text_is_one_record(questions):
    texts, _, _ = questions
    huge = "parcel " * 1_500_000 + "hidden"
    with seeded_noise(0):
        with_it = knoll.TopicMap(4, random_state=0).fit([*texts, huge])
    assert np.isfinite(with_it.word_counts_).all()


def test_encoders_act_on_each_text_alone():
    texts = ["one two", "three", "four five six"]
    assert sparse.issparse(each_alone(encoder_of(None, None))(texts))
    with pytest.raises(PrivacyError, match="each text alone"):
        each_alone(TfidfVectorizer().fit_transform)
    with pytest.raises(PrivacyError, match="each text alone"):  # centred: the same width, other vectors
        each_alone(lambda batch: (v := np.array([[len(t), 1.0] for t in batch])) - v.mean(axis=0))
    with pytest.warns(UserWarning, match="one by one"):
        found = each_alone(lambda batch: np.array([[len(t) + 1e-9 * len(batch)] for t in batch]))(texts)
    assert found.ravel().tolist() == [len(t) + 1e-9 for t in texts]
    with pytest.raises(DataError, match="needs a row"):
        each_alone(lambda batch: np.ones((len(batch) + 1, 2)))
    with pytest.raises(PrivacyError, match="neither a function"):
        encoder_of(7, None)
    with pytest.raises(PrivacyError, match="sentence-transformers|not on this machine"):
        encoder_of("no-such-model", None)


def test_the_command_writes_everything(tmp_path):
    knoll.datasets.write_support_csv(tmp_path / "texts.csv", 4000)
    out = tmp_path / "out"
    asked = ["topics", str(tmp_path / "texts.csv"), "--text", "message", "--user", "customer", "--cap", "2", "--k", "5"]
    result = CliRunner().invoke(app, [*asked, "--epsilon", "4", "--seed", "0", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert {file.name for file in out.iterdir()} == {
        "model.json", "topics.csv", "keywords.csv", "topics.png", "report.html"
    }  # fmt: skip
    assert "words were released" in re.sub(r"\s+", " ", result.output)


def test_a_clusterer_stands_in_bertopics_place(questions):
    """The guide's adapter, called as BERTopic 0.17 calls it: fit(vectors, y=None), then labels_; later predict."""
    page = (Path(__file__).parents[2] / "docs/guides/topics.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(class Labelled:.*?)```", page, flags=re.DOTALL)
    found = {}
    exec(block, found)
    texts, topics, _ = questions
    vectors = HashingVectorizer(n_features=128, alternate_sign=False, stop_words="english").transform(texts).toarray()
    clusterer = knoll.SphericalKMeans(10, epsilon=8.0, random_state=0)
    with seeded_noise(0):
        held = found["Labelled"](clusterer)
        held.fit(vectors, y=None)
    assert adjusted_rand_score(topics, held.labels_) > 0.3
    assert np.array_equal(held.predict(vectors[:50]), held.labels_[:50])
    assert not hasattr(clusterer, "labels_")  # the model itself, which may be published, keeps nothing


def tagged(n=6000, d=300, groups=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, groups, n)
    often = np.full((groups, d), 0.02)
    for group in range(groups):
        often[group, 20 * group : 20 * group + 20] = 0.3
    return sparse.csr_array((rng.random((n, d)) < often[y]).astype(float)), y


def test_sparse_rows_are_clustered_without_being_made_dense():
    X, y = tagged()
    with seeded_noise(0):
        model = knoll.SphericalKMeans(3, epsilon=2.0, random_state=0).fit(X)
    labels = model.predict(X)
    assert adjusted_rand_score(y, labels) > 0.9
    assert np.array_equal(labels, model.predict(X.toarray()))  # dense rows under the same model
    assert np.array_equal(model.transform(X).argmin(axis=1), labels)
    assert model.cluster_centers_.shape == (3, 300)
    assert (model.cluster_centers_[:, model.column_weights_ == 0] == 0).all()
    csc = knoll.SphericalKMeans(3, epsilon=2.0, random_state=0)
    with seeded_noise(0):
        assert np.array_equal(csc.fit(sparse.csc_matrix(X)).cluster_centers_, model.cluster_centers_)
    with pytest.raises(DataError, match="299 columns"):
        model.predict(X[:, 1:])


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_sparse_rows_of_few_columns(d, delta):
    X = sparse.csr_array((np.random.default_rng(d).random((500, d)) < 0.5).astype(float))
    for k in (1, 3, None):
        model = knoll.SphericalKMeans(k, delta=delta, random_state=0).fit(X)
        assert np.isfinite(model.cluster_centers_).all()
        assert model.privacy_.spent_epsilon <= 1.0


def test_the_number_of_sparse_clusters_can_be_chosen():
    X, _ = tagged(20_000)
    with seeded_noise(0):
        model = knoll.SphericalKMeans(None, epsilon=8.0, random_state=0).fit(X)
    assert 2 <= model.n_clusters_ <= 12


def test_one_estimator_fits_texts_and_then_vectors(questions):
    texts, _, _ = questions
    model = knoll.TopicMap(3, random_state=0).fit(texts)
    assert model.words_
    assert model.fit(np.random.default_rng(0).normal(size=(2000, 4))).words_ == []
    assert not any(entry.threshold for entry in model.privacy_.releases)
    assert model.privacy_.spent_epsilon == pytest.approx(1.0, rel=5e-4)
