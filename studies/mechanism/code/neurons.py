"""Neurons by prime: each activation as a function of a and b modulo one prime power.

A neuron's own prime power Q is the one whose means over the pairs with one (a mod Q, b mod Q)
explain most of its variance over all n² pairs. Definitions and controls: criteria.md.

A *simple* neuron is ReLU(const + g(a) + g′(b)) with g(a) = A cos(2π Σ_j k_j t_j(a)/o_j − s) where a
is a unit modulo Q, t its coordinates in (Z/Q)^× and o their orders, and one value for each p-adic
valuation above 0; g′ likewise: McCracken et al., 2025 (arXiv:2505.18266). The pairs are a complete
design, so the best g is the projection of the mean over b.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure.fourier import conjugate
from strata.monoid import JClass, chi, frequencies, prime_powers
from studies.mechanism.code.main_effects import effects, functions
from studies.mechanism.code.pairs import Pairs

NEURONS = 64  # at a time

Means = Float[np.ndarray, "Q Q some"]


class Neurons(NamedTuple):
    """What each neuron reads over all pairs, before ReLU: the mean, the mean over b for each a and
    over a for each b, both less the mean, and the variance; the variance of its activation, and
    what the means of each prime power explain of that."""

    powers: tuple[int, ...]
    mean: Float[np.ndarray, " d_mlp"]
    of_a: Float[np.ndarray, "n d_mlp"]
    of_b: Float[np.ndarray, "n d_mlp"]
    read: Float[np.ndarray, " d_mlp"]
    variance: Float[np.ndarray, " d_mlp"]
    explained: Float[np.ndarray, "powers d_mlp"]

    @property
    def own(self) -> Int[np.ndarray, " d_mlp"]:
        """The number of the prime power that each works for."""
        return self.explained.argmax(axis=0)

    def share(self, power: Int[np.ndarray, " d_mlp"]) -> float:
        """How much of all variance is explained by one prime power for each neuron."""
        mine = np.take_along_axis(self.explained, power[None], axis=0)
        return float(mine.sum() / (self.variance.sum() or 1))

    @property
    def additive(self) -> float:
        """The share of the variance of what neurons read that is const + g(a) + g′(b)."""
        of_sum = energy(self.of_a) + energy(self.of_b)
        return float(of_sum.sum() / self.read.sum())


def energy(x: Float[np.ndarray, "n d_mlp"]) -> Float[np.ndarray, " d_mlp"]:
    """The mean square of each column."""
    return (x**2).mean(axis=0)


def squares(of: Pairs) -> Iterator[tuple[slice, Float[np.ndarray, "n n some"]]]:
    """What some neurons read, for all (a, b), and some more, until all have been."""
    pair = np.zeros((of.n, of.n), dtype=np.int64)
    pair[of.b, of.a] = np.arange(len(of.a))  # then (a, b): where b, a is a pair too, it is its own
    pair[of.a, of.b] = np.arange(len(of.a))
    for start in range(0, of.before.shape[1], NEURONS):
        some = slice(start, start + NEURONS)
        yield some, of.before[:, some][pair]


def member(n: int, Q: int) -> Float[np.ndarray, "n Q"]:
    """1 where a ≡ r modulo Q."""
    return np.equal.outer(np.arange(n) % Q, np.arange(Q)).astype(np.float64)


def means(x: Float[np.ndarray, "n n some"], of: Float[np.ndarray, "n Q"]) -> Means:
    """The mean over the pairs with residues r of a and s of b, where all residues are as common."""
    half = np.tensordot(of / of.sum(axis=0), x, axes=(0, 0))
    return np.tensordot(of / of.sum(axis=0), half, axes=(0, 1)).swapaxes(0, 1)


def variances(
    of: Pairs, relabelled: Int[np.ndarray, " n"] | None = None
) -> Float[np.ndarray, "powers d_mlp"]:
    """The variance that each prime power explains; with the residues relabelled, if told."""
    order = np.arange(of.n) if relabelled is None else relabelled
    members = [member(of.n, Q)[order] for Q in prime_powers(of.n)]
    found = np.zeros((len(members), of.before.shape[1]))
    for some, before in squares(of):
        active = np.maximum(before, 0)
        found[:, some] = [means(active, x).var(axis=(0, 1)) for x in members]
    return found


def relabelled(of: Pairs, found: Neurons, draws: int, rng: np.random.Generator) -> float:
    """The largest share of own prime powers where the residues have each other's labels."""
    drawn = [variances(of, rng.permutation(of.n)) for _ in range(draws)]
    return max(found._replace(explained=x).share(x.argmax(axis=0)) for x in drawn)


