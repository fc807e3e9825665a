"""Subspaces: spectra made by hand, planted alignments on both sides, and the random baseline."""

import numpy as np
import pytest
from small import angles

from strata.measure import subspaces


def orthonormal(d: int, k: int, seed: int = 0) -> np.ndarray:
    """Return k orthonormal columns of length d."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0]


def rows_with(variances: list[float], rows: int = 30, d: int = 20, seed: int = 0) -> np.ndarray:
    """Return rows off the origin whose centred singular values squared are these variances."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(rows, len(variances)))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0] * np.sqrt(variances)
    return scores @ orthonormal(d, len(variances), seed).T + rng.normal(size=d)


def plain_count(x: np.ndarray, variance: float) -> int:
    """Count principal components one by one, by the singular values of the centred rows."""
    squares = np.linalg.svd(x - x.mean(axis=0), compute_uv=False) ** 2
    count = 0
    while squares[:count].sum() < variance * squares.sum():
        count += 1
    return count


@pytest.mark.parametrize(("rows", "d"), [(30, 20), (20, 30), (12, 12)])
def test_the_variances_of_a_hand_made_spectrum_come_back(rows, d):
    shares = subspaces.cumulative_variance(rows_with([60, 30, 6, 4], rows, d))
    assert len(shares) == min(rows, d)
    assert np.allclose(shares[:4], [0.6, 0.9, 0.96, 1])
    assert np.allclose(shares[4:], 1)


@pytest.mark.parametrize(
    ("variance", "count"), [(0.59, 1), (0.61, 2), (0.89, 2), (0.95, 3), (0.97, 4), (0.999, 4)]
)
def test_the_count_is_the_smallest_that_reaches_the_share(variance, count):
    assert subspaces.components_for(rows_with([60, 30, 6, 4]), variance) == count
    assert subspaces.count_for(np.array([0.5, 0.75, 1.0]), 0.75) == 2  # at least the share


def test_equal_rows_need_no_component():
    for x in (np.ones((1, 5)), np.full((3, 5), 0.1)):
        assert subspaces.components_for(x) == 0
        with pytest.raises(ValueError, match="no variance"):
            subspaces.cumulative_variance(x)


@pytest.mark.parametrize("size", [1, 5, 25, 40])
def test_the_random_baseline_is_plain_pca_of_seeded_sets_of_rows(size):
    W_E = np.random.default_rng(3).normal(size=(40, 16)) ** 3
    counts = subspaces.random_components(W_E, size, 50, np.random.default_rng(7), 0.9)
    again = subspaces.random_components(W_E, size, 50, np.random.default_rng(7), 0.9)
    rng = np.random.default_rng(7)
    sets = [rng.choice(40, size, replace=False) for _ in range(50)]
    assert counts.tolist() == again.tolist() == [plain_count(W_E[rows], 0.9) for rows in sets]


def test_projection_gives_uncorrelated_scores_with_the_leading_variances():
    x = rows_with([60, 30, 6, 4])
    scores = subspaces.project(x)
    assert np.allclose(scores.T @ scores, np.diag([60, 30, 6]))
    centred = x - x.mean(axis=0)
    assert np.allclose(scores, centred @ np.linalg.pinv(centred) @ scores)
    loadings = centred.T @ scores
    assert (loadings[np.abs(loadings).argmax(axis=0), range(3)] > 0).all()


def test_projection_of_few_rows_or_columns_is_filled_with_zeros():
    for shape in ((2, 8), (8, 2), (1, 4)):
        scores = subspaces.project(np.random.default_rng(0).normal(size=shape))
        assert scores.shape == (shape[0], 3)
        assert np.allclose(scores[:, min(shape) :], 0)


def head(read: np.ndarray, write: np.ndarray, S: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return W_V and W_O of a head that reads the first columns and writes the second, with
    singular values S."""
    return read * np.sqrt(S), (write * np.sqrt(S)).T


def test_the_shares_of_a_hand_made_head_come_back():
    W_V, W_O = head(orthonormal(12, 4, 1), orthonormal(12, 4, 2), [4, 2, 1, 0])
    assert np.allclose(subspaces.ov_shares(W_V, W_O), np.array([16, 4, 1, 0]) / 21)
    assert np.isclose(subspaces.ov_shares(W_O, W_V).sum(), 1)  # a head wider than the model
    assert len(subspaces.ov_shares(W_O, W_V)) == 4
    with pytest.raises(ValueError, match="zero"):
        subspaces.ov_shares(0 * W_V, W_O)


@pytest.mark.parametrize(("side", "other"), [("read", "write"), ("write", "read")])
def test_angles_planted_on_one_side_come_back_on_that_side_alone(side, other):
    basis, cosines = orthonormal(32, 9), np.array([0.9, 0.5, 0.1])
    tilted = basis[:, :3] * cosines + basis[:, 3:6] * np.sqrt(1 - cosines**2)
    sides = {side: basis[:, :3], other: basis[:, 6:9]}
    W = subspaces.W_OV(*head(sides["read"], sides["write"], [3, 2, 1]))
    x = rows_with([4, 2, 1], d=3) @ tilted.T + 9 * basis[:, 6]  # the offset is centred away
    assert np.allclose(angles(W, x, side, 3), cosines)
    assert np.allclose(angles(W, x, other, 3), 0)


@pytest.mark.parametrize(("size", "count"), [(1, 0), (2, 2), (10, 10), (16, 16), (40, 16)])
def test_there_are_as_many_cosines_as_elements_up_to_the_directions(size, count):
    rng = np.random.default_rng(size)
    for side in ("read", "write"):
        cosines = angles(rng.normal(size=(48, 48)), rng.normal(size=(size, 48)), side)
        assert len(cosines) == count
        assert (np.diff(cosines) <= 0).all()
        assert (cosines >= 0).all()
        assert (cosines <= 1).all()
