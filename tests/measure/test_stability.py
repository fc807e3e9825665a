"""What is measured over seeds: by brute force, and on maps and points whose answer is known."""

from itertools import combinations

import numpy as np
import pytest
from small import weights_of

from strata import monoid
from strata.measure import activations, stability
from strata.run import Run


@pytest.mark.parametrize("n", [2, 7, 12])
def test_maps_are_the_forward_pass_pair_by_pair_in_algebraic_order(n):
    weights, order = weights_of(Run(n, 1)), monoid.algebraic_order(n)
    attention, neurons = stability.attention(weights, n), stability.neurons(weights, n)
    assert attention.shape == (3, n, n) and neurons.shape == (20, n, n)
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            forward = activations.forward(weights, np.array([a]), np.array([b]))
            assert np.allclose(attention[:, i, j], forward.attention[0, :, 0], atol=1e-6)
            assert np.allclose(neurons[:, i, j], forward.mlp[0], atol=1e-6)


def test_where_too_few_neurons_are_active_all_may_be_drawn():
    maps = np.zeros((4, 2, 2))
    maps[1] = 1
    assert len(stability.drawn(maps, 3, [0])) == 3
    assert stability.drawn(maps, 9, [0]).tolist() == [0, 1, 2, 3]
    maps[3, 0, 1] = 1  # above 0 for one pair
    assert stability.drawn(maps, 2, [0]).tolist() == [1, 3]


@pytest.mark.parametrize("n", [12, 15])
def test_block_means_are_those_of_brute_force_and_hold_the_block_score(n):
    d, x = np.gcd(monoid.algebraic_order(n), n), np.random.default_rng(n).normal(size=(n, n))
    means = stability.block_means(x)
    for i, j in np.ndindex(n, n):
        assert means[i, j] == pytest.approx(x[np.ix_(d == d[i], d == d[j])].mean())
    scores, shuffled = stability.block_scores(np.stack([x, means]), [0])
    assert scores == pytest.approx([means.var() / x.var(), 1])
    assert (shuffled < 0.9).all()


def test_correlations_are_pearsons_of_every_pair():
    rng = np.random.default_rng(0)
    maps = [rng.random((5, 5)) for _ in range(4)]
    expected = [np.corrcoef(x.ravel(), y.ravel())[0, 1] for x, y in combinations(maps, 2)]
    assert np.allclose(stability.correlations(maps), expected)
    x = maps[0]
    assert np.allclose(stability.correlations([x, 3 * x + 1, -x]), [1, -1, -1])
    assert stability.correlations([x, np.ones((5, 5))]).tolist() == [0]


def test_what_key_frequencies_have_in_common():
    one, other = {(1,), (4,)}, {(2,), (3,)}
    assert stability.common([one, one], (5,)) == (1, 0.5, 0.5)
    assert stability.common([one, other], (5,)) == (0, 0.5, 0.5)
    assert stability.common([one, set()], (5,)) == (0, 0, 0)
    assert stability.common([one], (5,)) == (0, 0, 0)


def test_random_key_frequencies_have_in_common_what_chance_says():
    rng = np.random.default_rng(0)
    one, other = [(k, 0) for k in range(1, 5)], [(0, k) for k in range(1, 11)]
    draws = [(rng.permutation(4)[:3], rng.permutation(10)[:2]) for _ in range(60)]
    keys = [{*(one[i] for i in x), *(other[i] for i in y)} for x, y in draws]
    common = stability.common(keys, (5, 11))
    chance = (3 * 3 / 4 + 2 * 2 / 10) / 5  # 3 of the 4 on one axis, 2 of the 10 on the other
    assert (common.even, common.same_axes) == pytest.approx((5 / 54, chance))
    assert common.shared == pytest.approx(chance, abs=0.02)
