"""The share of energy at the periods of prime powers, in embeddings made for it."""

import numpy as np
import pytest
from sympy.ntheory import factorint

from strata.measure import token_fourier


@pytest.mark.parametrize("n", [15, 12, 36, 30, 7])
def test_a_sum_of_functions_of_the_prime_powers_lies_at_their_periods(n):
    rng = np.random.default_rng(n)
    parts = [rng.normal(size=(p**e, 8)) for p, e in factorint(n).items()]
    planted = np.sum([part[np.arange(n) % len(part)] for part in parts], axis=0)
    order = token_fourier.token_order(planted)
    assert order and order.share == pytest.approx(1)
    # as many frequencies as such sums have dimensions, the constant left out
    assert order.uniform == pytest.approx(sum(len(part) - 1 for part in parts) / (n - 1))
    mixed = rng.normal(size=(n, 4000))
    order = token_fourier.token_order(mixed)
    assert order and order.share == pytest.approx(order.uniform, abs=0.03)


def test_equal_rows_have_no_order():
    assert token_fourier.token_order(np.ones((6, 3))) is None
