"""What a page draws of a network: planted votes and planted classes come back."""

import numpy as np
import pytest

from strata.monoid import classes, prime_powers
from studies.mechanism.code import picture
from studies.mechanism.planted import profile_of


@pytest.mark.parametrize("n", [15, 30])
def test_planted_votes_are_found_and_predict_every_class_that_is_left_out(n):
    rng, q = np.random.default_rng(0), np.arange(n)
    y = profile_of(np.sum([rng.normal(size=(p, n))[q % p] for p in prime_powers(n)], axis=0))
    drawn = picture.drawing(y)
    assert drawn["shares"]["votes"] == pytest.approx(1)
    for d, fit in drawn["fits"].items():
        added = sum(np.array(g)[q % p] for p, g in zip(prime_powers(n), fit, strict=True))
        np.testing.assert_allclose(added, y.y, atol=0.01, err_msg=d)
    biases = [
        np.bincount(q % p, y.N) @ np.array(votes) / y.N.sum()
        for p, votes in zip(prime_powers(n), drawn["fits"]["all"], strict=True)
    ]
    np.testing.assert_allclose(biases, [biases[0]] * len(biases), atol=0.002)


def test_classes_sorted_first_are_the_least_squares_of_their_form():
    n, rng = 30, np.random.default_rng(0)
    y = profile_of(rng.normal(size=(n, n)))
    columns = []
    for J in classes(n):
        in_class = np.isin(np.arange(n), J.elements)
        columns += [np.outer(in_class, np.arange(n) == c) for c in range(n)]
        for u in range(J.m):
            ratio_is_u = (np.arange(n)[:, None] - u * np.arange(n)) % J.m == 0
            columns.append(np.outer(in_class, in_class) & ratio_is_u)
    X = np.array(columns, float).reshape(len(columns), -1).T
    weight = np.repeat(np.sqrt(y.N), n)
    best = np.linalg.lstsq(X * weight[:, None], y.y.ravel() * weight, rcond=None)[0]
    share = y.share((X @ best).reshape(n, n))
    assert picture.drawing(y)["shares"]["classes"] == pytest.approx(share)
