"""Balanced weights compute the same and are the smallest; sizes of a network written down."""

import numpy as np
import pytest

from strata.api.by_hand import weights
from strata.patch.patching import passed
from studies.mechanism import by_hand
from studies.mechanism.code import norms
from studies.mechanism.stages.by_hand import writing

MODELS = {
    "written down": (weights(15), 15),
    "random": (by_hand.random(12, "transformer", 2), 12),
}


def logits(w, n):
    of = passed(w, n)
    return of.logits(of.residual)


@pytest.mark.parametrize("name", MODELS)
def test_balanced_weights_have_the_same_logits_and_no_factor_makes_them_smaller(name):
    w, n = MODELS[name]
    found = norms.balanced(w)
    np.testing.assert_allclose(logits(found, n), logits(w, n), rtol=1e-9, atol=1e-9)
    assert norms.squares(found) < 0.9 * norms.squares(w)
    rng = np.random.default_rng(0)
    by = {axes: np.exp(rng.normal(size=20000)) for axes, *_ in norms.FACTORS}
    other = {name: x.astype(np.float64) for name, x in w.items()}
    for axes, *both in norms.FACTORS:
        for names, sign in zip(both, (1, -1), strict=True):
            for x in names:
                sizes = [other[x].shape[norms.AXES[x].index(axis)] for axis in axes]
                factor = by[axes][: np.prod(sizes)].reshape(sizes) ** sign
                other[x] = np.einsum(f"{norms.AXES[x]},{axes}->{norms.AXES[x]}", other[x], factor)
    assert norms.squares(other) > norms.squares(found)
    again = norms.squares(norms.balanced(other))
    assert again == pytest.approx(norms.squares(found), rel=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_a_given_norm_have_the_logits_by_one_factor(name):
    w, n = MODELS[name]
    total = 1.5 * norms.squares(norms.balanced(w))
    found = norms.of_squares(w, total)
    assert norms.squares(found) == pytest.approx(total, rel=1e-6)
    before, after = logits(w, n), logits(found, n)
    factor = (before * after).sum() / (before**2).sum()
    assert factor > 1
    np.testing.assert_allclose(after, factor * before, rtol=1e-7, atol=1e-7 * np.abs(after).max())


def test_a_network_written_down_has_few_neurons_and_the_margin_that_it_is_written_for():
    found = norms.size(passed(weights(105), 105))
    without = norms.size(passed(writing(weights(105)), 105))
    assert without == pytest.approx(found, rel=1e-8)
    idle = weights(105)
    idle["b_in"], idle["W_in"] = np.append(idle["b_in"], 1), np.pad(idle["W_in"], ((0, 0), (0, 1)))
    idle["W_out"] = np.pad(idle["W_out"], ((0, 1), (0, 0)))
    assert norms.size(passed(idle, 105)).neurons == found.neurons  # written nowhere
    assert found.neurons == 3 + 2 + 7 + 2 * 7  # primes, the sign modulo 3, of 5, of 7
    assert found.parameters < 3000 and found.balanced < found.squares
    assert 10 - 1e-5 < found.margin < 10 + 1e-5
    twice = norms.size(passed(norms.multiplied(weights(105), 2.0), 105))
    assert twice.margin == pytest.approx(20, rel=1e-5)
    assert found.balanced < twice.balanced < 2 * found.balanced  # layers share the factor
