"""Models made by hand, whose answers are predictable: each is a dict of weights, as in files.

`planted` multiplies by exact local characters, as the paper proposes. `network` tells apart the
residues of a and b modulo some numbers, so that it can write any function of the product;
`exact_transformer` and `mlp_lookup` are tables of answers.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import primefactors

from strata import task
from strata.monoid import axis_primes, classes
from strata.store import Arrays

SHARP, CLASS = 30.0, 200.0  # logits for a phase, and for the class, which outweighs it
SMALL = 0.1  # the scale of the rows in the embedding of a network of blocks


def float32(weights: dict[str, np.ndarray]) -> Arrays:
    """Return the weights as files have them."""
    return {name: x.astype(np.float32) for name, x in weights.items()}


# ---- exact local characters ------------------------------------------------------------------


class Phases(NamedTuple):
    """Flags (residue prime) and phases (residue prime); a phase counts where no flag is up."""

    primes: list[int]
    flags: np.ndarray
    turns: np.ndarray


def phases(n: int) -> Phases:
    """Return the coordinates of every residue by prime; the frequency on every axis is 1."""
    primes = primefactors(n)
    flags, turns = np.ones((n, len(primes))), np.zeros((n, len(primes)))
    for J in classes(n):
        for axis, p in enumerate(axis_primes(J)):
            t, q = J.coordinates[:, axis], J.orders[axis]
            flags[J.elements, primes.index(p)] = 0
            turns[J.elements, primes.index(p)] = 2 * np.pi * t / q
    return Phases(primes, flags, turns)


def squares(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return knots k and slopes w with Σ w ReLU(x − k) = x² − 4 at each value; all values lie
    within [−2, 2]."""
    points = np.unique(np.append(np.round(values, 9), [-2.0, 2.0]))
    slope = np.diff(points**2) / np.diff(points)
    return points[:-1], np.diff(slope, prepend=0)


def planted(n: int, shared: bool = True) -> Arrays:
    """Return a transformer that multiplies by exact local characters, for square-free odd n.

    A residue's embedding holds one flag for each prime p | n, up where p divides the residue, and
    for the other primes the phase θ of its coordinate on the axis of p: e^iθ, e^2iθ. So the class
    mean is the flags, and the rest key characters, all of them on a single axis. With uniform
    attention head 0 adds up the flags of a and b, head 1 their phases, f_1 = Σ e^iθ and
    f_2 = Σ e^2iθ. The MLP forms (f_1² − f_2) / 2 = e^i(θ(a) + θ(b)) for the primes with no flag up,
    where the ReLUs interpolate squares exactly; W_U compares that with the phase of each candidate.

    Where not ``shared``, every class keeps its phases in dimensions of its own.
    """
    primes, flags, turns = phases(n)
    P = len(primes)
    live = 1 - flags
    waves = np.stack([np.cos(turns), np.sin(turns), np.cos(2 * turns), np.sin(2 * turns)], axis=2)
    waves = (waves * live[:, :, None]).reshape(n, 4 * P)
    slot_of = np.array([0 if shared else [J.d for J in classes(n)].index(d)
                      for d in np.gcd(np.arange(n), n)])  # fmt: skip
    slots = slot_of.max() + 1
    read = P + 4 * P * slots  # flags, then the phases of each slot
    # Heads write to 5 P dimensions and the MLP to 3 P; all others stay 0.
    width = 4 * (read + 8 * P)
    W_E = np.zeros((n + 1, width))
    W_E[:n, :P] = flags
    for a in range(n):
        W_E[a, P + 4 * P * slot_of[a] :][: 4 * P] = waves[a]
    W_V, W_O = np.zeros((2, width, 4 * P)), np.zeros((2, 4 * P, width))
    W_V[0, :P, :P] = 3 * np.eye(P)
    W_V[1, P:read] = 3 * np.tile(np.eye(4 * P), (slots, 1))
    W_O[0, :P, read : read + P] = np.eye(P)
    W_O[1, :, read + P : read + 5 * P] = np.eye(4 * P)
    W_in, b_in, W_out, b_out = mlp(primes, turns, live, read, width)
    phase, up = read + 5 * P + 2 * np.arange(P), read + 7 * P + np.arange(P)
    W_U, b_U = np.zeros((width, n)), np.zeros(n)
    W_U[phase], W_U[phase + 1] = SHARP * (np.cos(turns) * live).T, SHARP * (np.sin(turns) * live).T
    W_U[up] = CLASS * (2 * flags - 1).T
    b_U = -CLASS / 2 * (2 * flags - 1).sum(axis=1)
    W_0, b_0 = np.zeros((2, width, 4 * P)), np.zeros((2, 4 * P))
    weights = {
        "W_E": W_E, "W_Q": W_0, "b_Q": b_0, "W_K": W_0, "b_K": b_0, "W_V": W_V, "b_V": b_0,
        "W_O": W_O, "b_O": np.zeros(width), "W_in": W_in, "b_in": b_in, "W_out": W_out,
        "b_out": b_out, "W_U": W_U, "b_U": b_U,
    }  # fmt: skip
    return float32(weights)


