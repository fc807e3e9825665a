"""The network that is written down answers every pair, and each part does what its page says."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from sympy import primefactors

import strata
from strata.api import by_hand
from strata.api.by_hand import AWAY, weights
from strata.measure.activations import answers, forward

SQUARE_FREE = [n for n in range(2, 80) if n == prod(primefactors(n))]
N = 105


def all_right(n: int, w: dict[str, np.ndarray]) -> bool:
    """Whether all pairs are answered rightly; neurons that write nothing are left out."""
    active = w["W_out"].any(axis=1)
    w = w | {"W_in": w["W_in"][:, active], "b_in": w["b_in"][active], "W_out": w["W_out"][active]}
    a, b = np.triu_indices(n)
    return bool((answers(forward(w, a, b).logits) == a * b % n).all())


def chi(n: int, p: int, k: int) -> np.ndarray:
    """Return the character by its definition, from the powers of the least primitive root."""
    powers = next(x for g in range(1, p) if len({*(x := [pow(g, t, p) for t in range(p - 1)])})
                  == p - 1)  # fmt: skip
    values = np.zeros(p, dtype=complex)
    values[powers] = np.exp(2j * np.pi * k * np.arange(p - 1) / (p - 1))
    return values[np.arange(n) % p]


def characters(n: int) -> list[np.ndarray]:
    return [chi(n, p, k) for p in primefactors(n) for k in by_hand.frequencies(p)]


def run(model):
    """Return all pairs with the activations at `=`, and where the code is in the stream."""
    a, b = np.divmod(np.arange(model.n**2), model.n)
    _, cache = model.run_with_cache(a, b)
    return a, b, cache, np.flatnonzero(model.W_U.numpy().any(axis=1))


def test_every_pair_is_right_for_every_square_free_n():
    assert not [n for n in SQUARE_FREE if not all_right(n, weights(n))]


def test_it_is_a_model_of_the_trained_shape_as_all_others():
    model = strata.by_hand(N)
    assert isinstance(model, strata.Transformer) and model.n == N
    assert model.W_in.shape == (128, 512) and model.W_Q.shape == (4, 128, 32)
    assert model.accuracy() == 1 and model.without(prime=7).accuracy(7) < 0.5


def test_attention_is_equal_on_a_and_b_and_adds_up_their_embeddings():
    model = strata.by_hand(N)
    a, b, cache, _ = run(model)
    to_a, to_b, to_equals = (cache["pattern"][:, :, 0, i].numpy() for i in range(3))
    np.testing.assert_array_equal(to_a, to_b)
    np.testing.assert_allclose(to_equals, np.exp(-AWAY) / (2 + np.exp(-AWAY)), rtol=1e-4)
    W_E, attn_out = model.W_E.numpy()[:N], cache["attn_out"][:, 0].numpy()
    read = W_E.any(axis=0)
    columns = attn_out.any(axis=0)
    np.testing.assert_allclose(attn_out[:, columns], (W_E[a] + W_E[b])[:, read], atol=1e-5)


def test_a_neuron_says_of_each_prime_that_it_does_not_divide_and_the_others_add_angles():
    model, primes = strata.by_hand(N), primefactors(N)
    a, b, cache, _ = run(model)
    post = cache["post"][:, 0].numpy()
    active = np.flatnonzero(post.any(axis=0))
    divides = (a * b)[:, None] % primes == 0
    np.testing.assert_allclose(post[:, :3], ~divides, atol=1e-5)
    start, double = 3, by_hand.adder().read[2, 0]
    phases = np.exp(-2j * np.pi * np.arange(7) / 7)
    for p, x in zip((3, 5, 7, 7), characters(N), strict=True):
        sums = x[a] + x[b]
        if p == 3:
            pre = np.real(np.stack([sums, -sums], axis=1))
        else:
            squares = x[a] ** 2 + x[b] ** 2
            pre = np.real(sums[:, None] * phases + double * squares[:, None] * phases**2)
        alive = ~divides[:, primes.index(p), None]
        neurons = post[:, start : start + pre.shape[1]]
        np.testing.assert_allclose(neurons, np.maximum(pre, 0) * alive, atol=1e-5)
        start += pre.shape[1]
    assert [*active] == [*range(start)]


@pytest.mark.parametrize("n", [30, 113])
def test_the_last_residual_is_the_code_of_the_product_but_for_the_error_of_angles(n):
    model = strata.by_hand(n)
    a, b, cache, code_axes = run(model)
    # zeros of all primes, then the characters, real ones as one function
    zeros = [np.arange(n) % p == 0 for p in primefactors(n)]
    waves = [x for y in characters(n) for x in (np.real(y), np.imag(y)) if np.abs(x).max() > 1e-9]
    code, P = np.stack([*zeros, *waves], axis=1).astype(float), len(zeros)
    written = cache["resid_post"][:, 0].numpy()[:, code_axes]
    err = written - code[a * b % n]
    np.testing.assert_allclose(err[:, :P], np.broadcast_to(err[0, :P], err[:, :P].shape), atol=1e-5)
    assert np.abs(err[:, P:]).max() < 0.4 and (err[:, P:] ** 2).mean() < 0.2**2
    assert not model.b_U.any() and not model.b_out.any()
    W_U = model.W_U.numpy()[code_axes].T
    centred = code - code.mean(axis=0)
    A = (W_U * centred).sum(axis=0) / (centred**2).sum(axis=0)
    np.testing.assert_allclose(W_U, A * centred, atol=1e-4)


def test_without_the_doubled_angles_some_pairs_are_wrong():
    n, w = 143, weights(143)
    signals = np.flatnonzero(w["W_O"].any(axis=(0, 1)))
    doubled = signals[2:].reshape(-1, 4)[:, 2:]  # after two zeros four waves of each character
    w["W_in"][doubled] = 0
    assert not all_right(n, w)


def test_the_constants_of_the_neurons_have_the_least_squared_error():
    theta = 2 * np.pi * np.arange(90) / 90  # not the grid that they come from
    exact, adder = by_hand.waves(np.add.outer(theta, theta), 2), by_hand.adder()

    def error(double: float, w: float) -> float:
        read = adder.read * np.array([[1], [1], [double], [double]])
        product = adder._replace(read=read, write=w * adder.write).product(theta[:, None], theta)
        return float(((product - exact) ** 2).sum())

    minimum = error(1, 1)
    assert all(error(x, y) > minimum for x, y in ((1, 0.99), (1, 1.01), (0.9, 1), (1.1, 1)))


@pytest.mark.parametrize("p", [7, 23])
def test_frequencies_are_the_fewest_that_tell_units_apart_best(p):
    t = np.arange(1, p - 1)
    gaps = {
        (1, *more): (1 - np.cos(2 * np.pi * np.outer((1, *more), t) / (p - 1))).sum(axis=0).min()
        for size in range(3)
        for more in combinations(range(2, p // 2), size)
    }
    fewest = next(
        size for size in (1, 2, 3)
        if size == 3 or max(x for k, x in gaps.items() if len(k) == size) >= 1 - 1e-9
    )  # fmt: skip
    best = max(x for k, x in gaps.items() if len(k) == fewest)
    frequencies = by_hand.frequencies(p)
    assert frequencies == next(k for k, x in gaps.items() if len(k) == fewest and x > best - 1e-9)


def test_a_gate_weakens_a_character_where_another_prime_divides():
    n, r, p = 105, 3, 7
    w = weights(n, gate=(r, p))
    assert all_right(n, w)
    written, q = written_code(w, n)
    gated, pure = written[:, -2:], chi(n, p, by_hand.frequencies(p)[-1])[q]
    pure = np.stack([np.real(pure), np.imag(pure)], axis=1)
    on, off = q % r > 0, q % r == 0
    assert np.abs(gated - pure)[on].max() < 0.4
    slope = [(gated * pure)[x].sum() / (pure**2)[x].sum() for x in (on, off)]
    assert abs(slope[0] - 1) < 0.05 and slope[1] < 0.9


def test_a_mixed_character_is_one_of_two_primes():
    n, p, r = 105, 7, 5
    w = weights(n, mixed=(p, r))
    assert all_right(n, w)
    written, q = written_code(w, n)
    x = (chi(n, p, by_hand.frequencies(p)[-1]) * chi(n, r, 1))[q]
    assert np.abs(written[:, -2:] - np.stack([np.real(x), np.imag(x)], axis=1)).max() < 0.4


def written_code(w, n):
    """Return what is written of the code for all pairs, and their products."""
    a, b = np.divmod(np.arange(n * n), n)
    out = forward(w | {"W_U": np.eye(128, dtype=np.float32), "b_U": np.zeros(128)}, a, b).logits
    return out[:, w["W_U"].any(axis=1)], a * b % n


BAD = {
    12: "n = 12: 2² divides it; must be a square-free integer from 2 to 1024",
    1: "n = 1: must be a square-free integer from 2 to 1024",
    1027: "n = 1027: must be",
    10.5: "n = 10.5: must be",
    "x": "n = 'x': must be",
}


def test_with_attention_one_of_each_pair_of_heads_sees_what_the_other_does_not():
    """Check that one weighs a as the other weighs b, as their scores are opposite."""
    model = strata.by_hand(77, attention=True)
    assert model.accuracy() == 1 and model.without(prime=7).accuracy(7) < 0.5
    pattern = run(model)[2]["pattern"][:, :, 0].numpy()  # pairs heads 3
    assert np.ptp(pattern[:, 0, 0]) > 0.4
    np.testing.assert_allclose(pattern[:, 0, 0], pattern[:, 1, 1], atol=1e-5)
    with pytest.raises(strata.InputError, match=r"n = 17: "):
        strata.by_hand(17, attention=True)


@pytest.mark.parametrize("n", [2, 30, 105, 143])
def test_a_thrifty_network_sees_only_the_operand_that_a_prime_divides(n):
    model = strata.by_hand(n, thrifty=True)
    assert model.accuracy() == 1
    pattern = run(model)[2]["pattern"][:, :, 0, :2].numpy().reshape(n, n, -1, 2)
    for head, p in enumerate(primefactors(n)):
        unit = next(x for x in range(n) if x % p)
        np.testing.assert_allclose(pattern[0, unit, head], [1, 0], atol=0.01)
        np.testing.assert_allclose(pattern[unit, unit, head], 0.5, atol=0.01)
    with pytest.raises(strata.InputError, match="give one"):
        strata.by_hand(n, attention=True, thrifty=True)


@pytest.mark.parametrize("n", BAD)
def test_what_cannot_be_written_down_is_refused_in_one_line(n):
    with pytest.raises(strata.InputError, match=rf"\A{BAD[n]}.*\Z"):
        strata.by_hand(n)
