"""Statement 2 of criteria-2.md: every neuron is a function of remainders modulo one prime, or of
one character of several primes, and of which primes divide a and b.

A family cuts the pairs (a, b) into cells by a label of a and the same label of b. Neurons are
replaced by their means over the cells of the family that explains most of their variance.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.arithmetic import primefactors
from strata.monoid import prime_powers
from strata.patch.patching import ForwardPass
from studies.mechanism.code.characters import Characters, valuations

Labels = Int[np.ndarray, " n"]  # of residues, from 0 on
NEURONS = 64  # at a time


class Replaced(NamedTuple):
    """The activations of all pairs with each neuron the means of its family; the variance that this
    explains, of all; the family of each neuron, −1 of one that never varies."""

    hidden: Float[np.ndarray, "pairs d_mlp"]
    variance: float
    family: Int[np.ndarray, " d_mlp"]


def families(n: int, mixed: Characters) -> list[Labels]:
    """Return the labels of each family. For each prime power Q ‖ n the label of a is a mod Q and
    the valuation of a at every other prime; for each character of several primes it is the
    character's value and all valuations."""
    zeros = {p: valuations(n, p) for p in primefactors(n)}
    family_labels = []
    for Q, p in zip(prime_powers(n), primefactors(n), strict=True):
        other_valuations = [v for r, v in zeros.items() if r != p]
        family_labels.append(join_labels(np.arange(n) % Q, *other_valuations))
    for values in mixed.values.T:
        turns = np.rint(np.angle(values) / (2 * np.pi) * n**2).astype(np.int64) % n**2
        family_labels.append(
            join_labels(np.where(np.abs(values) > 0.5, turns, -1), *zeros.values())
        )
    return family_labels


def join_labels(*labels: Labels) -> Labels:
    """Number the combinations of these labels."""
    return np.unique(np.stack(labels, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def count_cells(labels: list[Labels], family: Int[np.ndarray, " d_mlp"]) -> int:
    """Count the numbers in the tables that replace the neurons: a cell of (a, b) and that of (b, a)
    once, because a neuron has one mean for both."""
    sizes = [int(x.max()) + 1 for x in labels]
    return sum(sizes[i] * (sizes[i] + 1) // 2 for i in family.tolist() if i >= 0)


def replace_neurons(pairs: ForwardPass, labels: list[Labels]) -> Replaced:
    """Replace every neuron by its means over the cells of its family."""
    members = [np.equal.outer(x, np.arange(x.max() + 1)).astype(np.float64) for x in labels]
    counts = [member.sum(axis=0) for member in members]
    cells = [np.outer(count, count) / pairs.n**2 for count in counts]
    hidden, family = (
        np.empty_like(pairs.preactivations),
        np.zeros(pairs.preactivations.shape[1], dtype=np.int64),
    )
    explained = variance = 0.0
    for block, before in square_blocks(pairs):
        active = np.maximum(before, 0)
        tables, mean = [cell_means(active, x) for x in members], active.mean(axis=(0, 1))
        between_cells = [
            np.tensordot(cell, table**2, axes=2) - mean**2
            for cell, table in zip(cells, tables, strict=True)
        ]
        variances, best = active.var(axis=(0, 1)), np.argmax(between_cells, axis=0)
        family[block] = np.where(variances > 0, best, -1)
        explained += np.max(between_cells, axis=0).sum()
        variance += variances.sum()
        for i, k in enumerate(best):
            hidden[:, block.start + i] = tables[k][labels[k][pairs.a], labels[k][pairs.b], i]
    return Replaced(hidden, float(explained / (variance or 1)), family)


def square_blocks(pairs: ForwardPass) -> Iterator[tuple[slice, Float[np.ndarray, "n n some"]]]:
    """Yield what a block of neurons reads for all (a, b), block after block."""
    for start in range(0, pairs.preactivations.shape[1], NEURONS):
        block = slice(start, start + NEURONS)
        yield block, pairs.preactivations[:, block][pairs.row]


def cell_means(
    x: Float[np.ndarray, "n n some"], member: Float[np.ndarray, "n Q"]
) -> Float[np.ndarray, "Q Q some"]:
    """Return the mean over the pairs with label r of a and s of b; every residue counts alike."""
    half = np.tensordot(member / member.sum(axis=0), x, axes=(0, 0))
    return np.tensordot(member / member.sum(axis=0), half, axes=(0, 1)).swapaxes(0, 1)
