"""Neurons by prime: each activation as a function of a and b modulo one prime power.

A neuron's own prime power Q is the one whose means over the pairs with one (a mod Q, b mod Q)
explain most of its variance over all n² pairs. Definitions and controls: criteria.md.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.monoid import prime_powers
from studies.mechanism.code import simple_neurons
from studies.mechanism.code.pairs import Pairs, Score
from studies.mechanism.code.simple_neurons import Fit, Read, Space

NEURONS = 64  # at a time

Means = Float[np.ndarray, "Q Q some"]


class Neurons(NamedTuple):
    """What each neuron's activation varies by, and by the means of each prime power; what it reads
    varies by, and its main effects, the means over b for each a and over a for each b."""

    powers: tuple[int, ...]
    variance: Float[np.ndarray, " d_mlp"]
    explained: Float[np.ndarray, "powers d_mlp"]
    read: Read

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
        return float(Fit(self.read.of_a, self.read.of_b).variance.sum() / self.read.variance.sum())


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
    variance, read = np.zeros(width), np.zeros(width)
    for some, before in squares(of):
        mean[some], read[some] = before.mean(axis=(0, 1)), before.var(axis=(0, 1))
        of_a[:, some], of_b[:, some] = before.mean(axis=1), before.mean(axis=0)
        variance[some] = np.maximum(before, 0).var(axis=(0, 1))
    reads = Read(mean, of_a - mean, of_b - mean, read)
    return Neurons(prime_powers(of.n), variance, variances(of), reads)


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


class Simple(NamedTuple):
    """The network of simple neurons: a wave of one frequency and a value for each valuation."""

    score: Score
    share: float  # of the variance of what neurons read
    numbers: float  # for each neuron


def simple(of: Pairs, found: Neurons) -> Simple:
    """Each neuron ReLU(const + g(a) + g′(b)), where g and g′ have the best single frequency of one
    prime power."""
    spaces: list[Space] = simple_neurons.spaces(of.n)
    chosen = simple_neurons.ranking(found.read, spaces)[0]
    near = simple_neurons.fitted(found.read, spaces, chosen)
    numbers = np.array([1 + 2 * space.basis.shape[1] for space in spaces])[chosen]
    share = float(near.variance.sum() / found.read.variance.sum())
    hidden = np.maximum(found.read.mean + near.of_a[of.a] + near.of_b[of.b], 0)
    return Simple(of.changed(of.after(hidden)), share, float(numbers.mean()))
