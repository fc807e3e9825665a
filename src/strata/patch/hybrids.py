"""Make operands of parts of two residues, and say as which residue they act by the algebra.

Definitions are in studies/interventions/criteria.md, section 3.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from strata.monoid import JClass, axis_primes, axis_size
from strata.patch import projections
from strata.patch.ablations import Subject
from strata.patch.specificity import key_part
from strata.task import Task, task_of


class Hybrids(NamedTuple):
    """``Hybrids`` are tokens to put in the place of residues. ``acts_as`` is the residue as which a
    token should act by the algebra."""

    table: Float[np.ndarray, "count d_model"]
    acts_as: Int[np.ndarray, " count"]


def axis_parts(subject: Subject, J_classes: Iterable[JClass], p: int) -> dict[int, np.ndarray]:
    """Return the part of the rows of each class on the axis of p, in atomic key characters."""
    keys = {J: projections.atomic_key(J, subject.masks[J.d], p) for J in J_classes}
    return {J.d: key_rows(subject, J, mask) for J, mask in keys.items()}


def exchange_parts(
    subject: Subject,
    J: JClass,
    donors: Int[np.ndarray, " size"],
    p: int,
    parts: dict[int, np.ndarray],
) -> Hybrids:
    """Replace the part of each element of J_d on the axis of p by that of another residue."""
    task = subject.rig.task
    rows = np.array([parts[int(task.labels[x])][task.position[x]] for x in donors])
    table = subject.rows_of_W_E[J.elements] - parts[J.d] + rows
    return Hybrids(table, with_axis_of(J, donors, p, task))


def same_axis(J: JClass, K: JClass, p: int) -> bool:
    """Whether J and K are two groups whose axes of p tell the same residues apart."""
    sizes = {axis_size(x.m, p) for x in (J, K)}
    return K.d != J.d and J.regular and K.regular and len(sizes) == 1


def with_axis_of(
    J: JClass, donors: Int[np.ndarray, " size"], p: int, task: Task | None = None
) -> Int[np.ndarray, " size"]:
    """Replace the coordinates of elements of J_d on the axes of p by those of other residues."""
    coordinates, task = J.coordinates.copy(), task_of(task or J.n)
    for i, x in enumerate(donors.tolist()):
        K = JClass(J.n, int(task.labels[x]))
        donor_axes = K.coordinates[task.position[x]][np.array(axis_primes(K)) == p]
        coordinates[i, np.array(axis_primes(J)) == p] = donor_axes
    return J.elements[np.ravel_multi_index(tuple(coordinates.T), J.orders)]


def key_rows(subject: Subject, J: JClass, mask: Bool[np.ndarray, " size"]) -> np.ndarray:
    """Return the part of the rows of a class in the span of characters, in the type of W_E."""
    return key_part(subject, J, mask).astype(subject.rows_of_W_E.dtype)
