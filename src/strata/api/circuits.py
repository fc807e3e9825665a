"""Compute class spectra of a model, and interventions as changed weights, as the pipeline does.

An intervention takes a model's weights and returns those that differ, as
studies/interventions/criteria.md defines it.
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from strata.inputs import InputError
from strata.measure import all_pairs, fourier
from strata.measure.activations import n_heads
from strata.measure.fourier import THRESHOLD
from strata.monoid import JClass, axis_primes, axis_size, frequencies
from strata.patch import ablations, projections, routing, specificity
from strata.patch.ablations import Subject
from strata.store import Arrays
from strata.task import AnyClass, Task, task_of

if TYPE_CHECKING:
    from strata.api.model import Model


def class_of(d: int, n: Task | int) -> AnyClass:
    """Return the class of that label. Raises InputError where there is none."""
    try:
        return task_of(n).jclass(d)
    except ValueError as error:
        raise InputError(str(error)) from None


def subject(weights: Arrays, n: Task | int) -> Subject:
    """Set up the model for interventions, with the key frequencies of its embedding."""
    keys = projections.key_masks(weights["W_E"][: task_of(n).order], n, THRESHOLD)
    return ablations.subject(weights, n, keys)


def embedding(weights: Arrays, rows: np.ndarray) -> Arrays:
    """Return W_E with these rows for the residues; that of `=` stays."""
    n = len(rows)
    return {"W_E": np.concatenate([rows, weights["W_E"][n:]])}


def spectrum(weights: Arrays, n: Task | int, d: int) -> pd.Series:
    """Return the energy shares of the embedding of J_d, by frequency. Raises InputError where J_d
    has one element."""
    J = class_of(d, n)
    rows = weights["W_E"][J.elements]
    if len(J) == 1:
        raise InputError(f"d = {d}: J_{d} has one element, and so no spectrum")
    names = pd.Index([tuple(k) for k in frequencies(J.orders).tolist()], tupleize_cols=False)
    return pd.Series(fourier.energy_share(rows, J.orders), names, name=f"J_{d}")


def key_frequencies(
    weights: Arrays, n: Task | int, d: int, threshold: float | None
) -> list[tuple[int, ...]]:
    """Return the frequencies with at least threshold times the uniform share."""
    least = THRESHOLD if threshold is None else threshold
    key = fourier.key_frequencies(spectrum(weights, n, d).to_numpy(), least)
    return [tuple(k) for k in frequencies(class_of(d, n).orders)[key].tolist()]


def without_prime(weights: Arrays, n: Task | int, prime: int, d: int) -> Arrays:
    """Remove the directions that key characters of J_d take up on the axis of a prime. Raises
    InputError where there are none."""
    axis(class_of(d, n), prime)
    network = subject(weights, n)
    basis = specificity.directions(network, d, prime) if d in network.masks else np.empty((0, 0))
    if not len(basis):
        raise InputError(f"prime = {prime}: no key character of J_{d} lies on its axis alone")
    return embedding(weights, specificity.removed(network, basis))


def axis(J: AnyClass, prime: int) -> None:
    """Raise InputError where a class has no axis of that prime."""
    primes = sorted({*axis_primes(J)}) if isinstance(J, JClass) else []
    if prime not in primes:
        must = f"must be one of {', '.join(map(str, primes))}" if primes else "it has no axis"
        raise InputError(f"prime = {prime}: J_{J.d} has no such axis; {must}")


def without_head(weights: Arrays, n: Task | int, head: int) -> Arrays:
    """Replace what a head mixes by its mean over all ordered pairs.

    Attention sums to 1, so values that are the same for every token are mixed to that value.
    """
    count = n_heads(weights)
    if not 0 <= head < count:
        must = f"must be from 0 to {count - 1}" if count else "the MLP-only model has no heads"
        raise InputError(f"head = {head}: {must}")
    network = subject(weights, n)
    mix = network.rig.weighted_values(network.rig.attention)
    W_V, b_V = weights["W_V"].copy(), weights["b_V"].copy()
    W_V[head], b_V[head] = 0, routing.mean_mix(network.rig, mix, head)
    return {"W_V": W_V, "b_V": b_V}


def key_characters(weights: Arrays, n: Task | int) -> tuple[Arrays, ...]:
    """Return the weights with an embedding of class means and key characters alone, and with one
    that lacks the key characters."""
    rows = weights["W_E"][: task_of(n).order]
    masks = projections.key_masks(rows, n, THRESHOLD)
    parts = projections.split(rows, ablations.key_spans(n, masks), n)
    return tuple(embedding(weights, rows) for rows in parts)


def attribution(model: "Model", a: int, b: int, answer: int) -> pd.DataFrame:
    """Return what each part writes along the centred direction of the answer, and the biases."""
    task, weights, (_, cache) = model.task, model.weights(), model.run_with_cache(a, b)
    direction = weights["W_U"][:, answer] - weights["W_U"].mean(axis=1)
    between = all_pairs.over_all_pairs(weights, task).neurons.between
    powers = [q for q in between if q != "classes"]
    strongest = np.argmax([between[q] for q in powers], axis=0)
    added = cache["post"][0, -1].detach().cpu().numpy() * (weights["W_out"] @ direction)
    rows: list[tuple[str, int | None, int | None, float]] = []
    bias = weights["b_out"] @ direction + weights["b_U"][answer] - weights["b_U"].mean()
    if "W_O" in weights:
        heads = cache.stack_head_results()[:, 0, -1].detach().cpu().numpy() @ direction
        rows += [("embedding", None, None, weights["W_E"][-1] @ direction)]
        rows += [("head", h, None, x) for h, x in enumerate(heads)]
        bias += weights["b_O"] @ direction
    rows += [("neuron", i, int(powers[strongest[i]]), x) for i, x in enumerate(added)]
    rows += [("bias", None, None, bias)]
    frame = pd.DataFrame(rows, columns=["part", "index", "prime", "logit"])
    return frame.astype({"index": "Int64", "prime": "Int64"})


def swapped(weights: Arrays, n: Task | int, a: int, other: int, prime: int) -> tuple[Arrays, int]:
    """Return the embedding in which a has the part of another residue on the axis of a prime, and
    the residue as which a should act, which has the coordinate of the other on this axis. Raises
    InputError where the algebra does not say which."""
    task = task_of(n)
    J, K = (task.jclass(int(task.labels[x])) for x in (a, other))
    for x in (J, K):
        axis(x, prime)
    assert isinstance(J, JClass) and isinstance(K, JClass)  # no other class has axes of primes
    groups_alike = J.regular and K.regular and axis_size(J.m, prime) == axis_size(K.m, prime)
    if J != K and not groups_alike:
        raise InputError(f"other = {other}: its class and that of {a} differ on axis {prime}")
    network, rows = subject(weights, task), weights["W_E"][: task.order].copy()
    here, there = task.position[a], task.position[other]
    before, after = (
        specificity.key_part(network, x, projections.atomic_key(x, network.masks[x.d], prime))
        for x in (J, K)
    )
    rows[a] = rows[a] - before[here].astype(rows.dtype) + after[there].astype(rows.dtype)
    coordinates = J.coordinates[here].copy()
    on_axis, on_other = (np.array(axis_primes(x)) == prime for x in (J, K))
    coordinates[on_axis] = K.coordinates[there][on_other]
    acts_as = J.elements[np.ravel_multi_index(tuple(coordinates), J.orders)]
    return embedding(weights, rows), int(acts_as)
