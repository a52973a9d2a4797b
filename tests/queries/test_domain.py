import numpy as np
import pytest

from knoll.privacy.errors import BoundsError
from knoll.queries import (
    Ball,
    Box,
    CellShapes,
    ColumnHistograms,
    FourierFeatures,
    FourierGrid,
    Frame,
    Gaussians,
    KernelSteps,
    Lattice,
    Nearest,
    Projected,
    ScatterMatrix,
    SplitTree,
    TwoLevel,
    domain_from,
)
from knoll.queries.query import UNIT


@pytest.mark.parametrize(
    "bad",
    [
        {"a": (0, 1)}, {"a": (0, 1), "b": (0, 1), "c": (0, 1)}, {"a": (0, 1), "b": 3}, (1, 0), (0, 0),
        (0, float("nan")),
        (float("-inf"), 0), ("a", "b"), 5, (0, 1, 2), ([0, 0, 0], 1), (1, 1 + 1e-15), (0, 1e200), Box((0,), (1,)),
    ],
    ids=str,
)  # fmt: skip
def test_bad_bounds_are_refused(bad):
    with pytest.raises(BoundsError):
        domain_from(bad, 2, ["a", "b"])


def test_bad_balls_are_refused():
    for radius, middle in (
        (0.0, (0.0,)),
        (-1.0, (0.0,)),
        (float("nan"), (0.0,)),
        (1.0, ("x",)),
        (1.0, (float("inf"),)),
    ):
        with pytest.raises(BoundsError):
            Ball(radius, middle)


@pytest.mark.parametrize(
    ("lower", "upper"), [(-1e80, 1e80), (-1e100, 1e100), (0, 1e-99), (-1e-31, 1e-31), (0, 1.1e30), (1e30, 1.1e30)]
)
def test_bounds_whose_squares_cannot_be_computed_with_are_refused(lower, upper):
    with pytest.raises(BoundsError, match="at most 1e\\+30 in size|too close to compute with"):
        Box((lower,), (upper,))
    with pytest.raises(BoundsError):
        Ball((upper - lower) / 2, (lower + (upper - lower) / 2,))


def test_a_ball_that_reaches_beyond_the_largest_bound_is_refused_at_once():
    with pytest.raises(BoundsError, match="at most 1e\\+30 in size"):
        Ball(6e29, (6e29,))


BOX = Box((-1.0, -1.0), (1.0, 1.0))


BAD = np.array([[np.nan, 0.0]])


ONE = np.ones((1, 2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Nearest(BAD, BOX), lambda: Nearest(ONE, BOX, [1.0, np.inf]), lambda: Nearest(ONE, BOX, [1.0, 0.0]),
        lambda: TwoLevel(BAD, np.array([0]), BOX), lambda: SplitTree(BOX).split(0, 0, np.nan),
        lambda: Frame(BOX, np.array([1.0, np.nan])), lambda: Frame(BOX, np.array([1.0, 1e-320])),
        lambda: CellShapes(Nearest(ONE, BOX), Frame(BOX), BAD, ONE, np.ones(1)),
        lambda: CellShapes(Nearest(ONE, BOX), Frame(BOX), ONE, BAD, np.ones(1)),
        lambda: CellShapes(Nearest(ONE, BOX), Frame(BOX), ONE, ONE, np.array([np.inf])),
        lambda: ScatterMatrix(Frame(BOX), BAD[0], ONE[0], 1.0),
        lambda: ScatterMatrix(Frame(BOX), ONE[0], ONE[0], 1e200),
        lambda: Gaussians(BOX, np.ones(1), BAD, np.eye(2)[None], np.ones(1)),
        lambda: Gaussians(BOX, np.ones(1), ONE, np.eye(2)[None], np.array([np.nan])),
        lambda: Gaussians(BOX, np.ones(1), ONE, np.eye(2)[None] * 1e-310, np.ones(1)),
        lambda: Gaussians(BOX, np.array([np.nan]), ONE, np.eye(2)[None], np.ones(1)),
        lambda: Projected(BOX, BAD, 1.0), lambda: Projected(BOX, 0 * ONE, 1.0), lambda: Projected(BOX, ONE, np.inf),
        lambda: KernelSteps(BOX, BAD, ONE[0]), lambda: KernelSteps(BOX, ONE, np.zeros(2)),
        lambda: FourierFeatures(BOX, BAD), lambda: FourierFeatures(BOX, 1e300 * ONE),
        lambda: FourierFeatures(BOX, 1e9 * ONE), lambda: Lattice(BOX, BAD[0], ONE[0], ONE[0], (2, 2)),
        lambda: Lattice(BOX, -ONE[0], ONE[0], -2 * ONE[0], (2, 2)),
        lambda: FourierGrid(Lattice(BOX, -ONE[0], ONE[0], ONE[0], (2, 2)), np.zeros((3, 3))),
        lambda: FourierGrid(Lattice(BOX, -ONE[0], ONE[0], ONE[0], (2, 2)), np.full((3, 3), np.nan)),
        lambda: ColumnHistograms(BAD),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_query_whose_parameters_are_not_finite_is_refused(make):
    with pytest.raises(ValueError, match="finite|too high"):
        make()


def test_quantised_points_stay_in_a_ball(rng):
    ball = Ball(3.0, (1.0, 2.0, 3.0, 4.0))
    grid = ball.clip_to_grid(rng.normal(scale=100, size=(5000, 4)))
    assert np.square(grid).sum(axis=1).max() <= UNIT**2
    assert np.square(grid).sum(axis=1).max() >= 0.999 * UNIT**2
