"""The character fit: the closed form against least squares over rows."""

from math import prod

import numpy as np
import pytest

from strata.measure import character_fit
from strata.monoid import JClass, axes, classes, frequencies, jclass, position, unit

# regular and not, cyclic and not, with and without axes of order 2
CASES = [(165, 3), (165, 55), (12, 2), (36, 3), (24, 1), (72, 6)]


def fit(
    logits: np.ndarray, product: np.ndarray, orders: tuple, key: np.ndarray
) -> character_fit.Fit:
    """Fit these prompts in one go."""
    return character_fit.fit(character_fit.sums(logits, product, orders), orders, key)


def prompts(J: JClass, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Draw some pairs (a, b) with ab in the class, with replacement."""
    a, b = np.divmod(np.arange(J.n**2), J.n)
    inside = np.flatnonzero(np.gcd(a * b, J.n) == J.d)
    chosen = np.random.default_rng(J.n).choice(inside, count)
    return a[chosen], b[chosen]


def feature(k: tuple[int, ...], J: JClass, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return 2 cos θ_k(u(ab) u(c)^−1), prompts by candidates, residue by residue from the
    definition."""
    cosine = {}
    for t in frequencies(J.orders).tolist():
        x = prod(pow(g, i, J.m) for (_, g), i in zip(axes(J.m), t, strict=True)) % J.m
        turns = sum(i * j / q for i, j, q in zip(k, t, J.orders, strict=True))
        cosine[x] = 2 * np.cos(2 * np.pi * turns)
    inverses = [pow(unit(c, J.n), -1, J.m) for c in J.elements.tolist()]
    products = [unit(x, J.n) for x in (a * b % J.n).tolist()]
    return np.array([[cosine[u * v % J.m] for v in inverses] for u in products])


def some_key(J: JClass, seed: int) -> np.ndarray:
    """Draw a random set of frequencies, never empty, each with its negative."""
    key = np.random.default_rng(seed).random(len(J)) < 0.4
    key[:2] = False, True
    minus = np.ravel_multi_index(tuple((-frequencies(J.orders) % J.orders).T), J.orders)
    return key | key[minus]


@pytest.mark.parametrize(("n", "d"), CASES)
def test_the_closed_form_is_least_squares_with_intercept_over_all_rows(n, d):
    J = jclass(d, n)
    a, b = prompts(J)
    logits = np.random.default_rng(d).normal(size=(len(a), len(J))) + 3
    key, product = some_key(J, n), position(n)[a * b % n]
    fitted, one_of_each = fit(logits, product, J.orders, key), character_fit.half(key, J.orders)
    assert fitted == fit(logits, product, J.orders, one_of_each)
    assert fitted.frequencies == tuple(map(tuple, frequencies(J.orders)[one_of_each].tolist()))
    columns = [feature(k, J, a, b) for k in fitted.frequencies]
    columns = [(x - x.mean(axis=1, keepdims=True)).ravel() for x in columns]
    y = (logits - logits.mean(axis=1, keepdims=True)).ravel()
    X = np.stack([*columns, np.ones(y.size)], axis=1)
    beta = np.linalg.lstsq(X, y)[0]
    assert np.allclose(beta, [*fitted.coefficients, 0])
    r2 = 1 - ((y - X @ beta) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert np.isclose(fitted.r2, r2)
    assert fitted.prompts == len(a)
    assert np.allclose(character_fit.predicted_logits(fitted, product, J.orders).ravel(), X @ beta)


@pytest.mark.parametrize(("n", "d"), CASES)
def test_sums_by_product_and_candidate_are_those_of_the_centred_logits_and_give_the_others(n, d):
    J = jclass(d, n)
    a, b = prompts(J)
    logits, product = np.random.default_rng(d).normal(size=(len(a), len(J))), position(n)[a * b % n]
    sums, y = character_fit.sums(logits, product, J.orders), character_fit.centred(logits)
    expected, total = np.zeros((len(J), len(J))), np.zeros(len(J))
    for row, place in zip(y, product, strict=True):
        expected[place] += row
    np.add.at(total, character_fit.quotients(J.orders), expected)
    assert np.allclose(sums.by_product, expected, atol=1e-12)
    assert np.allclose(sums.total, total, atol=1e-12)
    means = np.where(sums.prompts_of[:, None] > 0, sums.profiles, 0)[product]
    assert sums.r2_product == pytest.approx(1 - ((y - means) ** 2).sum() / (y**2).sum())


@pytest.mark.parametrize(("n", "d"), CASES)
def test_column_q_holds_the_candidate_whose_quotient_is_q(n, d):
    J = jclass(d, n)
    a, b = prompts(J)
    logits = np.random.default_rng(d).normal(size=(len(a), len(J)))
    rows = character_fit.by_quotient(logits, position(n)[a * b % n], J.orders)
    units = [unit(c, n) for c in J.elements.tolist()]  # u is 1 at the first element
    first = pow(units[0], -1, J.m) if J.m > 1 else 0
    for row, y, x in zip(rows, character_fit.centred(logits), (a * b % n).tolist(), strict=True):
        for c, v in enumerate(units):
            quotient = unit(x, n) * pow(v, -1, J.m) % J.m
            q = [u * first % J.m for u in units].index(quotient)
            assert row[q] == y[c]


def test_no_key_frequency_explains_nothing():
    logits = np.random.default_rng(0).normal(size=(5, 4))
    fitted = fit(logits, np.arange(5) % 4, (4,), np.zeros(4, dtype=bool))
    assert fitted == character_fit.Fit(0.0, 5, (), ())
    assert not character_fit.predicted_logits(fitted, np.arange(5) % 4, (4,)).any()


@pytest.mark.parametrize("shape", [(3, 1), (0, 4), (3, 4)])
def test_logits_that_do_not_vary_are_refused(shape):
    product, key = np.zeros(shape[0], dtype=int), np.ones(shape[1], dtype=bool)
    for logits in (np.full(shape, 0.1), np.full(shape, np.inf)):
        with pytest.raises(ValueError, match="nothing to fit"):
            fit(logits, product, (shape[1],), key)


def test_every_product_of_the_default_pair_lies_in_its_class():
    for n in range(2, 201):
        for J in classes(n):
            d1, d2 = character_fit.default_pair(J.d, n)
            products = np.multiply.outer(jclass(d1, n).elements, jclass(d2, n).elements)
            assert (np.gcd(products, n) == J.d).all(), J
            assert d1 * d2 == J.d, J
            assert np.gcd(d1, d2) == 1, J