def measured(of: Pairs) -> Neurons:
    """The moments of all neurons."""
    width = of.before.shape[1]
    mean, of_a, of_b = np.zeros(width), np.zeros((of.n, width)), np.zeros((of.n, width))
    read, variance = np.zeros(width), np.zeros(width)
    for some, before in squares(of):
        mean[some], read[some] = before.mean(axis=(0, 1)), before.var(axis=(0, 1))
        of_a[:, some], of_b[:, some] = before.mean(axis=1), before.mean(axis=0)
        variance[some] = np.maximum(before, 0).var(axis=(0, 1))
    about = of_a - mean, of_b - mean, read, variance
    return Neurons(prime_powers(of.n), mean, *about, variances(of))


def replaced(
    of: Pairs,
    power: Int[np.ndarray, " d_mlp"],
    change: Callable[[Means], Means] = lambda x: x,
) -> Float[np.ndarray, "pairs d_mlp"]:
    """The activations of all pairs, each neuron's the means of one prime power, changed if told."""
    hidden, powers = np.zeros_like(of.before), prime_powers(of.n)
    for some, before in squares(of):
        for i in np.unique(power[some]):
            mine = np.arange(of.before.shape[1])[some][power[some] == i]
            x = np.maximum(before[:, :, power[some] == i], 0)
            table = change(means(x, member(of.n, powers[i])))
            hidden[:, mine] = table[of.a % powers[i], of.b % powers[i]]
    return hidden


def no_interaction(x: Means) -> Means:
    """The nearest const + g(r) + g′(s)."""
    of_a, of_b = x.mean(axis=1, keepdims=True), x.mean(axis=0, keepdims=True)
    return of_a + of_b - x.mean(axis=(0, 1))


class Space(NamedTuple):
    """Functions of a mod Q that sum to 0: an orthonormal basis."""

    Q: int
    basis: Float[np.ndarray, "Q dimension"]

    def project(self, x: Float[np.ndarray, "n d_mlp"]) -> Float[np.ndarray, "n d_mlp"]:
        """The nearest functions to those in the columns of x."""
        near = self.basis @ (self.basis.T @ effects(x, self.Q))
        return np.tile(near, (len(x) // self.Q, 1))


def spaces(n: int) -> list[Space]:
    """That of simple neurons for every Q and every k up to its sign."""
    found = []
    for Q in prime_powers(n):
        J, a = JClass(Q, 1), np.arange(Q)
        parts = np.unique(np.gcd(a, Q))
        valuations = (np.gcd(a, Q)[:, None] == parts).astype(float)
        pairs = conjugate(J.orders)
        chosen = [i for i, minus in enumerate(pairs) if 0 < i <= minus] or [0]
        for k in frequencies(J.orders)[chosen]:
            waves = np.zeros((Q, 2))
            wave = chi(k, J.orders)
            waves[J.elements] = np.stack([np.real(wave), np.imag(wave)], axis=1)
            columns = np.concatenate([valuations, waves], axis=1)
            found.append(Space(Q, functions(columns - columns.mean(axis=0))))
    return found


def one_frequency(of: Pairs, found: Neurons) -> Float[np.ndarray, "pairs d_mlp"]:
    """The activations of all pairs, each neuron the simple one that explains most of what it
    reads."""
    a, b, candidates = found.of_a, found.of_b, spaces(of.n)
    explained = [energy(x.project(a)) + energy(x.project(b)) for x in candidates]
    chosen = np.argmax(explained, axis=0)
    of_a, of_b = np.zeros_like(a), np.zeros_like(b)
    for i in np.unique(chosen):
        here, space = chosen == i, candidates[i]
        of_a[:, here], of_b[:, here] = space.project(a[:, here]), space.project(b[:, here])
    return np.maximum(found.mean + of_a[of.a] + of_b[of.b], 0)
