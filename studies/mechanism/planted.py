"""Networks and logits in which the answer is planted."""

import numpy as np
from jaxtyping import Float
from planted import Block, network, remainders

from strata.arithmetic import primefactors
from strata.measure.fourier import conjugate
from strata.monoid import JClass, axis_primes, chi, classes, frequencies
from strata.patch.projections import Masks
from strata.store import Arrays
from studies.mechanism.code.characters import key_in_any_class
from studies.mechanism.code.descriptions import pair_counts
from studies.mechanism.code.gates import Code
from studies.mechanism.code.profile import Profile

WEAK = 0.02  # of characters that are not key, in the embedding

# ---- key frequencies -------------------------------------------------------------------------


def key_of(n: int, chosen: dict[int, list[tuple[int, int]]]) -> Masks:
    """Return the key frequencies of each class from pairs of a prime and a frequency on its
    axis."""
    masks = {}
    for J in classes(n):
        mask = np.zeros(len(J), dtype=bool)
        for p, k in chosen.get(J.d, []):
            mask |= (frequencies(J.orders) == [k * (x == p) for x in axis_primes(J)]).all(axis=1)
        if len(J) > 1:
            masks[J.d] = mask | mask[conjugate(J.orders)]
    return masks


def shared(n: int, chosen: dict[int, list[int]]) -> Masks:
    """Return the same frequencies of each prime in every class that has it."""
    return key_of(n, {J.d: [(p, k) for p in axis_primes(J) for k in chosen[p]] for J in classes(n)})


def some_keys(n, share=0.4):
    """Draw random key frequencies with their conjugates."""
    rng, masks = np.random.default_rng(n), {}
    for J in classes(n):
        mask = rng.random(len(J)) < share
        masks[J.d] = mask | mask[conjugate(J.orders)]
        masks[J.d][0] = False
    return masks


# ---- networks --------------------------------------------------------------------------------


def table_of(J: JClass, key: np.ndarray) -> Float[np.ndarray, "size size"]:
    """Return an invertible table over a class: the constant, and all characters, key ones large."""
    columns = [np.ones(len(J))]
    for i, k in enumerate(frequencies(J.orders)):
        wave, minus = chi(k, J.orders), conjugate(J.orders)[i]
        if 0 < i <= minus:
            parts = [np.real(wave)] if i == minus else [np.real(wave), np.imag(wave)]
            columns += [(1.0 if key[i] else WEAK) * x for x in parts]
    return np.stack(columns, axis=1)


def by_class(n: int, key: Masks) -> Float[np.ndarray, "n n"]:
    """Return an invertible embedding of all residues with these key frequencies in each class."""
    rows, start = np.zeros((n, n)), 0
    for J in classes(n):
        rows[J.elements, start : start + len(J)] = table_of(J, key.get(J.d, np.zeros(len(J), bool)))
        start += len(J)
    return rows


def every_residue(n: int, key: Masks, values: Float[np.ndarray, "n k"]) -> Block:
    """Return the block that knows every residue, from an embedding with these key frequencies."""
    return remainders(n, n, by_class(n, key), values)


def nearest_code(n: int, chosen: dict[int, list[int]], rng: np.random.Generator) -> Arrays:
    """Build a network for square-free n: neurons by prime write φ, and the unembedding is that of a
    random Gram matrix."""
    functions = Code(n, key_in_any_class(n, shared(n, chosen))).plain[:, 1:]
    k, blocks, primes = functions.shape[1], [], primefactors(n)
    G = np.eye(k) + 0.5 * rng.normal(size=(k, k)) / np.sqrt(k)
    M = 30 * G.T @ G  # far from diagonal
    for p in primes:
        J, rows = JClass(p, 1), np.zeros((p, p))
        rows[0, 0] = 1
        mask = shared(p, chosen).get(1, np.zeros(p - 1, dtype=bool))
        rows[J.elements, 1:] = table_of(J, mask)
        # φ where the other primes divide: these add up to φ, with φ(0) taken once.
        table = functions[n // p * pow(n // p, -1, p) * np.arange(p) % n]
        blocks.append(remainders(n, p, rows, table - (1 - 1 / len(primes)) * functions[0]))
    return network(blocks, M @ functions.T, -((functions @ M) * functions).sum(axis=1) / 2)


def strata(n: int, chosen: dict[int, list[tuple[int, int]]]) -> Arrays:
    """Build a network in which each class has a code and characters of its own, and each pair of
    residues a neuron."""
    key, columns = key_of(n, chosen), []
    for J in classes(n):
        code = np.zeros((n, 1))
        code[J.elements] = 4
        columns.append(code)
        for i in np.flatnonzero(key.get(J.d, np.zeros(1, dtype=bool))):
            wave = np.zeros((n, 2))
            wave[J.elements] = np.stack(
                [np.real(f := chi(frequencies(J.orders)[i], J.orders)), np.imag(f)], axis=1
            )
            columns.append(4 * wave)
    w = np.concatenate(columns, axis=1)
    return network([every_residue(n, key, w)], w.T, -(w**2).sum(axis=1) / 2)


def lookup(n: int, chosen: dict[int, list[int]], rng: np.random.Generator) -> Arrays:
    """Build a network with a neuron for each pair of residues, and random logits with the right
    answer on top."""
    table = rng.normal(size=(n, n))
    table[np.arange(n), np.arange(n)] = table.max() + 1
    return network([every_residue(n, shared(n, chosen), table)], np.eye(n), np.zeros(n))


def random_code(n: int, k: int, chosen: dict[int, list[int]], rng: np.random.Generator) -> Arrays:
    """Build a network in which a neuron for each pair of residues writes k random functions of the
    product, and the nearest of their values answers."""
    w = rng.normal(size=(n, k))
    w *= 10 / np.sqrt(k)
    return network([every_residue(n, shared(n, chosen), w)], w.T, -(w**2).sum(axis=1) / 2)


# ---- logits ----------------------------------------------------------------------------------


def profile_of(y: np.ndarray) -> Profile:
    """Return the profile of these logits of each product, centred."""
    y = y - y.mean(axis=1, keepdims=True)
    return Profile(y, float(pair_counts(len(y)) @ (y**2).sum(axis=1)))
