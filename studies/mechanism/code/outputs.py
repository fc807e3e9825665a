"""Statement 9 of criteria-3.md: scores, neurons and what the neurons write, all by formula.

A neuron that is on for some angles of the product has a phase in every key character, and what it
writes turns by that phase. No phase is fitted: each comes from the replaced neuron itself.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.arithmetic import primefactors
from studies.mechanism.code.adding import Neurons, form_1
from studies.mechanism.code.dictionary import ZERO, least_squares
from studies.mechanism.code.records import Label
from studies.mechanism.code.residues import primes_of, values, waves, zero_functions

STEPS = 20


class Written(NamedTuple):
    """What the neurons write by formula, and the free numbers in it."""

    W_out: Float[np.ndarray, "d_mlp d_model"]
    numbers: int


def written(neurons: Neurons, hidden: Float[np.ndarray, "rows d_mlp"]) -> Written:
    """Fit W_out[j] by Σ_m s_jm (d_jm / |d_jm|) · D_m + Σ_r t_jr D_r, with D shared by all neurons,
    in alternating steps."""
    pairs, n = neurons.pairs, neurons.pairs.n
    weight = pairs.count / n**2
    centred = hidden - weight @ hidden
    directions, parts = [], []
    for label in neurons.key:
        x = waves(n, label)[pairs.label]
        d = (weight[:, None] * x).T @ centred
        directions.append(d)
        parts.append(len(d))
    zeros = zero_functions(n, primefactors(n))[pairs.label]
    zero = (weight[:, None] * (zeros - weight @ zeros)).T @ centred
    use = _allowed(neurons)
    unit = [d / np.maximum(np.linalg.norm(d, axis=0), 1e-300) for d in directions]
    s = np.stack([np.linalg.norm(d, axis=0) for d in directions], axis=1) * use
    t = zero.T
    target = pairs.weights["W_out"]
    size = (target**2).sum(axis=1)
    root = np.sqrt(np.divide(neurons.importance, size, out=np.zeros_like(size), where=size > 0))
    fit = np.zeros_like(target)
    for _ in range(STEPS):
        design = np.concatenate([*(u.T * s[:, i : i + 1] for i, u in enumerate(unit)), t], axis=1)
        D = np.linalg.lstsq(design * root[:, None], target * root[:, None], rcond=ZERO)[0]
        split = np.split(D, np.cumsum(parts))
        turned = np.stack([u.T @ x for u, x in zip(unit, split[:-1], strict=True)], axis=1)
        for j in range(len(target)):
            allowed = np.flatnonzero(use[j])
            columns = np.concatenate([turned[j, allowed], split[-1]]).T
            solution = np.linalg.lstsq(columns, target[j], rcond=ZERO)[0]
            s[j, allowed], t[j] = solution[: len(allowed)], solution[len(allowed) :]
            fit[j] = columns @ solution
    return Written(fit, int(use.sum() + t.size + D.size))


def _allowed(neurons: Neurons) -> Float[np.ndarray, "d_mlp key"]:
    """Return which key characters each neuron may write: those of its primes."""
    return np.array([
        [float(primes_of(label) == primes_of(family)) for label in neurons.key]
        for family in neurons.family
    ])  # fmt: skip


def exchanged(
    neurons: Neurons, W_out: Float[np.ndarray, "d_mlp d_model"], rng: np.random.Generator
) -> Float[np.ndarray, "d_mlp d_model"]:
    """Return the control: what the neurons write, rows exchanged at random inside each family."""
    order = np.arange(len(W_out))
    for members in neurons.by_family().values():
        order[members] = rng.permutation(members)
    return W_out[order]


def doubling(neurons: Neurons, hidden: Float[np.ndarray, "rows d_mlp"] | None = None) -> float:
    """Return the mean of cos(ξ − 2φ) over neurons of complex families, weighted by importance: φ is
    the phase with which a neuron sums its character, ξ that of what it writes. With hidden
    activations given, the phase that these have in the character of the product stands for 2φ."""
    pairs, n = neurons.pairs, neurons.pairs.n
    out = pairs.weights["W_out"] @ pairs.weights["W_U"]
    weight = pairs.count / n**2
    total = size = 0.0
    for key, members in neurons.by_family().items():
        label: Label = key  # type: ignore[assignment]
        if waves(n, label).shape[1] == 1:
            continue
        chi = values(n, label)
        xi = np.angle(out[members] @ chi)
        if hidden is None:
            summed = _phase_of_sum(neurons, label, members)
            twice = 2 * summed
        else:
            twice = np.angle((weight * chi[pairs.label]) @ hidden[:, members])
        importance = neurons.importance[members]
        total += float(importance @ np.cos(xi - twice))
        size += float(importance.sum())
    return total / size if size else float("nan")


def _phase_of_sum(neurons: Neurons, label: Label, members: list[int]) -> np.ndarray:
    pairs, phases = neurons.pairs, np.zeros(len(members))
    weight = pairs.count[neurons.sample]
    zeros = neurons.use.zeros.shape[1]
    for h in np.unique(neurons.head[members]):
        by_head = np.flatnonzero(neurons.head[members] == h)
        columns = form_1(neurons.use, neurons.drawn, label, int(h))
        y = pairs.preactivations[np.ix_(neurons.sample, np.array(members)[by_head])]
        coefficients = least_squares(columns, y, weight)[1 + zeros : 3 + zeros]
        phases[by_head] = np.arctan2(coefficients[1], coefficients[0])
    return phases
