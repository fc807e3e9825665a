"""Operands made of two residues' parts, and the residue as which the algebra says they act.

Definitions: docs/interventions.md, section 3.
"""

from collections.abc import Iterable, Iterator
from math import gcd
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from strata.monoid import JClass, classes, position
from strata.patch import projections
from strata.patch.ablations import Subject
from strata.patch.specificity import key_part


class Hybrids(NamedTuple):
    """Tokens to put in the place of residues.

    ``acts_as`` is the residue as which the algebra says the token acts, −1 where it names only the
    class that it acts as, ``of_class``.
    """

    table: Float[np.ndarray, "count d_model"]
    instead_of: Int[np.ndarray, " count"]
    acts_as: Int[np.ndarray, " count"]
    of_class: Int[np.ndarray, " count"]


def joined(parts: list[Hybrids]) -> Hybrids | None:
    """One list of hybrids; None where there is none."""
    known = [part for part in parts if len(part.table)]
    return Hybrids(*map(np.concatenate, zip(*known, strict=True))) if known else None


def class_hybrids(subject: Subject) -> Iterator[Hybrids]:
    """W_E[a] − μ_d + μ_d′ for every a and every other class d′, both of them groups."""
    n, W_E = subject.rig.n, subject.rows_of_W_E
    groups = [J for J in classes(n) if J.regular]
    means = {J.d: W_E[J.elements].mean(axis=0) for J in groups}
    for J in groups:
        for K in groups:
            if J.d != K.d:
                a = J.elements
                known = K.d % J.d == 0 and K.idempotent is not None
                acts = a * K.idempotent % n if known else np.full(len(J), -1)
                table = W_E[a] - means[J.d] + means[K.d]
                yield Hybrids(table, a, acts, np.full(len(J), K.d))


def shared_hybrids(subject: Subject) -> Iterator[Hybrids]:
    """A(a) − μ_d + μ_d′ for every a and every class d′ that d divides, both of them groups, d′ of
    two elements or more; A(a) is the mean over the x of J_d with x ≡ a mod n/d′.

    It has the coordinates of a on the primes that J_d′ has, and those of no residue on the others.
    """
    n, W_E = subject.rig.n, subject.rows_of_W_E
    groups = [J for J in classes(n) if J.regular]
    for J, K in ((J, K) for J in groups for K in groups if J.d != K.d):
        if K.d % J.d == 0 and len(K) > 1 and K.idempotent is not None:
            a, rows = J.elements, W_E[J.elements].astype(np.float64)
            same = (a[:, None] - a) % K.m == 0
            shared = same @ rows / same.sum(axis=1)[:, None]
            table = shared - rows.mean(axis=0) + W_E[K.elements].mean(axis=0, dtype=np.float64)
            yield Hybrids(table.astype(W_E.dtype), a, a * K.idempotent % n, np.full(len(J), K.d))


def element_hybrids(subject: Subject, partners: int, rng: np.random.Generator) -> Iterator[Hybrids]:
    """The key part of a replaced by that of random other elements of its class."""
    for d, mask in subject.masks.items():
        J = JClass(subject.rig.n, d)
        parts = _part(subject, J, mask)
        for _ in range(partners):
            other = rng.permutation(len(J))
            table = subject.rows_of_W_E[J.elements] - parts + parts[other]
            yield Hybrids(table, J.elements, J.elements[other], np.full(len(J), d))


def axis_hybrids(
    subject: Subject, partners: int, rng: np.random.Generator, within: bool
) -> Iterator[Hybrids]:
    """The part of a on one axis replaced by that of random elements of its class, or of others."""
    n = subject.rig.n
    known = [J for J in classes(n) if J.d in subject.masks]
    cases = [(J, p) for J in known for p in sorted({*projections.axis_primes(J)})]
    for J, p in cases:
        sources = [J] if within else [K for K in known if same_axis(J, K, p)]
        parts = axis_parts(subject, [J, *sources], p)
        if not sources or not parts[J.d].any():
            continue
        pool = np.concatenate([K.elements for K in sources])
        for _ in range(partners):
            yield exchanged(subject, J, rng.choice(pool, len(J)), p, parts)


def axis_parts(subject: Subject, of: Iterable[JClass], p: int) -> dict[int, np.ndarray]:
    """The part of the rows of each class on the axis of p, in atomic key characters."""
    keys = {J: projections.atomic_key(J, subject.masks[J.d], p) for J in of}
    return {J.d: _part(subject, J, mask) for J, mask in keys.items()}


def exchanged(
    subject: Subject,
    J: JClass,
    other: Int[np.ndarray, " size"],
    p: int,
    parts: dict[int, np.ndarray],
) -> Hybrids:
    """Each element of J_d with its part on the axis of p replaced by that of another residue."""
    n = subject.rig.n
    rows = np.array([parts[gcd(int(x), n)][position(n)[x]] for x in other])
    table = subject.rows_of_W_E[J.elements] - parts[J.d] + rows
    return Hybrids(table, J.elements, moved(J, other, p), np.full(len(J), J.d))


def same_axis(J: JClass, K: JClass, p: int) -> bool:
    """Whether J and K are two groups whose axes of p tell apart the same residues."""
    sizes = {projections.axis_size(x.m, p) for x in (J, K)}
    return K.d != J.d and J.regular and K.regular and len(sizes) == 1


def moved(J: JClass, other: Int[np.ndarray, " size"], p: int) -> Int[np.ndarray, " size"]:
    """The elements of J_d with their coordinates on the axes of p replaced by those of others."""
    t = J.coordinates.copy()
    for i, x in enumerate(other.tolist()):
        K = JClass(J.n, gcd(x, J.n))
        theirs = K.coordinates[position(J.n)[x]]
        t[i, np.array(projections.axis_primes(J)) == p] = theirs[
            np.array(projections.axis_primes(K)) == p
        ]
    return J.elements[np.ravel_multi_index(tuple(t.T), J.orders)]


def _part(subject: Subject, J: JClass, mask: Bool[np.ndarray, " size"]) -> np.ndarray:
    return key_part(subject, J, mask).astype(subject.rows_of_W_E.dtype)
