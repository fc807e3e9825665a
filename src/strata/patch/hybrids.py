"""Operands made of two residues' parts, and the residue as which the algebra says they act.

Definitions: studies/interventions/criteria.md, section 3.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from strata.monoid import JClass, axis_primes, axis_size, classes
from strata.patch import projections
from strata.patch.ablations import Subject
from strata.patch.specificity import key_part
from strata.task import Task, task_of


class Hybrids(NamedTuple):
    """Tokens to put in the place of residues.

    ``acts_as`` is the residue as which the algebra says the token acts, −1 where it names only the
    class that it acts as, ``of_class``.
    """

    table: Float[np.ndarray, "count d_model"]
    instead_of: Int[np.ndarray, " count"]
    acts_as: Int[np.ndarray, " count"]
    of_class: Int[np.ndarray, " count"]


def axis_parts(subject: Subject, of: Iterable[JClass], p: int) -> dict[int, np.ndarray]:
    """The part of the rows of each class on the axis of p, in atomic key characters."""
    keys = {J: projections.atomic_key(J, subject.masks[J.d], p) for J in of}
    return {J.d: key_rows(subject, J, mask) for J, mask in keys.items()}


def exchanged(
    subject: Subject,
    J: JClass,
    other: Int[np.ndarray, " size"],
    p: int,
    parts: dict[int, np.ndarray],
) -> Hybrids:
    """Each element of J_d with its part on the axis of p replaced by that of another residue."""
    task = subject.rig.task
    rows = np.array([parts[int(task.labels[x])][task.position[x]] for x in other])
    table = subject.rows_of_W_E[J.elements] - parts[J.d] + rows
    return Hybrids(table, J.elements, moved(J, other, p, task), np.full(len(J), J.d))


def same_axis(J: JClass, K: JClass, p: int) -> bool:
    """Whether J and K are two groups whose axes of p tell apart the same residues."""
    sizes = {axis_size(x.m, p) for x in (J, K)}
    return K.d != J.d and J.regular and K.regular and len(sizes) == 1


def moved(
    J: JClass, other: Int[np.ndarray, " size"], p: int, task: Task | None = None
) -> Int[np.ndarray, " size"]:
    """The elements of J_d with their coordinates on the axes of p replaced by those of others."""
    t, of = J.coordinates.copy(), task_of(task or J.n)
    for i, x in enumerate(other.tolist()):
        K = JClass(J.n, int(of.labels[x]))
        theirs = K.coordinates[of.position[x]]
        t[i, np.array(axis_primes(J)) == p] = theirs[np.array(axis_primes(K)) == p]
    return J.elements[np.ravel_multi_index(tuple(t.T), J.orders)]


def key_rows(subject: Subject, J: JClass, mask: Bool[np.ndarray, " size"]) -> np.ndarray:
    """The part of the rows of a class in the span of these characters, as W_E has them."""
    return key_part(subject, J, mask).astype(subject.rows_of_W_E.dtype)


class Predictions(NamedTuple):
    """For every (hybrid, b): the answer or the class predicted, its chance, and whether the trial
    counts."""

    expected: Int[np.ndarray, "count n"]
    chance: Float[np.ndarray, "count n"]
    counts: Bool[np.ndarray, "count n"]


def norm_matched(hybrids: Hybrids, rows: np.ndarray, rng: np.random.Generator) -> Hybrids:
    """Each change of a row of W_E replaced by one of the same length in a random direction."""
    change = hybrids.table - rows[hybrids.instead_of]
    random = rng.normal(size=change.shape)
    random *= (np.linalg.norm(change, axis=1) / np.linalg.norm(random, axis=1))[:, None]
    return hybrids._replace(table=(rows[hybrids.instead_of] + random).astype(change.dtype))


def predictions(hybrids: Hybrids, n: int, exact: bool) -> Predictions:
    """What the algebra says of every (hybrid, b): the answer if ``exact``, or else the class.

    A trial counts where this is not what holds for the residue itself and, if an answer is asked
    for, there is one and its class has another element.
    """
    b, acts = np.arange(n), hybrids.acts_as[:, None]
    product = np.outer(hybrids.instead_of, b) % n
    target = np.gcd(np.outer(hybrids.of_class, b), n)  # gcd(d b, n) is the class for every n
    sizes = np.zeros(n + 1)
    for J in classes(n):
        sizes[J.d] = len(J)
    if not exact:
        return Predictions(target, sizes[target] / n, target != np.gcd(product, n))
    answer = np.where(acts < 0, -1, acts * b % n)
    counts = (acts >= 0) & (answer != product) & (sizes[target] > 1)
    return Predictions(answer, 1 / sizes[target], counts)
