"""The directions that key characters of a class take up, removed from every residue.

Definitions and criteria: studies/interventions/criteria.md, section 2.
"""

import numpy as np
from jaxtyping import Bool, Float

from strata.monoid import JClass
from strata.patch import projections
from strata.patch.ablations import Subject, with_embedding
from strata.patch.patching import Outcome
from strata.task import AnyClass, Task, task_of


def deviations(
    W_E: Float[np.ndarray, "n d_model"], n: Task | int
) -> Float[np.ndarray, "n d_model"]:
    """Each residue's row less the mean row of its class."""
    less = W_E.astype(np.float64)
    for J in task_of(n).classes:
        less[J.elements] -= less[J.elements].mean(axis=0)
    return less


def key_part(
    subject: Subject, J: AnyClass, mask: Bool[np.ndarray, " size"]
) -> Float[np.ndarray, "size d_model"]:
    """The part of the rows of a class that lies in the span of these characters."""
    return projections.characters(mask, J.orders) @ subject.rows_of_W_E[J.elements]


def row_space(x: Float[np.ndarray, "rows d_model"]) -> Float[np.ndarray, "k d_model"]:
    """An orthonormal basis of the span of the rows."""
    _, sizes, Vt = np.linalg.svd(x.astype(np.float64), full_matrices=False)
    return Vt[sizes > 1e-6 * max(sizes.max(initial=0), 1e-30)]


def directions(subject: Subject, d: int, p: int | None = None) -> Float[np.ndarray, "k d_model"]:
    """A basis of the directions that key characters of J_d take up; those on one axis alone."""
    J, mask = subject.rig.task.jclass(d), subject.masks[d]
    if p is not None:
        assert isinstance(J, JClass), "the axes of a table belong to no prime"
        mask = projections.atomic_key(J, mask, p)
    return row_space(key_part(subject, J, mask))


def removed(
    subject: Subject, basis: Float[np.ndarray, "k d_model"]
) -> Float[np.ndarray, "n d_model"]:
    """The embedding with these directions removed from every residue, within its own class."""
    W_E = subject.rows_of_W_E
    less = deviations(W_E, subject.rig.task) @ basis.T @ basis
    return W_E - less.astype(W_E.dtype)


def without(subject: Subject, basis: Float[np.ndarray, "k d_model"]) -> Outcome:
    """The outcome with these directions removed from every residue."""
    return with_embedding(subject.rig, removed(subject, basis))
