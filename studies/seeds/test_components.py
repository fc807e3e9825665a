"""Components of variance against least squares."""

import numpy as np
import pytest
from scipy import stats

from studies.seeds.code.components import crossed


def left(y, *factors):
    """Sum of squares that least squares on the constant and these factors leaves."""
    X = np.hstack([np.ones((y.size, 1)), *factors])
    return ((y.ravel() - X @ np.linalg.lstsq(X, y.ravel(), rcond=None)[0]) ** 2).sum()


@pytest.mark.parametrize("shape", [(3, 3), (2, 4)])
def test_mean_squares_are_what_each_factor_takes_from_least_squares(shape):
    y, (r, c) = np.random.default_rng(0).normal(size=shape), shape
    rows, columns = np.kron(np.eye(r), np.ones((c, 1))), np.kron(np.ones((r, 1)), np.eye(c))
    every, rest = (r - 1, c - 1), (r - 1) * (c - 1)
    both = left(y, rows, columns)
    squares = [(left(y, x) - both) / df for x, df in zip((columns, rows), every, strict=True)]
    found = crossed(y)
    assert found and np.allclose(found.squares, [*squares, both / rest])
    # The F-test of nested models.
    F = [x / (both / rest) for x in squares]
    assert np.allclose(found.p, [stats.f.sf(x, df, rest) for x, df in zip(F, every, strict=True)])
    other = crossed(y.T)
    assert other and np.allclose(other.components[:2], found.components[1::-1])
    assert np.allclose(other.shares, [found.shares[i] for i in (1, 0, 2)])


def test_components_are_the_planted_variances_on_average_and_a_factor_that_is_all_has_no_test():
    rng, planted = np.random.default_rng(1), np.array([4.0, 0.0, 1.0])
    found = []
    for _ in range(400):
        s, w, e = (
            rng.normal(size=x) * v**0.5 for x, v in zip((3, 3, (3, 3)), planted, strict=True)
        )
        one = crossed(s[:, None] + w + e)
        assert one and min(one.shares) >= 0 and sum(one.shares) == pytest.approx(1)
        found.append(one.components)
    error = np.std(found, axis=0) / 20
    assert (np.abs(np.mean(found, axis=0) - planted) < 4 * error).all()
    assert crossed(np.add.outer([1.0, 2.0, 4.0], [0.0, 1.0, 0.0])) is None
    assert crossed(np.ones((3, 3))) is None
