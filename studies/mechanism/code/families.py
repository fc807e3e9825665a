"""Statement 2 of criteria-2.md: every neuron is a function of remainders modulo one prime, or of
one character of several primes, and of which primes divide a and b.

A family cuts the pairs (a, b) into cells by a label of a and the same label of b. Neurons are
replaced by their means over the cells of the family that explains most of their variance.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import primefactors

from strata.monoid import prime_powers
from strata.patch.patching import Passed
from studies.mechanism.code.characters import Characters, valuations

Labels = Int[np.ndarray, " n"]  # of residues, from 0 on
NEURONS = 64  # at a time


class Replaced(NamedTuple):
    """The activations of all pairs with each neuron the means of its family; the variance that this
    explains, of all; the family of each neuron, −1 of one that never varies."""

    hidden: Float[np.ndarray, "pairs d_mlp"]
    variance: float
    family: Int[np.ndarray, " d_mlp"]


def families(n: int, several: Characters) -> list[Labels]:
    """For each prime power Q ‖ n the labels by a mod Q and the valuation of a at every other prime;
    for each character of several primes those by its value and all valuations."""
    zeros = {p: valuations(n, p) for p in primefactors(n)}
    found = []
    for Q, p in zip(prime_powers(n), primefactors(n), strict=True):
        others = [v for r, v in zeros.items() if r != p]
        found.append(numbered(np.arange(n) % Q, *others))
    for values in several.values.T:
        turns = np.rint(np.angle(values) / (2 * np.pi) * n**2).astype(np.int64) % n**2
        found.append(numbered(np.where(np.abs(values) > 0.5, turns, -1), *zeros.values()))
    return found


def numbered(*labels: Labels) -> Labels:
    """One label for each combination of these."""
    return np.unique(np.stack(labels, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def replaced(pairs: Passed, every: list[Labels]) -> Replaced:
    """Replace every neuron by its means over the cells of its family."""
    members = [np.equal.outer(x, np.arange(x.max() + 1)).astype(np.float64) for x in every]
    counts = [member.sum(axis=0) for member in members]
    cells = [np.outer(count, count) / pairs.n**2 for count in counts]
    hidden, family = np.empty_like(pairs.before), np.zeros(pairs.before.shape[1], dtype=np.int64)
    explained = variance = 0.0
    for some, before in squares(pairs):
        active = np.maximum(before, 0)
        tables, mean = [means(active, x) for x in members], active.mean(axis=(0, 1))
        found = [
            np.tensordot(cell, table**2, axes=2) - mean**2
            for cell, table in zip(cells, tables, strict=True)
        ]
        each, best = active.var(axis=(0, 1)), np.argmax(found, axis=0)
        family[some] = np.where(each > 0, best, -1)
        explained += np.max(found, axis=0).sum()
        variance += each.sum()
        for i, own in enumerate(best):
            hidden[:, some.start + i] = tables[own][every[own][pairs.a], every[own][pairs.b], i]
    return Replaced(hidden, float(explained / (variance or 1)), family)


def squares(pairs: Passed) -> Iterator[tuple[slice, Float[np.ndarray, "n n some"]]]:
    """What some neurons read, for all (a, b), and some more, until all have been."""
    for start in range(0, pairs.before.shape[1], NEURONS):
        some = slice(start, start + NEURONS)
        yield some, pairs.before[:, some][pairs.row]


def means(
    x: Float[np.ndarray, "n n some"], member: Float[np.ndarray, "n Q"]
) -> Float[np.ndarray, "Q Q some"]:
    """The mean over the pairs with residues r of a and s of b, where all residues are as common."""
    half = np.tensordot(member / member.sum(axis=0), x, axes=(0, 0))
    return np.tensordot(member / member.sum(axis=0), half, axes=(0, 1)).swapaxes(0, 1)
