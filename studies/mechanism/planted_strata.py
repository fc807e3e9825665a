"""MLP-only models made by hand that work class by class, or by no account: rivals of ``planted``.

``class_codes`` has a code for the class of each residue, up for that class alone, beside the phases
of ``planted``. Each neuron serves one pair of classes and is off unless both codes are up, so that
a class is known as a whole and never as zeros modulo primes. ``lookup`` has a neuron for each pair.
"""

from typing import NamedTuple

import numpy as np
from planted import CLASS, SHARP, Phases, phases, squares

from strata.monoid import classes

GATE = 8.0  # more than the phases of a pair can sum up to: one code of two keeps a neuron off


class Neuron(NamedTuple):
    """What it reads of a and of b, its bias, and what it writes."""

    of_a: dict[int, float]
    of_b: dict[int, float]
    bias: float
    writes: dict[int, float]


class Plan(NamedTuple):
    """Where the dimensions are; the phases of class i begin at ``homes[i]``."""

    n: int
    phases: Phases
    kinds: list[int]
    homes: list[int]

    @property
    def out(self) -> int:
        """The MLP writes votes for classes, then a phase for each prime."""
        return len(self.kinds)


def class_codes(n: int, shared: bool = True) -> dict[str, np.ndarray]:
    """The weights for square-free odd n. Where not ``shared``, every class keeps its phases in
    dimensions of its own."""
    known, kinds = phases(n), [J.d for J in classes(n)]
    P, D = len(known.primes), len(kinds)
    homes = [D + 4 * P * (0 if shared else i) for i in range(D)]
    plan = Plan(n, known, kinds, homes)
    neurons = [x for d in range(D) for e in range(D) for x in serving(plan, d, e)]
    width = max(homes) + 4 * P
    W_E, of_class = np.zeros((n, width)), [kinds.index(d) for d in np.gcd(np.arange(n), n)]
    live, turns = 1 - known.flags, known.turns
    four = np.stack([np.cos(turns), np.sin(turns), np.cos(2 * turns), np.sin(2 * turns)], axis=2)
    for a, i in enumerate(of_class):
        W_E[a, i] = 1
        W_E[a, homes[i] :][: 4 * P] = (four * live[:, :, None])[a].ravel()
    W_U = np.zeros((width, n))
    W_U[of_class, np.arange(n)] = CLASS
    W_U[plan.out : plan.out + 2 * P : 2] = SHARP * (np.cos(turns) * live).T
    W_U[plan.out + 1 : plan.out + 2 * P : 2] = SHARP * (np.sin(turns) * live).T
    return {"W_E": W_E.astype(np.float32)} | weights_of(neurons, width, W_U)


def serving(plan: Plan, i: int, j: int) -> list[Neuron]:
    """The neurons for a in class i and b in class j: a vote for the class of ab, and the phase
    θ(a) + θ(b) for each prime that divides neither, as ``planted.mlp`` forms it."""
    d, e = plan.kinds[i], plan.kinds[j]
    votes, neurons = {plan.kinds.index(int(np.gcd(d * e, plan.n))): 1.0}, []
    for number, p in enumerate(plan.phases.primes):
        if d % p == 0 or e % p == 0:
            continue
        out, at_a, at_b = plan.out + 2 * number, *(plan.homes[x] + 4 * number for x in (i, j))
        turns = plan.phases.turns[plan.phases.flags[:, number] == 0, number]
        for angle, parts in zip(
            np.pi * np.arange(4) / 4, [(1, 0), (0, 1), (-1, 0), (0, -1)], strict=True
        ):
            x, wave = np.cos(turns - angle), (np.cos(angle), np.sin(angle))
            for knot, slope in zip(*squares(np.add.outer(x, x)), strict=True):
                writes = {out: parts[0] * slope / 2, out + 1: parts[1] * slope / 2}
                reads = [{at: wave[0], at + 1: wave[1]} for at in (at_a, at_b)]
                neurons.append(gated(i, j, reads, -knot, writes))
        for part in range(2):
            reads = [{at + 2 + part: 1.0} for at in (at_a, at_b)]
            neurons.append(gated(i, j, reads, 2.0, {out + part: -0.5}))
            votes[out + part] = 1.0
    return [*neurons, Neuron({i: 1.0}, {j: 1.0}, -1.0, votes)]


def gated(
    i: int, j: int, reads: list[dict[int, float]], bias: float, writes: dict[int, float]
) -> Neuron:
    """Off unless the codes of class i in a and of class j in b are up."""
    return Neuron({i: GATE, **reads[0]}, {j: GATE, **reads[1]}, bias - 2 * GATE, writes)


def weights_of(neurons: list[Neuron], width: int, W_U: np.ndarray) -> dict[str, np.ndarray]:
    count = len(neurons)
    W_in, W_out = np.zeros((2, width, count)), np.zeros((count, width))
    for number, (of_a, of_b, _, writes) in enumerate(neurons):
        W_in[0, list(of_a), number], W_in[1, list(of_b), number] = (
            list(of_a.values()),
            list(of_b.values()),
        )
        W_out[number, list(writes)] = list(writes.values())
    weights = {
        "W_in": W_in.reshape(2 * width, count), "b_in": np.array([x.bias for x in neurons]),
        "W_out": W_out, "b_out": np.zeros(width), "W_U": W_U, "b_U": np.zeros(W_U.shape[1]),
    }  # fmt: skip
    return {name: x.astype(np.float32) for name, x in weights.items()}


def lookup(n: int) -> dict[str, np.ndarray]:
    """One-hot rows, and a neuron for each pair that votes for its product."""
    neurons = [
        Neuron({a: 1.0}, {b: 1.0}, -1.0, {a * b % n: 1.0}) for a in range(n) for b in range(n)
    ]
    return {"W_E": np.eye(n, dtype=np.float32)} | weights_of(neurons, n, np.eye(n))
