"""The literature's measures where theory gives their value."""

import numpy as np
import pytest
import torch
from planted import phases, planted
from small import weights_of

from strata.api import layers
from strata.api.model import model_of
from strata.measure import activations
from strata.monoid import JClass, chi
from strata.patch import patching
from strata.patch.projections import keys
from strata.run import Run
from studies.mechanism.code import literature, simple_neurons
from studies.mechanism.code.gradients import Gradients, gradients


@pytest.mark.parametrize("run", [Run(15, 1), Run(15, 1, "mlp")], ids=str)
def test_gradients_are_those_of_automatic_differentiation(run):
    n, weights = run.n, weights_of(run)
    # Every operand is a token of its own, as in the first and the second place.
    a, b, c = np.random.default_rng(0).integers(0, n, (3, 6))
    W_E = weights["W_E"].astype(np.float64)
    apart = np.concatenate([W_E[:n], W_E[a], W_E[b], W_E[n:]])
    model = model_of(run, {k: x.astype(np.float64) for k, x in (weights | {"W_E": apart}).items()})
    model.W_E.requires_grad_()
    of_a, of_b = n + torch.arange(6), n + 6 + torch.arange(6)
    equals = [torch.full((6,), len(apart) - 1)] * (not run.variant)
    logits = layers.run(model, torch.stack([of_a, of_b, *equals], dim=1))
    logits[torch.arange(6), torch.from_numpy(c)].sum().backward()
    grad = model.W_E.grad
    assert grad is not None
    found = gradients(weights, a, b, c)
    assert np.allclose(found.of_a, grad[of_a].numpy(), atol=1e-7)
    assert np.allclose(found.of_b, grad[of_b].numpy(), atol=1e-7)


