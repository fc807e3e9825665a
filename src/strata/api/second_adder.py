"""A network written by hand in which attention adds what the sum of two waves lacks.

Two waves of one phase add up to cos(α − s) + cos(β − s) = 2 cos(δ/2) cos(σ/2 − s), with σ = α + β
and δ = α − β, which is nothing where the angles are opposite. ``by_hand`` fills this hole with
doubled frequencies in the embedding; here two heads fill it, as they do in trained networks.

**Heads.** One of a pair gives a residue of angle α the score S cos α, the other −S cos α. What both
carry alike arrives as the sum over a and b; what they carry with opposite signs arrives as T times
its difference, with T = tanh(S (cos α − cos β)/2). For small S

    T (cos α − cos β) ≈ S sin²(δ/2) (1 − cos σ),  T (sin α − sin β) ≈ −S sin²(δ/2) sin σ,

which turns with σ, and is largest where the angles are opposite.

**Neurons.** Seven for each character, at phases s = 2πj/7, read

    cos(α − s) + cos(β − s) − T (u cos 2s (cos α − cos β) + v sin 2s (sin α − sin β)) + r cos 2s

and write (cos 2s, sin 2s), from which a constant is taken. u, v, r, the constant and the factor
have the least squared error over all pairs of units. Characters of odd order have no opposite
angles, so their neurons need the sum alone. All else is as in ``by_hand``.
"""

from functools import cache
from math import gcd
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from strata.api.by_hand import D_MLP, D_MODEL, HEADS, MARGIN, PHASES, Character, values
from strata.api.by_hand import waves as waves_of
from strata.architecture import TABLE
from strata.arithmetic import primefactors
from strata.inputs import InputError
from strata.store import Arrays

STEEP = 1.0  # S
FILLED = {5: (), 7: (2,), 11: (4,), 13: (4,)}  # frequencies of odd order, in addition to 1
EQUALS = 15.0  # the score of `=` is this far below those of residues


class Neurons(NamedTuple):
    """``Neurons`` are those of one character: what they read of the sums of its waves and of what a
    pair of heads adds, their biases, what they write, and the constant by which this is too
    large."""

    read_sum: Float[np.ndarray, "waves neurons"]
    read_pair: Float[np.ndarray, "waves neurons"]
    bias: Float[np.ndarray, " neurons"]
    write: Float[np.ndarray, "neurons waves"]
    constant: Float[np.ndarray, " waves"]

    @property
    def off(self) -> float:
        """Return how far a zero of an operand has to push the neurons so that none is on."""
        waves = np.sqrt(np.square(self.read_sum).sum(axis=0))
        pair = np.sqrt(np.square(self.read_pair).sum(axis=0)) * np.tanh(STEEP / 2)
        return float((waves + pair + np.abs(self.bias)).max())

    def product(self, alpha: np.ndarray, beta: np.ndarray) -> Float[np.ndarray, "... waves"]:
        """Return what is written for two units of these angles."""
        a, b = (waves_of(x, len(self.read_sum)) for x in (alpha, beta))
        turn = np.tanh(STEEP * (np.cos(alpha) - np.cos(beta)) / 2)[..., None]
        x = (a + b) @ self.read_sum + turn * (a - b) @ self.read_pair + self.bias
        return np.maximum(x, 0) @ self.write - self.constant


def phases() -> Float[np.ndarray, " neurons"]:
    """Return the phases s of the neurons of a character."""
    return 2 * np.pi * np.arange(PHASES) / PHASES


def angles(p: int, k: int) -> Float[np.ndarray, " units"]:
    """Return the angles of the units modulo p in the order of powers of the primitive root."""
    return 2 * np.pi * k * np.arange(p - 1) / (p - 1)


def sign_neurons() -> Neurons:
    """Return the neurons of a character of the values 1 and −1: χ(ab) = |χ(a) + χ(b)| − 1."""
    one = np.ones((2, 1))
    return Neurons(np.array([[1.0, -1.0]]), np.zeros((1, 2)), np.zeros(2), one, np.ones(1))


