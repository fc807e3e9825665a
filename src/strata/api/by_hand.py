"""Write down a network that multiplies modulo a square-free n; nothing in it is trained or drawn.

**Characters.** Modulo a prime p a residue is 0 or g^t, with g the least primitive root. The zero is
z(a) = [p | a]; the character of frequency k is χ(a) = e^iθ, θ = 2πkt / (p − 1), or 0 where p
divides a. So z(ab) = 1 − ReLU(1 − z(a) − z(b)), and χ(ab) = χ(a) χ(b): angles add up.

**Embedding.** It has z of each prime, and χ and χ² of each character, as cosines and sines.

**Attention.** All heads give a and b the score 0 and `=` the score −AWAY, and carry (2 + e^−AWAY)
times the mean, so that the stream at `=` has the sums over a and b.

**Neurons.** There is one for each prime: ReLU(1 − z(a) − z(b)), which is 1 where p does not divide
ab, else 0. There are seven for each character, at the phases s = 2πj/7: ReLU(x(s) − z(a) − z(b))
with, for the angles α of a and β of b,

    x(s) = cos(α − s) + cos(β − s) + λ (cos 2(α − s) + cos 2(β − s))
         = 2 cos(δ/2) cos(σ/2 − s) + 2λ cos δ cos(σ − 2s),  σ = α + β,  δ = α − β.

They are off where p divides a or b, as then x < 1. A ReLU is half its argument and half its size,
and |cos u| = 2/π + 4/(3π) cos 2u − …; so Σ_s e^2is ReLU(x(s)) is near to e^iσ times 7 (2/(3π)
|cos(δ/2)| + λ/2 cos δ), which λ < 0 makes nearly constant: without χ² it is 0 at δ = π. So they
write w (cos 2s, sin 2s), near to χ(ab). λ and w are least squares on a grid of α and β. Modulo 3
the character is a sign, and χ(ab) = |χ(a) + χ(b)| − 1 takes two neurons, and the neuron of the
prime for −1.

**Unembedding.** The code φ(c) of a candidate is z of each prime and χ of each character, and its
logit is 10 φ̂(ab) · A (φ(c) − mean φ), with φ̂ what is written. A is diagonal. For each prime its
characters have the factor with which the right unit is ahead of every other by 1 at least. Then its
zero has the factor with which units and 0 are that far apart too, if the zero of φ̂ is less than
z(ab) by a certain number. This number is part of the embedding of `=`, so no logit needs a bias. A
wrong candidate is wrong modulo some prime, so the least margin of all pairs is 10.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import block_diag

from strata.architecture import TABLE
from strata.arithmetic import primefactors
from strata.monoid import JClass
from strata.store import Arrays

LARGEST = 1024
D_MODEL, HEADS, D_MLP = 128, 4, 512
AWAY, MARGIN, PHASES, GRID = 5.0, 10.0, 7, 60


class Character(NamedTuple):
    """A ``Character`` is the product of characters of these primes at these frequencies, 0 where
    one of the primes divides. ``halved_by`` is the prime that halves it in the embedding where it
    divides, 0 for none."""

    frequencies: dict[int, int]
    halved_by: int = 0


class Adder(NamedTuple):
    """An ``Adder`` is neurons that write χ(ab), from the sums over a and b of the waves of χ.
    ``offset`` is what the neuron of the prime writes in addition."""

    read: Float[np.ndarray, "waves neurons"]
    write: Float[np.ndarray, "neurons parts"]
    offset: float

    @property
    def parts(self) -> int:
        """Return how many functions it writes: a cosine, and a sine where there is one."""
        return self.write.shape[1]

    def product(self, theta: np.ndarray, other: np.ndarray) -> Float[np.ndarray, "... parts"]:
        """Return what is written for two units of these angles."""
        angles = waves(theta, len(self.read)) + waves(other, len(self.read))
        return np.maximum(angles @ self.read, 0) @ self.write + self.offset


SIGN = Adder(np.array([[1.0, -1]]), np.ones((2, 1)), -1.0)


def waves(theta: Float[np.ndarray, "..."], count: int) -> Float[np.ndarray, "... waves"]:
    """Return the first ``count`` of cos θ, sin θ, cos 2θ, sin 2θ."""
    functions = (np.cos(theta), np.sin(theta), np.cos(2 * theta), np.sin(2 * theta))
    return np.stack(functions[:count], axis=-1)


@cache
def adder() -> Adder:
    """Return the neurons whose λ, in hundredths, and w have the least squared error over a grid of
    pairs of angles."""
    theta = 2 * np.pi * np.arange(GRID) / GRID
    exact = waves(np.add.outer(theta, theta), 2)
    phases = waves(2 * np.pi * np.arange(PHASES) / PHASES, 4).T
    candidates: list[tuple[float, Adder]] = []
    for hundredths in range(50):
        double = -hundredths / 100
        candidate = Adder(phases * np.array([[1], [1], [double], [double]]), phases[2:].T, 0.0)
        x = candidate.product(theta[:, None], theta)
        w = (x * exact).sum() / (x**2).sum()
        error = ((w * x - exact) ** 2).sum()
        candidates.append((error, candidate._replace(write=w * candidate.write)))
    return min(candidates, key=lambda pair: pair[0])[1]


def adder_of(character: Character) -> Adder:
    """Return the neurons of a character: two for one with two values, else seven."""
    return SIGN if character.frequencies == {3: 1} else adder()


@cache
def frequencies(p: int) -> tuple[int, ...]:
    """Return the frequency 1 of a prime and the fewest others below (p − 1)/2, two at most, with
    Σ_k (1 − cos 2πkt/(p − 1)) at least 1 at every t ≠ 0. Among as many, those are chosen whose
    least sum is largest, and then the least ones.

    >>> [frequencies(p) for p in (2, 3, 5, 7, 11, 13, 113)]
    [(), (1,), (1,), (1, 2), (1, 3), (1, 3), (1, 6, 32)]
    """
    half = p // 2
    turns = 2 * np.pi * np.outer(np.arange(half + 1), np.arange(1, half + 1)) / (p - 1)
    distance = 1 - np.cos(turns)

    def widest(chosen: tuple[int, ...], k: np.ndarray) -> tuple[float, tuple[int, ...]]:
        """Add to these the one of k that makes the least sum largest, and return that sum first."""
        least = (distance[list(chosen)].sum(axis=0) + distance[k]).min(axis=1).round(9)
        return float(least.max()), (*chosen, int(k[least.argmax()]))

    if p == 2:
        return ()
    candidates = np.arange(2, half)
    choice = widest((), np.array([1]))
    if choice[0] < 1:
        choice = widest((1,), candidates)
    if choice[0] < 1:
        pairs = (widest((1, int(k)), candidates[i + 1 :]) for i, k in enumerate(candidates[:-1]))
        choice = max(pairs, key=lambda pair: pair[0])
    return choice[1]


@cache
def lead(p: int, ks: tuple[int, ...]) -> tuple[float, float]:
    """Return how far at least the right unit is ahead of another, and its least score, for products
    of two units modulo p and characters of these frequencies, each of factor 1."""
    order, adding = p - 1, SIGN if p == 3 else adder()
    theta = 2 * np.pi * np.outer(ks, np.arange(order)) / order
    code = np.concatenate(waves(theta, adding.parts), axis=1)
    least, score = np.inf, np.inf
    for t in range(order):
        b = np.arange(t, order)
        written = np.concatenate(adding.product(theta[:, t, None], theta[:, b]), axis=1)
        scores, q = written @ code.T, (t + b) % order
        right = scores[b - t, q].copy()
        scores[b - t, q] = -np.inf
        least, score = min(least, (right - scores.max(axis=1)).min()), min(score, right.min())
    return float(least), float(score)


def characters(
    n: int, gate: tuple[int, int] | None = None, mixed: tuple[int, int] | None = None
) -> list[Character]:
    """Return the characters of every prime. For a gate (r, p) the last one of p is halved where r
    divides; for mixed (p, r) the last one of p has the frequency 1 modulo r as well."""
    by_prime = {p: [Character({p: k}) for k in frequencies(p)] for p in primefactors(n)}
    if gate:
        r, p = gate
        by_prime[p][-1] = by_prime[p][-1]._replace(halved_by=r)
    if mixed:
        p, r = mixed
        by_prime[p][-1] = Character(by_prime[p][-1].frequencies | {r: 1})
    return [character for chis in by_prime.values() for character in chis]


def values(n: int, character: Character, count: int) -> Float[np.ndarray, "n waves"]:
    """Return the first ``count`` waves of χ at every residue."""
    theta, on = np.zeros(n), np.ones((n, 1))
    for p, k in character.frequencies.items():
        t = np.zeros(p)
        t[JClass(p, 1).elements] = np.arange(p - 1)
        theta += 2 * np.pi * k * t[np.arange(n) % p] / (p - 1)
        on *= np.arange(n)[:, None] % p > 0
    return on * waves(theta, count)


def neurons(
    primes: list[int], chis: list[Character]
) -> tuple[Float[np.ndarray, "signals neurons"], Float[np.ndarray, "neurons functions"]]:
    """Return what the neurons read of the sums over a and b, first those of the primes, and what
    they write. A neuron of a character is off where a prime of it divides, as it reads less than 1
    of one unit."""
    adders = [adder_of(x) for x in chis]
    read, write = (
        np.asarray(block_diag(-np.eye(len(primes)), *parts))
        for parts in ([x.read for x in adders], [x.write for x in adders])
    )
    neuron = part = len(primes)
    for character, adding in zip(chis, adders, strict=True):
        columns, rows = slice(neuron, neuron + len(adding.write)), slice(part, part + adding.parts)
        for p in character.frequencies:
            read[primes.index(p), columns] = -1
        write[primes.index(next(iter(character.frequencies))), rows] += adding.offset
        neuron, part = columns.stop, rows.stop
    return read, write


def factors(
    primes: list[int], chis: list[Character]
) -> tuple[Float[np.ndarray, " functions"], Float[np.ndarray, " primes"]]:
    """Return A, and by how much the zeros of φ̂ are less than those of ab. Margins count on
    characters of one prime, halved or not."""
    margins = dict.fromkeys(primes, (1.0, 0.0))  # of a prime without characters
    for p in primes:
        ks = tuple(x.frequencies[p] for x in chis if [*x.frequencies] == [p])
        if ks:
            margins[p] = lead(p, ks)
    zeros = np.array([max(2 - score / least, 1) for least, score in margins.values()])
    units = [np.full(adder_of(x).parts, 1 / margins[next(iter(x.frequencies))][0]) for x in chis]
    return np.concatenate([zeros, *units]), 1 - 1 / zeros


def weights(
    n: int, gate: tuple[int, int] | None = None, mixed: tuple[int, int] | None = None
) -> Arrays:
    """Return the weights in float32, with one gate or one mixed character where that is asked for.
    Its prime p must have two frequencies, and both primes divide n."""
    primes, chis = primefactors(n), characters(n, gate, mixed)
    zero = np.arange(n)[:, None] % primes == 0
    signals, code = (
        np.concatenate([zero, *(values(n, x, count(adder_of(x))) for x in chis)], axis=1)
        for count in (lambda adding: len(adding.read), lambda adding: adding.parts)
    )
    halved = np.repeat([x.halved_by for x in chis], [len(adder_of(x).read) for x in chis])
    for r in {*halved.tolist()} - {0}:
        signals[np.arange(n) % r == 0, len(primes) :] /= np.where(halved == r, 2, 1)
    (read, write), (A, shift) = neurons(primes, chis), factors(primes, chis)
    (R, N), P, d_head = read.shape, len(primes), D_MODEL // HEADS
    sums, outputs, score = slice(R, 2 * R), slice(2 * R, 2 * R + len(A)), 2 * R + len(A)
    shapes = TABLE["transformer"].sizes(n, D_MODEL, HEADS, D_MLP)
    w = {name: np.zeros(shape) for name, shape in shapes.items()}
    w["W_E"][:n, :R], w["W_E"][n, outputs][:P], w["W_E"][n, score] = signals, 1 - shift, 1
    w["W_Q"][:, score, 0], w["W_K"][:, score, 0] = AWAY * np.sqrt(d_head), -1
    slot, head = np.divmod(np.arange(R), HEADS)
    w["W_V"][head, np.arange(R), slot] = 2 + np.exp(-AWAY)
    w["W_O"][head, slot, R + np.arange(R)] = 1
    w["W_in"][sums, :N], w["b_in"][:P], w["W_out"][:N, outputs] = read, 1, write
    w["W_U"][outputs] = (MARGIN * A * (code - code.mean(axis=0))).T
    return {name: x.astype(np.float32) for name, x in w.items()}
