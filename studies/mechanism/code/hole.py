"""Statement 6 of criteria-3.md: with attention fixed at its mean votes fall as |cos(kδ/2)|.

The vote of a character χ is how much of χ(ab) the logits hold, over the pairs of units modulo its
prime whose logarithms differ by δ.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.arithmetic import factorint
from strata.monoid import JClass
from strata.patch.patching import ForwardPass
from studies.mechanism.code.records import Label, Part
from studies.mechanism.code.residues import values

SMALLEST = 5  # the smallest prime that has a character with an angle
LARGE = 11  # from here on a prime has enough values of δ to be reported apart
COUNTS = 0.2  # a character counts from this share of the largest amplitude on


class Votes(NamedTuple):
    """The vote of one character by δ: with mean attention and as it is, and how many pairs each δ
    has."""

    p: int
    k: int
    at_mean: Float[np.ndarray, " deltas"]
    unchanged: Float[np.ndarray, " deltas"]
    pairs: Float[np.ndarray, " deltas"]

    @property
    def law(self) -> Float[np.ndarray, " deltas"]:
        """Return |cos(kδ/2)| with δ an angle."""
        delta = np.arange(len(self.unchanged))
        return np.abs(np.cos(np.pi * self.k * delta / (self.p - 1)))

    @property
    def amplitude(self) -> float:
        """Return the mean vote with attention over all pairs."""
        return float(self.pairs @ self.unchanged / self.pairs.sum())

    @property
    def correlation(self) -> float:
        """Return the correlation over δ of the vote at mean attention with the law."""
        return float(np.corrcoef(self.at_mean, self.law)[0, 1])

    def variation(self, votes: Float[np.ndarray, " deltas"]) -> float:
        """Return the standard deviation of votes over their mean, over pairs."""
        mean = np.average(votes, weights=self.pairs)
        return float(np.sqrt(np.average((votes - mean) ** 2, weights=self.pairs)) / mean)


def logarithms(p: int) -> Int[np.ndarray, " p"]:
    """Return the logarithm of each unit modulo p to the least primitive root, −1 for 0."""
    logarithm = np.full(p, -1)
    logarithm[JClass(p, 1).elements] = np.arange(p - 1)
    return logarithm


def votes_of(n: int, p: int, k: int, unchanged: ForwardPass, at_mean: ForwardPass) -> Votes:
    """Average the vote of a character over the pairs with each difference of logarithms."""
    a, b = (logarithms(p)[x % p] for x in (unchanged.a, unchanged.b))
    units = (a >= 0) & (b >= 0)
    difference = np.abs(a - b)[units]
    delta = np.minimum(difference, p - 1 - difference)
    pairs = np.bincount(delta, unchanged.count[units])
    chi = values(n, (Part(p, 0, (k,)),))

    def by_delta(network: ForwardPass) -> Float[np.ndarray, " deltas"]:
        weights = network.weights
        inner = network.residual @ (weights["W_U"] @ chi.conj()) + weights["b_U"] @ chi.conj()
        vote = np.real(chi[network.label] * inner)[units] / n
        return np.bincount(delta, unchanged.count[units] * vote) / pairs

    return Votes(p, k, by_delta(at_mean), by_delta(unchanged), pairs)


def all_votes(unchanged: ForwardPass, at_mean: ForwardPass) -> list[Votes]:
    """Return the votes of every character with an angle of the primes that divide n once."""
    n = unchanged.n
    return [
        votes_of(n, p, k, unchanged, at_mean)
        for p, power in factorint(n).items()
        if power == 1 and p >= SMALLEST
        for k in range(1, (p - 1) // 2)
    ]


def votes_that_count(votes: list[Votes], heads: tuple[tuple[Label, ...], ...]) -> list[Votes]:
    """Return the votes whose amplitude is large enough and by whose character a head scores."""
    if not votes:
        return []
    scored = {label for labels in heads for label in labels[:1]}
    least = COUNTS * max(x.amplitude for x in votes)
    return [x for x in votes if x.amplitude >= least and any(matches(label, x) for label in scored)]


def matches(label: Label, votes: Votes) -> bool:
    """Whether a label is the character of these votes, or its conjugate."""
    frequencies = {(votes.k,), (votes.p - 1 - votes.k,)}
    return len(label) == 1 and label[0].p == votes.p and label[0].k in frequencies


class Hole(NamedTuple):
    """Means over the characters that count, weighted by amplitude; NaN where none counts."""

    correlation: float
    variation_at_mean: float
    variation: float
    count: int


def hole(votes: list[Votes]) -> Hole:
    """Average what statement 6 asks for."""
    if not votes:
        return Hole(nan, nan, nan, 0)
    weight = np.array([x.amplitude for x in votes])

    def mean(numbers: list[float]) -> float:
        return float(weight @ numbers / weight.sum())

    return Hole(
        mean([x.correlation for x in votes]),
        mean([x.variation(x.at_mean) for x in votes]),
        mean([x.variation(x.unchanged) for x in votes]),
        len(votes),
    )
