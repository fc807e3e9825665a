"""Interventions at the last residual stream of a nearest code made by hand."""

import numpy as np
import pytest

from studies.mechanism import by_hand
from studies.mechanism.code import codewords, dictionary, residual
from studies.mechanism.code.pairs import Profile, all_pairs, profile

N, CHOSEN = 105, {3: [1], 5: [1], 7: [1, 2]}


@pytest.fixture(scope="module")
def made():
    weights, use = by_hand.nearest_code(N, CHOSEN, np.random.default_rng(0))
    of = all_pairs(weights, N)
    return of, use, residual.stream(of, use)


def test_pairs_are_counted_as_often_as_they_are_ordered(made):
    of = made[0]
    assert of.count.sum() == N**2
    assert np.allclose(np.bincount(of.q, of.count), of.N)
    assert of.changed(of.residual) == 1


def test_the_profile_is_the_mean_over_ordered_pairs(made):
    of = made[0]
    z = of.logits(of.residual)
    z -= z.mean(axis=1, keepdims=True)
    y = profile(of).y
    for q in (0, 1, 15):
        own = z[of.q == q]
        assert np.allclose(y[q], np.average(own, axis=0, weights=of.count[of.q == q]))


def test_the_code_suffices_and_is_needed(made):
    x = made[2]
    right, shares = residual.kept(x, 3, np.random.default_rng(0))
    assert x.D.shape[1] == made[1].count
    assert min(right["keep"], right["equal size elsewhere"]) > 0.95
    assert max(right["remove"], right["keep others"]) < 0.2
    assert 0.5 < shares["variance in the code"] <= 1


def test_a_change_elsewhere_has_the_size_of_what_is_removed(made):
    x = made[2]
    C = residual.outside(x.D, np.random.default_rng(0))
    assert np.allclose(C.T @ C, np.eye(C.shape[1])) and np.allclose(C.T @ x.D, 0)


def test_moving_one_prime_moves_the_answer(made):
    found = residual.moves(made[2], np.random.default_rng(0))
    assert sum(x.tried + x.left_out for x in found.values()) == 3 * len(made[0].q)
    for x in (found["within"], found["across"]):
        assert x.tried and x.hits > 0.99 * x.tried and x.random < 0.2 * x.tried


def test_moves_never_see_the_classes_that_they_move_between(made):
    x = made[2]
    kind = np.gcd(np.arange(N), N)
    without = (kind == 1) | (kind == 3)
    rows = np.flatnonzero(kind[x.of.q] == 1)[:50]
    unit = N // 3 * pow(N // 3, -1, 3)
    moved = (x.of.q[rows] * (1 - unit)) % N  # now 3 divides it
    rng = np.random.default_rng
    poisoned = x.by_product + 100 * without[:, None] * rng(1).normal(size=x.by_product.shape)
    other = residual.Stream(x.of, x.use, x.mean, poisoned, x.mu, x.D)
    args = rows, moved, without
    assert residual.tried(x, *args, rng(0)) == residual.tried(other, *args, rng(0))
    assert residual.tried(x, *args, rng(0)).hits == 50


def test_functions_of_the_own_residue_have_no_cross_talk():
    use = dictionary.dictionary(15, by_hand.shared(15, {3: [1], 5: [1]}))
    v = np.array([np.cos(np.arange(15) % p[0]) for p in use.primes])
    assert np.allclose(residual.cross_talk(v, use), 0)
    other = np.array([np.cos(np.arange(15) % (8 - p[0])) for p in use.primes])
    mean = other.mean(axis=1, keepdims=True)
    assert np.allclose(residual.cross_talk(other, use), other - mean)


def test_what_the_code_predicts_takes_the_place_of_bias_and_cross_talk(made):
    of, use, x = made
    y = profile(of)
    M = codewords.nearest(y, use.values)
    right = residual.edited(x, y, M, use.values)
    assert right["bias predicted"] == right["both predicted"] == 1
    assert max(right["bias off"], right["cross-talk off"]) < 0.95


def test_the_slope_on_the_own_excess_is_that_of_exact_codewords():
    rng, n = np.random.default_rng(0), 6
    G = rng.normal(size=(n, n))
    of_q = np.eye(n) - np.bincount(np.outer(range(n), range(n)).ravel() % n, minlength=n) / n**2
    y = of_q @ G
    bias = -np.einsum("cj,jc->c", of_q, G) / 2  # −½ of what its own product adds
    found = residual.excess(Profile(y + bias, 1.0))
    assert found.slope == pytest.approx(-0.5) and found.share == pytest.approx(1)
