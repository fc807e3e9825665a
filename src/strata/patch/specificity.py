"""Remove from every residue the directions that key characters of a class take up.

Definitions and criteria are in studies/interventions/criteria.md, section 2.
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
    """Return each residue's row less the mean row of its class."""
    deviation = W_E.astype(np.float64)
    for J in task_of(n).classes:
        deviation[J.elements] -= deviation[J.elements].mean(axis=0)
    return deviation


def key_part(
    subject: Subject, J: AnyClass, mask: Bool[np.ndarray, " size"]
) -> Float[np.ndarray, "size d_model"]:
    """Return the part of the rows of a class that lies in the span of these characters."""
    return projections.characters(mask, J.orders) @ subject.rows_of_W_E[J.elements]


def row_space(x: Float[np.ndarray, "rows d_model"]) -> Float[np.ndarray, "k d_model"]:
    """Return an orthonormal basis of the span of the rows."""
    _, sizes, Vt = np.linalg.svd(x.astype(np.float64), full_matrices=False)
    return Vt[sizes > 1e-6 * max(sizes.max(initial=0), 1e-30)]


def directions(subject: Subject, d: int, p: int | None = None) -> Float[np.ndarray, "k d_model"]:
    """Return a basis of the directions that key characters of J_d take up; given p, those on its
    axis alone."""
    J, mask = subject.rig.task.jclass(d), subject.masks[d]
    if p is not None:
        assert isinstance(J, JClass), "the axes of a table belong to no prime"
        mask = projections.atomic_key(J, mask, p)
    return row_space(key_part(subject, J, mask))


def removed(
    subject: Subject, basis: Float[np.ndarray, "k d_model"]
) -> Float[np.ndarray, "n d_model"]:
    """Return the embedding with these directions removed from every residue, within its own
    class."""
    W_E = subject.rows_of_W_E
    projected = deviations(W_E, subject.rig.task) @ basis.T @ basis
    return W_E - projected.astype(W_E.dtype)


def run_without(subject: Subject, basis: Float[np.ndarray, "k d_model"]) -> Outcome:
    """Return the outcome with these directions removed from every residue."""
    return with_embedding(subject.rig, removed(subject, basis))
