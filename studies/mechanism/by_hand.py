"""Models made by hand, whose mechanism is known: what the criteria ask of each.

Transformers know the residues of a and b modulo some numbers Q one by one: attention is uniform and
adds up rows, and a neuron for each pair {i, j} of residues modulo Q is ReLU(c_i + c_j − 1), or
ReLU(c_i − 1) for i = j, with c_i how many of a and b are i. So any function of ij mod Q can be
written.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sympy.ntheory import primefactors

from strata.architecture import TABLE, ArchitectureName
from strata.measure.fourier import conjugate
from strata.monoid import JClass, axis_primes, chi, classes, frequencies
from strata.patch.projections import Masks
from strata.store import Arrays
from studies.mechanism.code.characters import key_in_any_class
from studies.mechanism.code.gates import Code

WEAK, SMALL = 0.02, 0.1  # of characters that are not key, and of all rows, in the embedding
APART = 3.0  # so far is a class from another in each of their dimensions


class Block(NamedTuple):
    """Residues modulo Q: their rows in the embedding, and what is written for each product."""

    Q: int
    rows: Float[np.ndarray, "Q Q"]
    writes: Float[np.ndarray, "Q k"]


def network(
    n: int, blocks: list[Block], W_U: Float[np.ndarray, "k n"], b_U: Float[np.ndarray, " n"]
) -> Arrays:
    """The network of these blocks; the last k dimensions of the stream are what they write."""
    read = sum(block.Q for block in blocks)
    width, a = read + len(W_U), np.arange(n)
    W_E, columns, writes, start = np.zeros((n + 1, width)), [], [], 0
    for Q, rows, table in blocks:
        W_E[:n, start : start + Q] = SMALL * rows[a % Q]
        i, j = np.triu_indices(Q)
        counts = np.linalg.inv(SMALL * rows)
        reads = np.zeros((width, len(i)))
        reads[start : start + Q] = counts[:, i] + np.where(i < j, counts[:, j], 0)
        product = table[np.outer(np.arange(Q), np.arange(Q)) % Q]
        own = product[i, j]
        own[i == j] -= product.sum(axis=1) - product[np.arange(Q), np.arange(Q)]
        columns.append(reads)
        writes.append(own)
        start += Q
    W_in, read_only = np.concatenate(columns, axis=1), np.eye(width)[:, :read]
    W_out = np.concatenate([np.zeros((W_in.shape[1], read)), np.concatenate(writes)], axis=1)
    none = np.zeros((1, width, read))
    weights = {
        "W_E": W_E, "W_Q": none, "W_K": none, "W_V": 3 * read_only[None], "W_O": read_only.T[None],
        "b_Q": none[:, 0], "b_K": none[:, 0], "b_V": none[:, 0], "b_O": np.zeros(width),
        "W_in": W_in, "b_in": np.full(W_in.shape[1], -1.0), "W_out": W_out,
        "b_out": np.zeros(width), "W_U": np.concatenate([np.zeros((read, n)), W_U]), "b_U": b_U,
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}


def key_of(n: int, chosen: dict[int, list[tuple[int, int]]]) -> Masks:
    """The key frequencies of each class from pairs of a prime and a frequency on its axis."""
    found = {}
    for J in classes(n):
        mask = np.zeros(len(J), dtype=bool)
        for p, k in chosen.get(J.d, []):
            mask |= (frequencies(J.orders) == [k * (x == p) for x in axis_primes(J)]).all(axis=1)
        if len(J) > 1:
            found[J.d] = mask | mask[conjugate(J.orders)]
    return found


def shared(n: int, chosen: dict[int, list[int]]) -> Masks:
    """The same frequencies of each prime in every class that has it."""
    return key_of(n, {J.d: [(p, k) for p in axis_primes(J) for k in chosen[p]] for J in classes(n)})


def waves(J: JClass, key: np.ndarray) -> Float[np.ndarray, "size size"]:
    """An invertible table over a class: the constant, and all characters, key ones large."""
    columns = [np.ones(len(J))]
    for i, k in enumerate(frequencies(J.orders)):
        wave, minus = chi(k, J.orders), conjugate(J.orders)[i]
        if 0 < i <= minus:
            parts = [np.real(wave)] if i == minus else [np.real(wave), np.imag(wave)]
            columns += [(1.0 if key[i] else WEAK) * x for x in parts]
    return np.stack(columns, axis=1)


def by_class(n: int, key: Masks) -> Float[np.ndarray, "n n"]:
    """An invertible embedding of all residues with these key frequencies in each class."""
    rows, start = np.zeros((n, n)), 0
    for J in classes(n):
        rows[J.elements, start : start + len(J)] = waves(J, key.get(J.d, np.zeros(len(J), bool)))
        start += len(J)
    return rows


def nearest_code(n: int, chosen: dict[int, list[int]], rng: np.random.Generator) -> Arrays:
    """For square-free n: neurons by prime write φ, and the unembedding is that of a random Gram
    matrix."""
    use = Code(n, key_in_any_class(n, shared(n, chosen))).plain[:, 1:]
    k, blocks, primes = use.shape[1], [], primefactors(n)
    G = np.eye(k) + 0.5 * rng.normal(size=(k, k)) / np.sqrt(k)
    M = 30 * G.T @ G  # far from diagonal
    for p in primes:
        J, rows = JClass(p, 1), np.zeros((p, p))
        rows[0, 0] = 1
        mask = shared(p, chosen).get(1, np.zeros(p - 1, dtype=bool))
        rows[J.elements, 1:] = waves(J, mask)
        # φ where the other primes divide: these add up to φ, with φ(0) taken once.
        table = use[n // p * pow(n // p, -1, p) * np.arange(p) % n]
        blocks.append(Block(p, rows, table - (1 - 1 / len(primes)) * use[0]))
    return network(n, blocks, M @ use.T, -((use @ M) * use).sum(axis=1) / 2)


def strata(n: int, chosen: dict[int, list[tuple[int, int]]]) -> Arrays:
    """Each class with a code and characters of its own, and a neuron for each pair of residues."""
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
    return network(n, [Block(n, by_class(n, key), w)], w.T, -(w**2).sum(axis=1) / 2)


def lookup(n: int, chosen: dict[int, list[int]], rng: np.random.Generator) -> Arrays:
    """A neuron for each pair of residues; random logits with the right answer on top."""
    table = rng.normal(size=(n, n))
    table[np.arange(n), np.arange(n)] = table.max() + 1
    return network(n, [Block(n, by_class(n, shared(n, chosen)), table)], np.eye(n), np.zeros(n))


def random_code(n: int, k: int, chosen: dict[int, list[int]], rng: np.random.Generator) -> Arrays:
    """A neuron for each pair of residues writes k random functions of the product, and the nearest
    of their values answers."""
    w = rng.normal(size=(n, k))
    w *= 10 / np.sqrt(k)
    rows = by_class(n, shared(n, chosen))
    return network(n, [Block(n, rows, w)], w.T, -(w**2).sum(axis=1) / 2)


def random(n: int, kind: ArchitectureName, seed: int = 0, size: float = 1.0) -> Arrays:
    """A small network of this kind with random weights."""
    rng, shapes = np.random.default_rng(seed), TABLE[kind].sizes(n, 8, 2, 12)
    return {
        name: (size * rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)
        for name, shape in shapes.items()
    }


def mlp_lookup(W_E: np.ndarray) -> Arrays:
    """An MLP-only model with a neuron for each pair of residues, which votes for its product. It is
    1 at the rows of the two residues, and off where less than all of both is there."""
    n, width = len(W_E), max(W_E.shape)
    i, j = np.divmod(np.arange(n * n), n)
    W_E = np.pad(W_E, ((0, 0), (0, width - W_E.shape[1])))
    W_in = np.concatenate([W_E[i], W_E[j]], axis=1).T
    weights = {
        "W_E": W_E, "W_in": W_in, "b_in": 1 - (W_in**2).sum(axis=0), "b_U": np.zeros(n),
        "W_out": np.eye(n, width)[i * j % n], "b_out": np.zeros(width), "W_U": np.eye(width, n),
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}


def class_codes(n: int, shared: bool = True) -> np.ndarray:
    """For square-free n an embedding by the class of a residue and its residue modulo each prime
    that does not divide it, so that a class is known as a whole and never as zeros modulo primes.
    Where not ``shared``, every class keeps its residues in dimensions of its own."""
    of = [
        {(d,): APART} | {(0 if shared else d, p, a % p): 1.0 for p in primefactors(n) if a % p}
        for a, d in enumerate(np.gcd(np.arange(n), n).tolist())
    ]
    dimensions = sorted({x for parts in of for x in parts})
    return np.array([[parts.get(x, 0.0) for x in dimensions] for parts in of])