@cache
def sum_neurons(p: int, k: int) -> Neurons:
    """Return the neurons of a character of odd order, which read sums alone."""
    s = phases()
    read, write = waves_of(s, 2).T, waves_of(2 * s, 2)
    plain = Neurons(read, np.zeros_like(read), np.zeros(len(s)), write, np.zeros(2))
    alpha, beta = np.meshgrid(angles(p, k), angles(p, k), indexing="ij")
    y, exact = plain.product(alpha, beta), waves_of(alpha + beta, 2)
    return plain._replace(write=write * (y * exact).sum() / (y**2).sum())


@cache
def pair_neurons(p: int) -> Neurons:
    """Return the neurons of the character of frequency 1, with what a pair of heads adds."""
    s = phases()
    alpha, beta = np.meshgrid(angles(p, 1), angles(p, 1), indexing="ij")
    exact = waves_of(alpha + beta, 2)
    read, write = waves_of(s, 2).T, waves_of(2 * s, 2)

    def neurons(u: float, v: float, r: float) -> Neurons:
        pair = -np.stack([u * np.cos(2 * s), v * np.sin(2 * s)])
        unfitted = Neurons(read, pair, r * np.cos(2 * s), write, np.zeros(2))
        y = unfitted.product(alpha, beta)
        mean_y, mean = y.mean(axis=(0, 1)), exact.mean(axis=(0, 1))
        factor = ((y - mean_y) * (exact - mean)).sum() / ((y - mean_y) ** 2).sum()
        return unfitted._replace(write=factor * write, constant=factor * mean_y - mean)

    distance = np.abs(np.subtract.outer(np.arange(p - 1), np.arange(p - 1)))
    distance = np.minimum(distance, p - 1 - distance)

    def error(x: np.ndarray) -> float:
        y = neurons(*x).product(alpha, beta)
        vote = (y * exact).sum(axis=-1)
        votes = np.array([vote[distance == d].mean() for d in range(p // 2 + 1)])
        return float(((y - exact) ** 2).mean() + votes.var() / votes.mean() ** 2)

    starts = [(0.6, 0.0, 0.6), (1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (1.5, 1.5, 1.5)]
    ends = [minimize(error, x, method="Nelder-Mead", options={"xatol": 1e-4}) for x in starts]
    return neurons(*min(ends, key=lambda end: end.fun).x)


class Part(NamedTuple):
    """A ``Part`` is a character of one prime with its neurons; ``served`` says whether a pair of
    heads serves it."""

    p: int
    k: int
    neurons: Neurons
    served: bool


def parts(n: int) -> list[Part]:
    """Return the characters of every prime. Raises InputError where heads or frequencies do not
    suffice."""
    characters = list[Part]()
    for p in primefactors(n):
        if p == 3:
            characters.append(Part(3, 1, sign_neurons(), False))
        elif p > 3:
            if p not in FILLED:
                allowed = ", ".join(map(str, (2, 3, *FILLED)))
                raise InputError(f"n = {n}: {p} divides it; its primes must be of {allowed}")
            characters.append(Part(p, 1, pair_neurons(p), True))
            for k in FILLED[p]:
                assert (p - 1) // gcd(k, p - 1) % 2, f"{p}: frequency {k} is not of odd order"
                characters.append(Part(p, k, sum_neurons(p, k), False))
    if 2 * sum(x.served for x in characters) > HEADS:
        raise InputError(f"n = {n}: at most {HEADS // 2} of its primes may be larger than 3")
    return characters


def lead(p: int, characters: list[Part]) -> tuple[float, float]:
    """Return how far the right unit modulo p is ahead of every other at least, and its least
    score, over all pairs of units."""
    t = np.arange(p - 1)
    score = np.zeros((p - 1, p - 1, p - 1))
    for part in characters:
        theta = angles(p, part.k)
        alpha, beta = np.meshgrid(theta, theta, indexing="ij")
        written = part.neurons.product(alpha, beta)
        score += written @ waves_of(theta, written.shape[-1]).T
    right = (np.add.outer(t, t) % (p - 1))[..., None]
    right_score = np.take_along_axis(score, right, axis=-1)[..., 0]
    np.put_along_axis(score, right, -np.inf, axis=-1)
    return float((right_score - score.max(axis=-1)).min()), float(right_score.min())


def weights(n: int) -> Arrays:
    """Return the weights of the network, float32."""
    primes, characters = primefactors(n), parts(n)
    P = len(primes)
    zero = (np.arange(n)[:, None] % primes == 0).astype(np.float64)
    codes = [values(n, Character({x.p: x.k}), x.neurons.write.shape[1]) for x in characters]
    signals = np.concatenate([zero, *codes], axis=1)
    R = signals.shape[1]
    starts = P + np.cumsum([0, *(x.shape[1] for x in codes)])
    served = [i for i, x in enumerate(characters) if x.served]
    sums = R + np.arange(R)  # over a and b; then come the differences that pairs of heads add
    differences = 2 * R + 2 * np.arange(len(served))
    outputs = 2 * R + 2 * len(served) + np.arange(R)
    score = outputs[-1] + 1 + np.arange(len(served) + 1)  # of pairs of heads, of `=`
    d_head = D_MODEL // HEADS
    shapes = TABLE["transformer"].sizes(n, D_MODEL, HEADS, D_MLP)
    w = {name: np.zeros(shape) for name, shape in shapes.items()}

    factor = dict.fromkeys(primes, (1.0, 0.0))
    factor |= {p: lead(p, [x for x in characters if x.p == p]) for p in primes if p > 2}
    zeros = np.array([max(2 - right / least, 1.0) for least, right in factor.values()])
    units = [
        np.full(c.shape[1], 1 / factor[x.p][0]) for x, c in zip(characters, codes, strict=True)
    ]
    A = np.concatenate([zeros, *units])
    w["W_E"][:n, :R] = signals
    w["W_E"][n, outputs[:P]] = 1 / zeros
    w["W_E"][n, score[-1]] = 1

    # Scores: every head keeps away from `=`; a pair follows its character, with opposite signs.
    w["W_Q"][:, score[-1], 0], w["W_K"][:, score[-1], 0] = np.sqrt(d_head), -EQUALS
    for pair, i in enumerate(served):
        for head, side in ((2 * pair, 1.0), (2 * pair + 1, -1.0)):
            w["W_K"][head, starts[i], 0] = side * STEEP
    # Values: the first pair carries all signals alike, each pair its own with opposite signs.
    share = 1 + np.exp(-EQUALS) / 2
    pairs = max(len(served), 1)
    for signal in range(R):
        slot, pair = divmod(signal, pairs)
        for head in (2 * pair, 2 * pair + 1):
            w["W_V"][head, signal, slot] = share
            w["W_O"][head, slot, sums[signal]] = 1
    for pair, i in enumerate(served):
        for head, side in ((2 * pair, 1.0), (2 * pair + 1, -1.0)):
            for wave in range(2):
                slot = d_head - 1 - wave
                w["W_V"][head, starts[i] + wave, slot] = side * share
                w["W_O"][head, slot, differences[pair] + wave] = 1
    # Neurons: one for each prime, then those of each character.
    w["W_in"][sums[:P], np.arange(P)], w["b_in"][:P] = -1, 1
    w["W_out"][np.arange(P), outputs[:P]] = -1
    neuron = P
    for i, part in enumerate(characters):
        neurons, place = part.neurons, primes.index(part.p)
        neuron_slice = slice(neuron, neuron + len(neurons.bias))
        width = len(neurons.constant)
        columns = starts[i] + np.arange(width)
        w["W_in"][sums[columns], neuron_slice] = neurons.read_sum
        if part.served:
            first = differences[served.index(i)]
            w["W_in"][first : first + 2, neuron_slice] = neurons.read_pair
        w["W_in"][sums[place], neuron_slice] = -neurons.off
        w["b_in"][neuron_slice] = neurons.bias
        w["W_out"][neuron_slice, outputs[columns]] = neurons.write
        w["W_out"][place, outputs[columns]] -= neurons.constant
        neuron = neuron_slice.stop
    w["W_U"][outputs] = (MARGIN * A * (signals - signals.mean(axis=0))).T
    return {name: x.astype(np.float32) for name, x in w.items()}
