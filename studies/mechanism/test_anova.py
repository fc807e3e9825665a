"""The decomposition against brute force: conditional means and their differences."""

from itertools import chain, combinations

import numpy as np
import pytest

from strata.monoid import prime_powers
from studies.mechanism.code import anova
from studies.mechanism.code.descriptions import weights_of


def random(n, seed=0):
    y = np.random.default_rng(seed).normal(size=(n, n))
    return y - y.mean(axis=1, keepdims=True)


def conditional(y, of):
    """E[y | factors] cell by cell, as it is defined."""
    n, powers = len(y), prime_powers(len(y))
    q, c = np.indices((n, n))
    labels = [q % Q for Q in powers] + [c % Q for Q in powers]
    cell = np.zeros((n, n), dtype=int)
    for i in of:
        cell = cell * n + labels[i]
    weight = np.broadcast_to(weights_of(n)[:, None], (n, n))
    _, cell = np.unique(cell, return_inverse=True)
    cell = cell.reshape(n, n)
    sums = np.bincount(cell.ravel(), (weight * y).ravel())
    return (sums / np.bincount(cell.ravel(), weight.ravel()))[cell]


def subsets(of):
    return chain.from_iterable(combinations(sorted(of), k) for k in range(len(of) + 1))


@pytest.mark.parametrize("n", [4, 6, 12, 30])
def test_each_term_is_the_alternating_sum_of_conditional_means(n):
    y, N = random(n), weights_of(n)
    found = anova.energies(y)
    assert len(found) == 4 ** len(prime_powers(n))
    for of in list(found)[:: max(1, len(found) // 16)]:
        term = sum((-1) ** (len(of) - len(s)) * conditional(y, s) for s in subsets(of))
        energy = N @ np.square(term).mean(axis=1) / N.sum()
        assert found[of] == pytest.approx(energy, abs=1e-12)


@pytest.mark.parametrize("n", [6, 12, 30, 35, 105])
def test_terms_kinds_and_orders_add_up(n):
    y, N = random(n), weights_of(n)
    found = anova.energies(y)
    assert sum(found.values()) == pytest.approx(N @ (y**2).mean(axis=1) / N.sum())
    shares = anova.shares(found)
    for names in (anova.KINDS, anova.ORDERS):
        assert sum(shares[name] for name in names) == pytest.approx(1)


@pytest.mark.parametrize("n", [6, 12, 30])
def test_parts_are_orthogonal_and_have_the_shares_of_their_kinds(n):
    y, N = random(n, 1), weights_of(n)
    parts = anova.parts(y)
    assert np.allclose(np.sum(parts, axis=0), y)
    inner = np.array([[N @ (a * b).sum(axis=1) for a in parts] for b in parts])
    assert np.allclose(inner, np.diag(np.diag(inner)), atol=1e-9)
    shares = anova.shares(anova.energies(y))
    kinds = [shares[name] for name in anova.KINDS]
    assert np.allclose(np.diag(inner) / inner.trace(), kinds)


def test_a_sum_over_primes_has_neither_cross_talk_nor_interaction():
    q, c = np.indices((15, 15))
    y = np.cos(q % 3 * (c % 3)) + np.sin(1 + q % 5 * (c % 5))
    shares = anova.shares(anova.energies(y - y.mean(axis=1, keepdims=True)))
    assert shares["cross-talk"] == pytest.approx(0, abs=1e-12)
    assert shares["many"] == pytest.approx(0, abs=1e-12)
    assert shares["order 1"] == pytest.approx(1)
