"""Neurons by prime against means taken pair by pair."""

import numpy as np
import pytest

from strata.architecture import TABLE
from studies.mechanism import by_hand
from studies.mechanism.code import neurons
from studies.mechanism.code.pairs import all_pairs


def random_weights(n, kind, seed=0):
    rng = np.random.default_rng(seed)
    shapes = TABLE[kind].sizes(n, 8, 2, 10)
    return {k: (rng.normal(size=s) / np.sqrt(s[-1])).astype(np.float32) for k, s in shapes.items()}


def whole(of):
    """The activations of all ordered pairs, (n, n, d_mlp)."""
    table = np.zeros((of.n, of.n, of.before.shape[1]))
    table[of.b, of.a] = np.maximum(of.before, 0)
    table[of.a, of.b] = np.maximum(of.before, 0)
    return table


@pytest.mark.parametrize("kind", ["transformer", "mlp"])
def test_shares_are_those_of_the_means_over_residues(kind):
    of = all_pairs(random_weights(12, kind), 12)
    found, h, a = neurons.measured(of), whole(of), np.arange(12)
    assert np.allclose(found.variance, h.var(axis=(0, 1)))
    for i, Q in enumerate((4, 3)):
        means = np.zeros_like(h)
        for r in range(Q):
            for s in range(Q):
                cell = np.ix_(a % Q == r, a % Q == s)
                means[cell] = h[cell].mean(axis=(0, 1))
        assert np.allclose(found.explained[i], means.var(axis=(0, 1)))
        power = np.full(len(found.own), i)
        assert np.allclose(neurons.replaced(of, power), means[of.a, of.b])


def test_symmetric_and_whole_tables_agree():
    """A transformer is symmetric, so what is known of a ≤ b is known of all."""
    of = all_pairs(random_weights(6, "transformer"), 6)
    for some, before in neurons.squares(of):
        assert np.allclose(before, before.swapaxes(0, 1))
        assert np.allclose(before[of.a, of.b], of.before[:, some])


def test_neurons_made_for_one_prime_are_found_and_can_be_replaced():
    n = 35
    weights, _ = by_hand.nearest_code(n, {5: [1], 7: [1]}, np.random.default_rng(0))
    of = all_pairs(weights, n)
    found = neurons.measured(of)
    assert (found.own == [0] * 15 + [1] * 28).all()
    assert found.share(found.own) == pytest.approx(1, abs=1e-6)
    assert found.share(1 - found.own) < 0.05
    assert found.additive == pytest.approx(1, abs=1e-6)
    assert of.changed(of.after(neurons.replaced(of, found.own))).accuracy == 1
    alone = neurons.replaced(of, found.own, neurons.no_interaction)
    assert of.changed(of.after(alone)).accuracy < 0.3
    shuffled = np.random.default_rng(0).permutation(n)
    relabelled = found._replace(explained=neurons.variances(of, shuffled))
    assert relabelled.share(relabelled.own) < 0.3


def test_no_interaction_is_the_nearest_sum():
    x = np.add.outer(np.arange(3.0), np.arange(3.0) ** 2)[:, :, None]
    assert np.allclose(neurons.no_interaction(x), x)
    odd = np.array([[1.0, -1.0], [-1.0, 1.0]])[:, :, None]
    assert np.allclose(neurons.no_interaction(odd), 0)
