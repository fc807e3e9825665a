"""Models made by hand, whose answers are predictable: each is a dict of weights, as in files.

`network` tells apart the residues of a and b modulo some numbers, so that it can write any function
of the product; `exact_transformer` and `mlp_lookup` are tables of answers. The library's `by_hand`
multiplies by characters of each prime, as the paper proposes.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata import task
from strata.store import Arrays

SMALL = 0.1  # the scale of the rows in the embedding of a network of blocks


def float32(weights: dict[str, np.ndarray]) -> Arrays:
    """Return the weights as files have them."""
    return {name: x.astype(np.float32) for name, x in weights.items()}


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
