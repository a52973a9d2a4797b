"""Modes: the released sum is the kernel sum, its noise is as told, and what is found is there."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.plots import plot_mode_tree, plot_modes, plot_regression, plot_surface
from knoll.privacy import PrivacyError
from knoll.queries import Box, KernelSteps
from knoll.queries.kernel_steps import joint_covariance
from knoll.reference import nonprivate_mean_shift, nonprivate_partial_mean_shift
from knoll.series.chance import significance_threshold
from knoll.series.conditional import row_peaks
from knoll.series.persistence import mesh_peaks
from knoll.testing import seeded_noise, zero_noise

CORNERS = np.array([[3, 3], [3, -3], [-3, 3], [-3, -3]], dtype=float)


def corners(n, seed=0):
    rng = np.random.default_rng(seed)
    return CORNERS[rng.integers(4, size=n)] + rng.normal(size=(n, 2))


def all_found(modes, truth, within=0.6):
    gaps = np.linalg.norm(truth[:, None] - modes, axis=2)
    return len(modes) == len(truth) and (gaps.min(axis=1) < within).all()


@pytest.mark.parametrize(("d", "tolerance"), [(1, 0.004), (2, 0.006), (3, 0.01), (5, 0.12)])
def test_without_noise_it_is_the_kernel_sum(d, tolerance):
    X = np.random.default_rng(0).normal(size=(600, d))
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(40, d))
    h = 0.8
    with zero_noise():
        model = knoll.KernelDensity(h, bounds=(-5, 5), scale_by_bounds=False, n_frequencies=4096, random_state=0).fit(X)
    gaps = points[:, None] - X
    kernel = np.exp(-np.square(gaps / h).sum(axis=2) / 2)
    series = model.series_
    largest = kernel.sum(axis=1).max()
    assert series.value(points) == pytest.approx(kernel.sum(axis=1), abs=tolerance * largest)
    slopes = -(gaps / h**2 * kernel[..., None]).sum(axis=1)
    assert series.gradient(points) == pytest.approx(slopes, abs=3 * tolerance * largest)
    assert model.density(points) == pytest.approx(kernel.mean(axis=1) / (2 * np.pi * h**2) ** (d / 2), rel=0.3)


@pytest.mark.parametrize(("d", "delta"), [(1, 1e-6), (2, 1e-6), (5, 1e-6), (1, 0.0), (2, 0.0)])
def test_noise_is_as_told(d, delta):
    X = np.random.default_rng(0).normal(size=(300, d))
    points = np.zeros((1, d))
    settings = {"bandwidth": 0.2, "bounds": (-3, 3), "delta": delta, "n_frequencies": 512, "random_state": 0}
    with zero_noise():
        exact = knoll.KernelDensity(**settings).fit(X).series_.value(points)
    scores = []
    for seed in range(60):
        with seeded_noise(seed):
            series = knoll.KernelDensity(**settings).fit(X).series_
        scores.append((series.value(points) - exact)[0] / series.noise)
    # 60 draws: a false alarm is as rare as a normal beyond 5, a wrong factor of 1.7 is seen
    assert 0.6 < np.std(scores) < 1.5
    assert abs(np.mean(scores)) < 5 / 60**0.5


def test_one_release_holds_every_bandwidth():
    X = corners(2000)
    with zero_noise():
        ladder = knoll.ModeSeeking(bounds=(-10, 10)).fit(X)
        single = knoll.ModeSeeking(bandwidth=0.1, bounds=(-10, 10)).fit(X)
    points = np.random.default_rng(0).uniform(-5, 5, size=(30, 2))
    seen = ladder.series_.at(single.bandwidth_)
    assert seen.value(points) == pytest.approx(single.series_.value(points), abs=2.0)
    assert len(ladder.rungs_) > 4


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("bandwidth", ["ladder", "private", 0.12])
def test_finds_the_modes(bandwidth, delta):
    model = knoll.ModeSeeking(bandwidth=bandwidth, epsilon=2.0, delta=delta, bounds=(-10, 10), random_state=0)
    model.fit(corners(5000))
    assert all_found(model.modes_, CORNERS)
    assert (model.mode_significance_ > model.threshold_).all()
    assert (np.abs(model.modes_stderr_) < 0.5).all()
    labels = model.predict(CORNERS)
    assert sorted(labels) == [0, 1, 2, 3]


def test_step_by_step_finds_them_too():
    model = knoll.ModeSeeking(4, epsilon=4.0, bandwidth=0.12, release="each-step", bounds=(-10, 10), random_state=0)
    model.fit(corners(5000))
    assert all_found(model.modes_, CORNERS, within=1.0)
    assert len(set(model.predict(CORNERS))) == 4
    with pytest.raises(ValueError, match="no density"):
        model.density([[0.0, 0.0]])


def test_mini_batches_find_them_and_are_one_entry():
    settings = {"epsilon": 4.0, "bandwidth": 0.12, "bounds": (-10, 10), "random_state": 0}
    model = knoll.ModeSeeking(4, release="each-step", mini_batches=True, **settings).fit(corners(40_000))
    assert all_found(model.modes_, CORNERS, within=1.0)
    assert len(model.privacy_.releases) == 2
    assert "11 disjoint parts" in model.privacy_.releases[1].query
    with pytest.raises(PrivacyError, match="mini_batches"):
        knoll.ModeSeeking(mini_batches=3, **settings).fit(corners(100))


def test_a_given_number_of_modes_is_given():
    X = corners(5000)
    for n in (1, 2, 4, 6):
        assert knoll.ModeSeeking(n, epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X).n_modes_ == n
    four = knoll.ModeSeeking(4, epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X)
    assert all_found(four.modes_, CORNERS)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_even_data_has_no_mode(d):
    """Each fit shows a false mode with chance 0.1: seven in twelve has odds of one in twenty thousand."""
    rng = np.random.default_rng(0)
    runs = {1: 12, 2: 12, 3: 3}[d]
    fits = (knoll.ModeSeeking(bounds=(-1, 1), random_state=0).fit(rng.uniform(-1, 1, (2000, d))) for _ in range(runs))
    assert sum(fit.n_modes_ > 0 for fit in fits) < max(3, 0.55 * runs)


def test_odd_data():
    point = knoll.ModeSeeking(bounds=(-1, 1), random_state=0).fit(np.full((2000, 2), 0.3))
    assert point.n_modes_ == 1
    assert point.modes_[0] == pytest.approx([0.3, 0.3], abs=0.02)
    edge = knoll.ModeSeeking(bounds=(-1, 1), random_state=0).fit(np.full((2000, 2), 9.0))
    assert edge.modes_[0] == pytest.approx([1.0, 1.0], abs=0.05)
    heavy = np.random.default_rng(0).standard_cauchy(size=(5000, 1))
    found = knoll.ModeSeeking(bounds=(-30, 30), random_state=0).fit(heavy)
    assert np.abs(found.modes_).min() < 0.5


def test_basins_follow_the_density():
    X = corners(5000)
    model = knoll.ModeSeeking(epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X)
    labels = model.basins(X)
    nearest = np.linalg.norm(X[:, None] - model.modes_, axis=2).argmin(axis=1)
    assert (labels == nearest).mean() > 0.97


def test_peaks_and_passes_of_a_known_profile():
    values = np.array([0.0, 5.0, 1.0, 3.0, 2.0, 9.0, 0.0, 4.0])
    peaks, basin = mesh_peaks(values, [np.arange(8.0)])
    assert peaks.points[:, 0].tolist() == [5.0, 1.0, 7.0, 3.0]
    assert peaks.pass_heights.tolist() == [-np.inf, 1.0, 0.0, 2.0]
    assert basin.tolist() == [1, 1, 1, 3, 0, 0, 0, 2]
    keep = np.array([True, True, False, False])
    assert peaks.survivors(keep).tolist() == [0, 1, 0, 0]


def test_density_samples_and_scores():
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    model = knoll.KernelDensity(epsilon=2.0, bounds=(-5, 5), random_state=0).fit(X)
    sample = model.sample(4000, random_state=0)
    assert kstest(sample[:, 0], "norm").statistic < 0.05
    assert model.score_samples([[0.0]])[0] > model.score_samples([[2.0]])[0]
    assert np.isfinite(model.score_samples([[4.9]])).all()
    wide = knoll.KernelDensity(epsilon=2.0, bounds=(-5, 5), random_state=0).fit(np.hstack([X] * 4))
    assert wide.sample(50, random_state=0).shape == (50, 4)


def branches(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, np.sin(3 * x[:, 0]) + rng.choice([0.0, 2.0], size=n) + 0.15 * rng.normal(size=n)


def test_modal_regression_follows_both_branches():
    x, y = branches(20_000)
    model = knoll.ModalRegression(epsilon=2.0, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
    at = np.linspace(0.1, 0.9, 9)[:, None]
    for found, truth in zip(model.predict_modes(at), np.sin(3 * at[:, 0]), strict=True):
        assert found == pytest.approx([truth, truth + 2], abs=0.15)
    best = model.predict(at) - np.sin(3 * at[:, 0])
    assert np.minimum(np.abs(best), np.abs(best - 2)).max() < 0.15
    ours = model.ascend(x[:200], y[:200])
    theirs = nonprivate_partial_mean_shift(x, y, x[:200], y[:200], model.bandwidth_)
    assert np.median((ours - theirs) ** 2) < 1e-3
    inside = [any(low <= value <= high for low, high in sets) for sets, value in
              zip(model.predict_interval(x[:500], 0.9), y[:500], strict=True)]  # fmt: skip
    assert np.mean(inside) > 0.85


def test_so_many_steps_are_those_of_partial_mean_shift():
    x, y = branches(3000)
    with zero_noise():
        model = knoll.ModalRegression((0.1, 0.3), epsilon=10.0, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
    for steps in (0, 1, 8):
        theirs = nonprivate_partial_mean_shift(x, y, x[:200], y[:200], (0.1, 0.3), steps=steps, tolerance=0.0)
        for restore in (False, True):
            assert model.ascend(x[:200], y[:200], steps, restore=restore) == pytest.approx(theirs, abs=0.03)
    with pytest.raises(PrivacyError, match="steps"):
        model.ascend(x[:5], y[:5], steps=-1)


def test_a_restored_sum_is_nearer_to_the_records():
    x, y = branches(1000)
    with seeded_noise(0):
        model = knoll.ModalRegression((0.1, 0.3), epsilon=0.5, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
    series, known = model.series_, model.series_.stderr > 0
    exact = series.lattice.basis(0, x[:, 0]).T @ series.lattice.basis(1, y)
    far, near = (
        np.square((found.totals - exact)[known] / series.stderr[known]).sum() for found in (series, model.restored_)
    )
    assert near < 0.7 * far


def test_steps_on_a_restored_sum_end_nearer_to_those_on_the_records(monkeypatch):
    x, y = branches(1000)
    target = nonprivate_partial_mean_shift(x, y, x, y, (0.1, 0.3), steps=7, tolerance=0.0)
    errors = []
    for seed in range(6):
        with seeded_noise(seed):
            model = knoll.ModalRegression((0.1, 0.3), epsilon=0.2, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
        ends = [model.ascend(x, y, 7), model.ascend(x, y, 7, restore=True)]
        del model.restored_
        with monkeypatch.context() as patch:
            patch.setattr("knoll.series.restore.PASSES", 1)
            ends.append(model.ascend(x, y, 7, restore=True))
        errors.append([np.mean((end - target) ** 2) for end in ends])
    released, restored, without_powers = np.mean(errors, axis=0)
    assert restored < 0.7 * released
    assert restored < without_powers


def test_modal_regression_buys_the_slope_along_the_response():
    x, y = branches(100)
    settings = {"epsilon": 1.0, "bounds": ([0, -2], [1, 5]), "random_state": 0}
    slope = knoll.ModalRegression((0.1, 0.3), **settings).fit(x, y).series_
    level = knoll.KernelDensity((0.1, 0.3), **settings).fit(np.column_stack([x, y])).series_
    assert slope.gradient_noise[1] < 0.84 * level.gradient_noise[1]
    assert level.noise < slope.noise < 1.3 * level.noise


def smooth_noise(sides, runs, seed=0, per=6):
    """Gaussian fields of unit variance whose correlation falls off as exp(-r^2 / 2), on meshes of `per` to a length."""
    rng = np.random.default_rng(seed)
    cells = [int(side * per) + 1 for side in sides]
    sizes = [n + 6 * per for n in cells]
    square = sum(np.meshgrid(*((2 * np.pi * np.fft.fftfreq(n, 1 / per)) ** 2 for n in sizes), indexing="ij"))
    waves = np.fft.fftn(rng.normal(size=(runs, *sizes)), axes=range(1, 1 + len(sides))) * np.exp(-square / 4)
    fields = np.fft.ifftn(waves, axes=range(1, 1 + len(sides))).real
    return (fields / fields.std())[(slice(None), *(slice(0, n) for n in cells))]


@pytest.mark.parametrize("sides", [(40.0,), (12.0, 12.0), (4.0, 4.0, 4.0)])
def test_noise_exceeds_its_level_with_the_chance_that_is_said(sides):
    fields = smooth_noise(sides, 300, per=6 if len(sides) < 3 else 3).reshape(300, -1)
    assert 0.04 < (fields.max(axis=1) > significance_threshold(0.1, np.array(sides))).mean() < 0.14


def test_noise_along_a_line_rises_over_its_passes_no_more_often_than_said():
    fields = smooth_noise((150.0,), 400)
    row, column, low, where = row_peaks(fields)
    met = np.isfinite(low)
    alike = np.exp(-(((column - where)[met] / 6) ** 2) / 2)
    sure = (fields[row, column][met] - low[met]) / np.sqrt(2 * (1 - alike))
    most = np.zeros(400)
    np.maximum.at(most, row[met], sure)
    assert 0.03 < (most > significance_threshold(0.1, np.array([150.0]), line=150.0)).mean() < 0.14
    assert (most > significance_threshold(0.1, np.array([150.0]))).mean() > 0.3  # if tops alone were counted


def test_featureless_data_shows_no_more_modes_than_said():
    rng = np.random.default_rng(0)
    shown = 0
    for run in range(40):
        with seeded_noise(run):
            model = knoll.ModeSeeking(epsilon=0.2, chance=0.2, bounds=(-1, 1), random_state=0)
            shown += model.fit(rng.uniform(-1, 1, size=(3000, 1))).n_modes_ > 0
    assert shown <= 10


def test_the_ends_of_the_response_make_no_curve():
    table = np.random.default_rng(0).uniform(-1, 1, size=(50_000, 2))
    with seeded_noise(0):
        model = knoll.ModalRegression(0.1, epsilon=5.0, bounds=(-1, 1), random_state=0).fit(table)
    assert not len(model.curves(100).y)


def test_no_curve_is_drawn_in_noise():
    x, y = branches(200)
    model = knoll.ModalRegression(epsilon=0.05, bounds=([0, -2], [1, 5]), random_state=0)
    drawn = [len(model.fit(x, y).curves(50).y) for _ in range(7)]  # with some chance noise looks like a curve
    assert np.median(drawn) < 10
    assert np.isfinite(model.predict(x)).all()


def test_several_predictors_and_frames():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(8000, 2))
    y = x[:, 0] + x[:, 1] + 0.1 * rng.normal(size=8000)
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    bounds = {"a": (0, 1), "b": (0, 1), "y": (-1, 3)}
    model = knoll.ModalRegression(epsilon=2.0, bounds=bounds, random_state=0).fit(table, pd.Series(y, name="y"))
    assert model.predict(table[:50]) == pytest.approx(x[:50].sum(axis=1), abs=0.4)
    deep = knoll.ModalRegression(0.3, epsilon=4.0, bounds=(0, 2), n_frequencies=512, random_state=0)
    deep.fit(np.hstack([x, x]), y)
    assert np.isfinite(deep.predict(np.hstack([x, x])[:20])).all()


def test_clusters_of_few_and_many_columns():
    X, y = make_blobs(6000, 2, centers=[[-6, 0], [6, 0], [0, 8]], random_state=0)
    for labels in ("basin", "nearest"):
        model = knoll.ModeClustering(epsilon=2.0, bounds=(-12, 14), labels=labels, random_state=0)
        assert adjusted_rand_score(y, model.fit_predict(X)) > 0.95
        assert model.n_clusters_ == 3
        assert model.cluster_sizes_ == pytest.approx([2000] * 3, rel=0.15)
    X, y = make_blobs(20_000, 8, centers=5, random_state=1)
    model = knoll.ModeClustering(5, epsilon=4.0, bounds=(-15, 15), random_state=0)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9
    assert len(model.local_modes_) >= 5


@pytest.mark.parametrize(("n", "share"), [(100, 0.3), (20_000, 0.12)])
def test_where_clusters_are_faint_the_axes_get_more(n, share):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 16))
    model = knoll.ModeClustering(4, epsilon=0.5, bounds=(-1, 1), random_state=0).fit(X)
    spent = {release.query: release.share for release in model.privacy_.releases}
    assert spent["scatter matrix"] == pytest.approx(0.98 * share)


def test_steps_without_noise_are_kernel_sums_and_gradients():
    X, points, h = corners(400), CORNERS + 0.5, np.array([1.2, 0.9])
    query = KernelSteps(Box((-10.0, -10.0), (10.0, 10.0)), points, h)
    found = query.unwhiten @ (query.summarise(X) * query.step)
    gaps = (query.points[:, None] - X) / h
    kernel = np.exp(-np.square(gaps).sum(axis=2) / 2)
    assert found[:4] == pytest.approx(kernel.sum(axis=1), abs=1.0)
    assert found[4:8] == pytest.approx(-(gaps[..., 0] * kernel).sum(axis=1), abs=1.0)


def test_a_record_has_mahalanobis_norm_of_at_most_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, 2)) * 2
    covariance = joint_covariance(points)
    for record in rng.normal(size=(50, 2)) * 3:
        gap = points - record
        kernel = np.exp(-np.square(gap).sum(axis=1) / 2)
        both = np.concatenate([kernel, *(-(gap * kernel[:, None]).T)])
        assert both @ np.linalg.solve(covariance, both) <= 1 + 1e-6


def test_references_agree_with_the_released_sum():
    X = corners(2000)
    ends = nonprivate_mean_shift(X, CORNERS + 0.7, 1.2)
    with zero_noise():
        model = knoll.ModeSeeking(4, bandwidth=1.2, scale_by_bounds=False, bounds=(-10, 10)).fit(X)
    gaps = np.linalg.norm(ends[:, None] - model.modes_, axis=2)
    assert gaps.min(axis=1).max() < 0.02


@pytest.mark.parametrize(
    "bad",
    [{"bandwidth": 0}, {"bandwidth": -1.0}, {"bandwidth": "auto"}, {"bandwidth": [1.0, 1.0, 1.0]}, {"bandwidth": 1e9},
     {"bandwidth": None}, {"n_modes": 0}, {"n_modes": 1.5}, {"release": "never"}, {"chance": 0}, {"chance": 2},
     {"n_frequencies": 0}, {"n_frequencies": "many"}],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused_before_anything_is_spent(bad):
    from knoll.privacy import MemoryLedger

    ledger = MemoryLedger("d")
    with pytest.raises(ValueError, match=r"\w"):
        knoll.ModeSeeking(bounds=(-10, 10), ledger=ledger, **bad).fit(corners(100)) if "n_modes" not in bad else (
            knoll.ModeSeeking(bad["n_modes"], bounds=(-10, 10), ledger=ledger).fit(corners(100))
        )
    assert ledger.lines == []


def test_models_without_modes_can_be_saved(tmp_path):
    model = knoll.ModeSeeking(epsilon=0.01, bounds=(-10, 10), chance=1e-7, random_state=0).fit(corners(50))
    assert model.n_modes_ == 0
    knoll.save(model, tmp_path / "m.json")
    again = knoll.load(tmp_path / "m.json")
    assert again.modes_.shape == (0, 2)
    assert again.density([[1.0, 2.0]]) == pytest.approx(model.density([[1.0, 2.0]]), rel=1e-12)
    assert (again.predict(corners(5)) == -1).all()


def test_pictures_and_commands(tmp_path):
    X = corners(3000)
    model = knoll.ModeSeeking(epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X)
    for draw in (plot_modes, plot_surface, plot_mode_tree):
        draw(model).savefig(tmp_path / "p.png")
    plot_modes(knoll.ModeSeeking(bounds=(-10, 10), random_state=0).fit(X[:, :1])).savefig(tmp_path / "p.png")
    plot_regression(knoll.ModalRegression(0.1, bounds=(-10, 10), random_state=0).fit(X)).savefig(tmp_path / "p.png")
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "x.csv", index=False)
    for command, files in (("modes", ("modes.csv", "modes.png")), ("regress", ("curves.csv", "curves.png"))):
        out = tmp_path / command
        result = CliRunner().invoke(app, [command, str(tmp_path / "x.csv"), "--bounds", "-10:10", "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert all((out / name).stat().st_size > 0 for name in (*files, "model.json"))
        assert "epsilon = 1" in result.output