def character_gradients(J: JClass, k: tuple[int, ...]):
    """Of the logits Re(e_a e_b ē_c), e_x = χ_k(x), with respect to e_a and e_b as vectors of two
    numbers."""
    e = np.zeros(J.n, dtype=complex)
    e[J.elements] = chi(k, J.orders)

    def of(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Gradients:
        def pair(z: np.ndarray) -> np.ndarray:
            return np.stack([np.real(z), -np.imag(z)], axis=1)

        return Gradients(pair(e[b] * e[c].conj()), pair(e[a] * e[c].conj()))

    return e, of


def test_gradient_symmetricity_of_characters_is_the_mean_cosine_of_differences_of_phase():
    J = JClass(35, 1)
    e, of = character_gradients(J, (1, 2))
    found = literature.symmetricity(of, J, 100, np.random.default_rng(0))
    a, b, _ = np.random.default_rng(0).choice(J.elements, (3, 100))
    assert found == pytest.approx(np.cos(np.angle(e[a]) - np.angle(e[b])).mean())

    def none(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Gradients:
        return Gradients(np.zeros((len(a), 2)), np.zeros((len(a), 2)))

    assert literature.symmetricity(none, J, 5, np.random.default_rng(0)) is None


def test_distance_irrelevance_is_1_of_functions_of_ab_and_0_of_functions_of_their_quotient():
    """g(ab) runs over a coset of the squares where a/b is given; a character whose fourth power is
    not 1 has one spread on all of them."""
    J = JClass(77, 7)
    g = np.real(chi((1,), J.orders))
    t = np.arange(len(J))
    product, quotient = np.add.outer(t, t) % len(J), np.subtract.outer(t, t) % len(J)
    assert literature.irrelevance(g[product], J) == pytest.approx(1)
    rng = np.random.default_rng(0)
    assert literature.irrelevance(rng.normal(size=len(J))[quotient], J) == pytest.approx(0)
    assert literature.irrelevance(np.full((len(J), len(J)), 3.0), J) is None
    both = JClass(35, 1)  # the same on two axes, and class elements in the right places
    order = {x: i for i, x in enumerate(both.elements.tolist())}
    by = [[order[int(x) * pow(int(y), -1, 35) % 35] for y in both.elements] for x in both.elements]
    assert literature.irrelevance(rng.normal(size=24)[np.array(by)], both) == pytest.approx(0)


def test_uniform_attention_reads_both_operands_alike():
    weights = planted(35)
    rig = patching.rig(weights, 35)
    found = literature.by_class(rig, keys(weights["W_E"][:35], 35, 0.5), 50, 0)
    assert [x.d for x in found] == [1, 5, 7]
    assert all(x.symmetricity == pytest.approx(1) for x in found)
    # ±1 and ±2 on each axis, which are three frequencies on that of order 4
    assert [x.key for x in found] == [7, 4, 3]
    right = literature.right_logits(rig)
    a, b = 12, 34
    logits = activations.forward(weights, np.array([a]), np.array([b])).logits
    assert right[a, b] == right[b, a]
    assert right[a, b] == pytest.approx(logits[0, a * b % 35], rel=1e-6)


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


def test_planted_waves_are_simple_and_random_neurons_are_less():
    rng = np.random.default_rng(0)
    weights = waves(35, 12, rng)
    rig = patching.rig(weights, 35)
    found = simple_neurons.neurons(rig)
    right = np.average(rig.base.answer == rig.label, weights=rig.count)
    for fit in (found.simple, found.one_power, found.additive):
        assert fit.share == pytest.approx(1) and fit.accuracy == pytest.approx(right, abs=1e-6)
    assert found.cosets == pytest.approx(1)
    assert found.cosets_second is not None and found.cosets_second < 0.95
    assert sum(found.by_power.values()) == pytest.approx(1) and min(found.by_power.values()) > 0.2
    random = simple_neurons.neurons(patching.rig(weights_of(Run(35, 1)), 35))
    assert random.simple.share < random.one_power.share < random.additive.share <= 1
    assert random.simple.share < 0.5 and random.cosets < 0.99


def test_a_hand_made_network_of_simple_neurons_stays_right_when_all_are_replaced():
    found = simple_neurons.neurons(patching.rig(planted(15), 15))
    assert found.simple.share == pytest.approx(1, abs=1e-5)
    assert found.simple.skill == 1
    # Its knots are at values that occur, so rounding decides whether some neurons fire.
    assert found.cosets_second and found.cosets > found.cosets_second


@pytest.mark.parametrize("run", [Run(12, 1), Run(24, 2, "mlp"), Run(2, 1)], ids=str)
def test_fits_are_least_squares_over_all_pairs(run):
    n = run.n
    rig = patching.rig(weights_of(run), n)
    of = simple_neurons.read(rig)
    a, b = np.divmod(np.arange(n * n), n)
    _, before = simple_neurons.arriving(rig, a, b)
    before = before.astype(np.float64)
    assert np.allclose(of.mean, before.mean(axis=0)) and np.allclose(
        of.variance, before.var(axis=0)
    )
    candidates = simple_neurons.spaces(n)
    left = []
    for index, space in enumerate(candidates):
        f = np.tile(space.basis, (n // space.Q, 1))
        X = np.concatenate([np.ones((n * n, 1)), f[a], f[b]], axis=1)
        near = X @ np.linalg.lstsq(X, before, rcond=None)[0]
        every = np.full(before.shape[1], index)
        fit = simple_neurons.fitted(of, candidates, every)
        assert np.allclose(of.mean + fit.of_a[a] + fit.of_b[b], near, atol=1e-6)
        left.append(((before - near) ** 2).sum(axis=0))
    best = simple_neurons.ranking(of, candidates)[0]
    chosen = np.take_along_axis(np.array(left), best[None], axis=0)[0]
    assert np.allclose(chosen, np.min(left, axis=0))
    fit = simple_neurons.fitted(of, candidates, best)
    near = of.mean + fit.of_a[a] + fit.of_b[b]
    same = ((before > 0) == (near > 0)).mean(axis=0)
    assert simple_neurons.agreement(rig, of, fit) == pytest.approx(
        np.average(same, weights=of.variance), abs=1e-3
    )


def test_there_is_a_space_for_each_prime_power_and_each_frequency_up_to_its_sign():
    def sizes(n: int) -> list[tuple[int, int]]:
        return [(space.Q, space.basis.shape[1]) for space in simple_neurons.spaces(n)]

    assert sizes(7) == [(7, 3), (7, 3), (7, 2)]  # k = 3 is real
    assert sizes(2) == [(2, 1)]
    assert sizes(12) == [(3, 2), (4, 3)][::-1]
    assert len(sizes(16)) == 5 and {Q for Q, _ in sizes(16)} == {16}  # (Z/16)^×: 2 × 4, 7 ± pairs