def mlp(
    primes: list[int], turns: np.ndarray, live: np.ndarray, read: int, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return W_in, b_in, W_out, b_out; neurons are off where a flag of their prime is up."""
    P, columns = len(primes), []  # of (input weights, bias, output weights)
    b_out = np.zeros(width)
    for i in range(P):
        flag, f = read + i, read + P + 4 * i
        out, up = read + 5 * P + 2 * i, read + 7 * P + i
        for angle, (real, imaginary) in zip(
            np.pi * np.arange(4) / 4, [(1, 0), (0, 1), (-1, 0), (0, -1)], strict=True
        ):
            x = np.cos(turns[live[:, i] > 0, i] - angle)
            for knot, slope in zip(*squares(np.add.outer(x, x)), strict=True):
                reads = {f: np.cos(angle), f + 1: np.sin(angle), flag: -4.0}
                columns.append(
                    (reads, -knot, {out: real * slope / 2, out + 1: imaginary * slope / 2})
                )
        for j in range(2):  # −f_2 / 2, with 2 added while the neuron is on
            columns.append(({f + 2 + j: 1.0, flag: -4.0}, 2.0, {out + j: -0.5}))
        # min(flags, 1), and the −1 that the two neurons above add while no flag is up
        columns.append(({flag: 1.0}, 0.0, {up: 1.0, out: -1.0, out + 1: -1.0}))
        columns.append(({flag: 1.0}, -1.0, {up: -1.0, out: 1.0, out + 1: 1.0}))
        b_out[[out, out + 1]] += 1
    W_in, b_in = np.zeros((width, len(columns))), np.zeros(len(columns))
    W_out = np.zeros((len(columns), width))
    for neuron, (reads, bias, writes) in enumerate(columns):
        W_in[list(reads), neuron], b_in[neuron] = list(reads.values()), bias
        W_out[neuron, list(writes)] = list(writes.values())
    return W_in, b_in, W_out, b_out


# ---- tables of residues ----------------------------------------------------------------------


class Block(NamedTuple):
    """A part of each residue, such as its remainder, with a row of the embedding for each of them,
    and what is written for each two of them."""

    part: Int[np.ndarray, " n"]
    rows: Float[np.ndarray, "m m"]
    writes: Float[np.ndarray, "m m k"]


def network(
    blocks: list[Block], W_U: Float[np.ndarray, "k n"], b_U: Float[np.ndarray, " n"]
) -> Arrays:
    """Return the transformer of these blocks; the last k dimensions of its stream are what they
    write.

    Attention is uniform and adds up rows, and a neuron for each pair {i, j} of parts is
    ReLU(c_i + c_j − 1), or ReLU(c_i − 1) for i = j, with c_i how many of a and b are i.
    """
    read, n = sum(len(block.rows) for block in blocks), len(b_U)
    width = read + len(W_U)
    W_E, columns, writes, start = np.zeros((n + 1, width)), [], [], 0
    for part, rows, table in blocks:
        m = len(rows)
        W_E[:n, start : start + m] = SMALL * rows[part]
        i, j = np.triu_indices(m)
        counts = np.linalg.inv(SMALL * rows)
        reads = np.zeros((width, len(i)))
        reads[start : start + m] = counts[:, i] + np.where(i < j, counts[:, j], 0)
        values = table[i, j]
        # Where i = j the neurons {i, x} are on as well.
        values[i == j] -= table.sum(axis=1) - table[np.arange(m), np.arange(m)]
        columns.append(reads)
        writes.append(values)
        start += m
    W_in, copy = np.concatenate(columns, axis=1), np.diag(np.arange(width) < read)[None]
    W_out = np.concatenate([np.zeros((W_in.shape[1], read)), np.concatenate(writes)], axis=1)
    W_0 = np.zeros((1, width, width))
    weights = {
        "W_E": W_E, "W_Q": W_0, "W_K": W_0, "W_V": 3 * copy, "W_O": copy,
        "b_Q": W_0[:, 0], "b_K": W_0[:, 0], "b_V": W_0[:, 0], "b_O": np.zeros(width),
        "W_in": W_in, "b_in": np.full(W_in.shape[1], -1.0), "W_out": W_out,
        "b_out": np.zeros(width), "W_U": np.concatenate([np.zeros((read, n)), W_U]), "b_U": b_U,
    }  # fmt: skip
    return float32(weights)


def remainders(
    n: int, Q: int, rows: Float[np.ndarray, "Q Q"], values: Float[np.ndarray, "Q k"]
) -> Block:
    """Return the block of remainders modulo Q that writes a value for each product of two."""
    r = np.arange(Q)
    return Block(np.arange(n) % Q, rows, values[np.outer(r, r) % Q])


def exact_transformer(task_or_n: task.Task | int) -> Arrays:
    """Return a transformer that is right on every pair of a task: its answers as a table."""
    table = task.task_of(task_or_n).table
    eye = np.eye(len(table))
    return network([Block(np.arange(len(table)), eye, eye[table])], eye, np.zeros(len(table)))


def mlp_lookup(W_E: np.ndarray) -> Arrays:
    """Return an MLP-only model with a neuron for each pair of residues, which votes for their
    product. The neuron is 1 where the inputs are the rows of these two residues, and off elsewhere.
    """
    n, width = len(W_E), max(W_E.shape)
    i, j = np.divmod(np.arange(n * n), n)
    W_E = np.pad(W_E, ((0, 0), (0, width - W_E.shape[1])))
    W_in = np.concatenate([W_E[i], W_E[j]], axis=1).T
    weights = {
        "W_E": W_E, "W_in": W_in, "b_in": 1 - (W_in**2).sum(axis=0), "b_U": np.zeros(n),
        "W_out": np.eye(n, width)[i * j % n], "b_out": np.zeros(width), "W_U": np.eye(width, n),
    }  # fmt: skip
    return float32(weights)
