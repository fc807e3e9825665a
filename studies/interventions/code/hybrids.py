"""The operands made of two residues' parts that the tests of interchange use.

Definitions: criteria.md, section 3.
"""

from collections.abc import Iterator

import numpy as np

from strata.monoid import JClass, axis_primes, classes
from strata.patch.ablations import Subject
from strata.patch.hybrids import Hybrids, axis_parts, exchanged, key_rows, same_axis


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
        parts = key_rows(subject, J, mask)
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
    cases = [(J, p) for J in known for p in sorted({*axis_primes(J)})]
    for J, p in cases:
        sources = [J] if within else [K for K in known if same_axis(J, K, p)]
        parts = axis_parts(subject, [J, *sources], p)
        if not sources or not parts[J.d].any():
            continue
        pool = np.concatenate([K.elements for K in sources])
        for _ in range(partners):
            yield exchanged(subject, J, rng.choice(pool, len(J)), p, parts)
