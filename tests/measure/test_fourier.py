"""Spectra: planted frequencies are found, and the transform is the one by characters."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata.measure import fourier
from strata.monoid import chi, classes, frequencies, jclass

ORDERS = [(1,), (2,), (3,), (10,), (2, 2), (4, 10), (2, 4, 10), (2, 2, 3, 5)]
some_orders = st.lists(st.integers(2, 6), min_size=1, max_size=3).map(tuple)


def noise(orders: tuple[int, ...], d_model: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(int(np.prod(orders)), d_model))


@pytest.mark.parametrize("orders", ORDERS)
def test_the_spectrum_is_the_product_with_the_conjugate_characters(orders):
    x = noise(orders)
    expected = np.array([chi(k, orders).conj() @ x for k in frequencies(orders)])
    assert np.allclose(fourier.spectrum(x, orders), expected)
    energy = [0, *(np.abs(expected[1:]) ** 2).sum(axis=1)]  # the constant left out
    assert np.allclose(fourier.energy(x, orders), energy)


@settings(deadline=None, max_examples=30)
@given(some_orders, st.integers(0, 99))
def test_k_and_minus_k_have_one_energy_to_the_last_bit(orders, seed):
    share = fourier.energy_share(noise(orders, seed=seed), orders)
    minus = fourier.conjugate(orders)
    assert np.array_equal(-frequencies(orders) % orders, frequencies(orders)[minus])
    assert np.array_equal(share, share[minus])
    assert share[0] == 0
    assert np.isclose(share.sum(), 1)


def test_the_threshold_is_half_the_uniform_share_and_included():
    share = np.array([0, 0.5 / 4, 0.5 / 4 - 1e-9, 0.5, 0.25])
    assert fourier.key_frequencies(share).tolist() == [False, True, False, True, True]
    assert fourier.key_frequencies(share, 1.0).tolist() == [False, False, False, True, True]
    assert not fourier.key_frequencies(np.zeros(1)).any()


@pytest.mark.parametrize("orders", ORDERS)
def test_atomic_frequencies_are_nonzero_on_one_axis_only(orders):
    expected = [sum(i > 0 for i in k) == 1 for k in product(*map(range, orders))]
    assert fourier.atomic(orders).tolist() == expected


@pytest.mark.parametrize("x", [np.full((4, 3), 0.1), np.ones((1, 3)), np.full((4, 3), np.nan)])
def test_rows_without_finite_variation_have_no_shares(x):
    with pytest.raises(ValueError, match="no energy"):
        fourier.energy_share(x, (len(x),))


@pytest.mark.parametrize("n", [15, 36, 143, 165, 210])
def test_the_strongest_dimension_is_where_the_largest_coefficient_was_planted(n):
    rng = np.random.default_rng(n)
    W_E = rng.normal(size=(n + 1, 12))
    J = [J for J in classes(n) if len(J.orders) == 2][-1]
    W_E[J.elements, 7] += 50 * np.real(chi((1, 1), J.orders))
    W_E[J.elements, 3] += 1000  # a constant is no frequency
    for K in (K for K in classes(n) if len(K.orders) == 2):  # less in each, though more in all
        W_E[K.elements, 5] += 40 * len(J) / len(K) * np.real(chi((1, 1), K.orders))
    assert fourier.strongest_dimension(W_E, classes(n)) == 7


def test_classes_with_another_number_of_axes_do_not_choose_the_strongest_dimension():
    W_E = 1e-3 * np.random.default_rng(0).normal(size=(165, 4))
    for d, k, column in [(1, (1, 1, 1), 0), (15, (1,), 1), (5, (1, 1), 2)]:
        W_E[jclass(d, 165).elements, column] += (200 / d) * np.real(chi(k, jclass(d, 165).orders))
    assert fourier.strongest_dimension(W_E, classes(165)) == 2
