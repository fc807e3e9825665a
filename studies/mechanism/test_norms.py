"""Balanced weights compute the same and are the smallest; sizes of a network written down."""

import numpy as np
import pytest
from small import random_weights

from strata.api.by_hand import weights
from strata.patch.patching import forward_pass
from studies.mechanism.code import norms
from studies.mechanism.stages.by_hand import writing

MODELS = {
    "written down": (weights(15), 15),
    "random": (random_weights(12, "transformer", 2), 12),
}


def logits(w, n):
    pairs = forward_pass(w, n)
    return pairs.logits(pairs.residual)


@pytest.mark.parametrize("name", MODELS)
def test_balanced_weights_have_the_same_logits_and_no_factor_makes_them_smaller(name):
    w, n = MODELS[name]
    balanced = norms.balance(w)
    np.testing.assert_allclose(logits(balanced, n), logits(w, n), rtol=1e-9, atol=1e-9)
    assert norms.squared_norm(balanced) < 0.9 * norms.squared_norm(w)
    rng = np.random.default_rng(0)
    by = {axes: np.exp(rng.normal(size=20000)) for axes, *_ in norms.FACTORS}
    unbalanced = {name: x.astype(np.float64) for name, x in w.items()}
    for axes, *sides in norms.FACTORS:
        for names, sign in zip(sides, (1, -1), strict=True):
            for x in names:
                sizes = [unbalanced[x].shape[norms.AXES[x].index(axis)] for axis in axes]
                factor = by[axes][: np.prod(sizes)].reshape(sizes) ** sign
                unbalanced[x] = np.einsum(
                    f"{norms.AXES[x]},{axes}->{norms.AXES[x]}", unbalanced[x], factor
                )
    assert norms.squared_norm(unbalanced) > norms.squared_norm(balanced)
    balanced_again = norms.squared_norm(norms.balance(unbalanced))
    assert balanced_again == pytest.approx(norms.squared_norm(balanced), rel=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_a_given_norm_have_the_logits_by_one_factor(name):
    w, n = MODELS[name]
    total = 1.5 * norms.squared_norm(norms.balance(w))
    scaled = norms.with_squared_norm(w, total)
    assert norms.squared_norm(scaled) == pytest.approx(total, rel=1e-6)
    before, after = logits(w, n), logits(scaled, n)
    factor = (before * after).sum() / (before**2).sum()
    assert factor > 1
    np.testing.assert_allclose(after, factor * before, rtol=1e-7, atol=1e-7 * np.abs(after).max())


def test_a_network_written_down_has_few_neurons_and_the_margin_that_it_is_written_for():
    size = norms.size(forward_pass(weights(105), 105))
    without_idle = norms.size(forward_pass(writing(weights(105)), 105))
    assert without_idle == pytest.approx(size, rel=1e-8)
    idle = weights(105)
    idle["b_in"], idle["W_in"] = np.append(idle["b_in"], 1), np.pad(idle["W_in"], ((0, 0), (0, 1)))
    idle["W_out"] = np.pad(idle["W_out"], ((0, 1), (0, 0)))
    assert norms.size(forward_pass(idle, 105)).neurons == size.neurons  # written nowhere
    assert size.neurons == 3 + 2 + 7 + 2 * 7  # primes, the sign modulo 3, of 5, of 7
    assert size.parameters < 3000 and size.balanced < size.squares
    assert 10 - 1e-5 < size.margin < 10 + 1e-5
    twice = norms.size(forward_pass(norms.scale_logits(weights(105), 2.0), 105))
    assert twice.margin == pytest.approx(20, rel=1e-5)
    assert size.balanced < twice.balanced < 2 * size.balanced  # layers share the factor
