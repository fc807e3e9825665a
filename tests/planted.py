"""A transformer that multiplies by exact local characters, made by hand: what the paper proposes.

For square-free odd n. A residue's embedding holds one flag for each prime p | n, up where p divides
the residue, and for the other primes the phase θ of its coordinate on the axis of p: e^iθ, e^2iθ.
So the class mean is the flags, and the rest key characters, all of them on a single axis. With
uniform attention head 0 adds up the flags of a and b, head 1 their phases, f_1 = Σ e^iθ and
f_2 = Σ e^2iθ. The MLP forms (f_1² − f_2) / 2 = e^i(θ(a) + θ(b)) for the primes with no flag up,
where the ReLUs interpolate squares exactly; W_U compares that with the phase of each candidate.
"""

from typing import NamedTuple

import numpy as np

from strata.monoid import axis_primes, classes

SHARP, CLASS = 30.0, 200.0  # logits for a phase, and for the class, which goes before


class Phases(NamedTuple):
    """Flags (residue prime) and phases (residue prime); a phase counts where no flag is up."""

    primes: list[int]
    flags: np.ndarray
    turns: np.ndarray


def phases(n: int) -> Phases:
    """The coordinates of every residue, by prime; the frequency on every axis is 1."""
    primes = [p for p in range(3, n + 1) if n % p == 0 and all(p % i for i in range(2, p))]
    flags, turns = np.ones((n, len(primes))), np.zeros((n, len(primes)))
    for J in classes(n):
        for axis, p in enumerate(axis_primes(J)):
            t, q = J.coordinates[:, axis], J.orders[axis]
            flags[J.elements, primes.index(p)] = 0
            turns[J.elements, primes.index(p)] = 2 * np.pi * t / q
    return Phases(primes, flags, turns)


def squares(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knots k and slopes w with Σ w ReLU(x − k) = x² − 4 at each value, all within [−2, 2]."""
    at = np.unique(np.append(np.round(values, 9), [-2.0, 2.0]))
    slope = np.diff(at**2) / np.diff(at)
    return at[:-1], np.diff(slope, prepend=0)


def planted(n: int, shared: bool = True, frequency: int = 1) -> dict[str, np.ndarray]:
    """The weights. Where not ``shared``, every class keeps its phases in dimensions of its own.
    ``frequency``, prime to the orders of all axes, takes the place of 1 on each."""
    primes, flags, turns = phases(n)
    turns = frequency * turns
    P = len(primes)
    live = 1 - flags
    four = np.stack([np.cos(turns), np.sin(turns), np.cos(2 * turns), np.sin(2 * turns)], axis=2)
    four = (four * live[:, :, None]).reshape(n, 4 * P)
    homes = np.array([0 if shared else [J.d for J in classes(n)].index(d)
                      for d in np.gcd(np.arange(n), n)])  # fmt: skip
    count = homes.max() + 1
    read = P + 4 * P * count  # flags, then the phases of each home
    # What heads write takes 5 P, what the MLP writes 3 P; the rest is room.
    width = 4 * (read + 8 * P)
    W_E = np.zeros((n + 1, width))
    W_E[:n, :P] = flags
    for a in range(n):
        W_E[a, P + 4 * P * homes[a] :][: 4 * P] = four[a]
    W_V, W_O = np.zeros((2, width, 4 * P)), np.zeros((2, 4 * P, width))
    W_V[0, :P, :P] = 3 * np.eye(P)
    W_V[1, P:read] = 3 * np.tile(np.eye(4 * P), (count, 1))
    W_O[0, :P, read : read + P] = np.eye(P)
    W_O[1, :, read + P : read + 5 * P] = np.eye(4 * P)
    W_in, b_in, W_out, b_out = mlp(primes, turns, live, read, width)
    phase, up = read + 5 * P + 2 * np.arange(P), read + 7 * P + np.arange(P)
    W_U, b_U = np.zeros((width, n)), np.zeros(n)
    W_U[phase], W_U[phase + 1] = SHARP * (np.cos(turns) * live).T, SHARP * (np.sin(turns) * live).T
    W_U[up] = CLASS * (2 * flags - 1).T
    b_U = -CLASS / 2 * (2 * flags - 1).sum(axis=1)
    none, zero = np.zeros((2, width, 4 * P)), np.zeros((2, 4 * P))
    weights = {
        "W_E": W_E, "W_Q": none, "b_Q": zero, "W_K": none, "b_K": zero, "W_V": W_V, "b_V": zero,
        "W_O": W_O, "b_O": np.zeros(width), "W_in": W_in, "b_in": b_in, "W_out": W_out,
        "b_out": b_out, "W_U": W_U, "b_U": b_U,
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}


def mlp(
    primes: list[int], turns: np.ndarray, live: np.ndarray, read: int, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """W_in, b_in, W_out, b_out; neurons are off where a flag of their prime is up."""
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
