"""η²: by brute force, of planted groups, of random ones."""

import numpy as np
import pytest

from strata.measure.variance import block_eta_squared, eta_squared


@pytest.mark.parametrize(
    ("n", "least"), [(2, 1), (5, 1), (12, 1), (4, 2), (8, 2), (12, 2), (49, 2)]
)
def test_the_block_score_of_all_or_some_rows_is_the_share_between_blocks_by_brute_force(n, least):
    """Take all rows, or those in classes that are not regular."""
    rng, labels = np.random.default_rng(n), np.gcd(np.arange(n), n)
    rows = np.flatnonzero(np.gcd(labels, n // labels) >= least)
    x = rng.normal(size=(n, n))[rows] + labels[rows][:, None]
    across = [labels == d for d in np.unique(labels)]
    blocks = [x[np.ix_(e[rows], d)] for e in across if e[rows].any() for d in across]
    between = sum(v.size * (v.mean() - x.mean()) ** 2 for v in blocks)
    share = between / ((x - x.mean()) ** 2).sum()
    assert block_eta_squared(x, labels[rows], labels) == pytest.approx(share)
    if least == 1:
        assert block_eta_squared(x, labels) == pytest.approx(share)
    assert block_eta_squared(np.ones_like(x), labels[rows], labels) == 0


@pytest.mark.parametrize("n", [6, 12])
def test_both_are_one_share_where_each_entry_is_a_row_with_the_label_of_its_block(n):
    rng, labels = np.random.default_rng(n), np.gcd(np.arange(n), n)
    x = rng.normal(size=(n, n)) + labels
    blocks = np.add.outer(1000 * labels, labels).ravel()
    assert eta_squared(x.reshape(-1, 1), blocks) == pytest.approx(block_eta_squared(x, labels))
    assert eta_squared(np.ones((n * n, 3)), blocks) == 0
