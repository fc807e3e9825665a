"""Neurons by prime against means taken pair by pair, and simple neurons against least squares."""

import numpy as np
import pytest
from planted import phases, planted

from studies.mechanism import by_hand
from studies.mechanism.code import neurons
from studies.mechanism.code.pairs import all_pairs


def whole(of):
    """What the neurons read, for all ordered pairs, (n, n, d_mlp)."""
    table = np.zeros((of.n, of.n, of.before.shape[1]))
    table[of.b, of.a] = of.before
    table[of.a, of.b] = of.before  # in a model that is not symmetric (b, a) is a pair of its own
    return table


@pytest.mark.parametrize("kind", ["transformer", "mlp"])
def test_shares_are_those_of_the_means_over_residues(kind):
    of = all_pairs(by_hand.random(12, kind), 12)
    found, h, a = neurons.measured(of), np.maximum(whole(of), 0), np.arange(12)
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


def test_neurons_made_for_one_prime_are_found_and_can_be_replaced():
    n = 35
    weights, _ = by_hand.nearest_code(n, {5: [1], 7: [1]}, np.random.default_rng(0))
    of = all_pairs(weights, n)
    found = neurons.measured(of)
    assert (found.own == [0] * 15 + [1] * 28).all()
    assert found.share(found.own) == pytest.approx(1, abs=1e-6)
    assert found.share(1 - found.own) < 0.05
    assert found.additive == pytest.approx(1, abs=1e-6)
    assert of.changed(of.after(neurons.replaced(of, found.own))) == 1
    alone = neurons.replaced(of, found.own, neurons.no_interaction)
    assert of.changed(of.after(alone)) < 0.3
    shuffled = np.random.default_rng(0).permutation(n)
    relabelled = found._replace(explained=neurons.variances(of, shuffled))
    assert relabelled.share(relabelled.own) < 0.3


def test_no_interaction_is_the_nearest_sum():
    x = np.add.outer(np.arange(3.0), np.arange(3.0) ** 2)[:, :, None]
    assert np.allclose(neurons.no_interaction(x), x)
    odd = np.array([[1.0, -1.0], [-1.0, 1.0]])[:, :, None]
    assert np.allclose(neurons.no_interaction(odd), 0)


def waves(n: int, neurons: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """An MLP-only model whose neurons each read one frequency of one prime: A cos + A′ cos, and
    whether the prime divides."""
    known = phases(n)
    live, P = 1 - known.flags, len(known.primes)
    parts = [known.flags, live * np.cos(known.turns), live * np.sin(known.turns)]
    W_E = np.concatenate(parts, axis=1)
    W_in = np.zeros((2, 3 * P, neurons))
    for i in range(neurons):
        own = np.arange(3) * P + i % P
        W_in[:, own, i] = rng.normal(size=(2, 3))
    return {
        "W_E": W_E, "W_in": W_in.reshape(6 * P, neurons), "b_in": rng.normal(size=neurons),
        "W_out": rng.normal(size=(neurons, 3 * P)), "b_out": np.zeros(3 * P),
        "W_U": rng.normal(size=(3 * P, n)), "b_U": np.zeros(n),
    }  # fmt: skip


def test_planted_waves_are_simple_and_random_neurons_are_not():
    of = all_pairs(waves(35, 12, np.random.default_rng(0)), 35)
    simple = neurons.one_frequency(of, neurons.measured(of))
    assert np.allclose(simple, np.maximum(of.before, 0))
    of = all_pairs(by_hand.random(35, "transformer"), 35)
    simple = neurons.one_frequency(of, neurons.measured(of))
    assert not np.allclose(simple, np.maximum(of.before, 0), atol=0.1)


def test_a_hand_made_network_of_simple_neurons_stays_right_when_all_are_replaced():
    of = all_pairs(planted(15), 15)
    assert of.changed(of.after(neurons.one_frequency(of, neurons.measured(of)))) == 1


@pytest.mark.parametrize(("n", "kind"), [(12, "transformer"), (24, "mlp"), (2, "transformer")])
def test_the_simple_neuron_is_the_best_least_squares_fit_over_all_pairs(n, kind):
    of = all_pairs(by_hand.random(n, kind), n)
    a, b = np.divmod(np.arange(n * n), n)
    before = whole(of).reshape(n * n, -1)
    fits = []
    for space in neurons.spaces(n):
        f = np.tile(space.basis, (n // space.Q, 1))
        X = np.concatenate([np.ones((n * n, 1)), f[a], f[b]], axis=1)
        fits.append(X @ np.linalg.lstsq(X, before, rcond=None)[0])
    best = np.argmin([((before - near) ** 2).sum(axis=0) for near in fits], axis=0)
    near = np.take_along_axis(np.array(fits), best[None, None], axis=0)[0]
    simple = neurons.one_frequency(of, neurons.measured(of))
    assert np.allclose(simple, np.maximum(near, 0)[of.a * n + of.b], atol=1e-6)


def test_there_is_a_space_for_each_prime_power_and_each_frequency_up_to_its_sign():
    def sizes(n: int) -> list[tuple[int, int]]:
        return [(space.Q, space.basis.shape[1]) for space in neurons.spaces(n)]

    assert sizes(7) == [(7, 3), (7, 3), (7, 2)]  # k = 3 is real
    assert sizes(2) == [(2, 1)]
    assert sizes(12) == [(3, 2), (4, 3)][::-1]
    assert len(sizes(16)) == 5 and {Q for Q, _ in sizes(16)} == {16}  # (Z/16)^×: 2 × 4, 7 ± pairs
