"""Interchange: an operand made of two residues' parts, and the answer that the algebra predicts.

Definitions and criteria: criteria.md, section 3.
"""

from collections.abc import Iterator
from itertools import permutations

import numpy as np
from jaxtyping import Bool, Int

from strata.monoid import JClass, axis_primes, classes
from strata.patch import patching
from strata.patch.ablations import Subject
from strata.patch.hybrids import (
    Hybrids,
    axis_parts,
    exchanged,
    key_rows,
    norm_matched,
    predictions,
    same_axis,
)
from strata.patch.patching import Outcome, Rig
from strata.patch.scores import short
from studies.interventions.code.records import ClassTrials, Interchange, Kind

CLASS_ONLY: tuple[Kind, ...] = ("class only", "class only, shared coordinates")


def interchange(subject: Subject, partners: int, rng: np.random.Generator) -> list[Interchange]:
    """Every kind of interchange that the model's classes allow."""
    of_classes, shared = list(class_hybrids(subject)), list(shared_hybrids(subject))
    kinds: dict[Kind, list[Hybrids]] = {
        "class": of_classes,
        "class only": of_classes,
        "element": list(element_hybrids(subject, partners, rng)),
        "axis": list(axis_hybrids(subject, partners, rng, within=True)),
        "axis of another class": list(axis_hybrids(subject, partners, rng, within=False)),
        "class, shared coordinates": shared,
        "class only, shared coordinates": shared,
    }
    records = [measured(subject, kind, parts, rng) for kind, parts in kinds.items() if parts]
    return [record for record in records if record]


def class_hybrids(subject: Subject) -> Iterator[Hybrids]:
    """W_E[a] − μ_d + μ_d′ for every a and every other class d′, both of them groups."""
    n, W_E = subject.rig.n, subject.rows_of_W_E
    groups = [J for J in classes(n) if J.regular]
    means = {J.d: W_E[J.elements].mean(axis=0) for J in groups}
    for J, K in permutations(groups, 2):
        a = J.elements
        known = K.d % J.d == 0 and K.idempotent is not None
        acts = a * K.idempotent % n if known else np.full(len(J), -1)
        yield Hybrids(W_E[a] - means[J.d] + means[K.d], a, acts, np.full(len(J), K.d))


def shared_hybrids(subject: Subject) -> Iterator[Hybrids]:
    """A(a) − μ_d + μ_d′ for every a and every class d′ that d divides, both of them groups, d′ of
    two elements or more; A(a) is the mean over the x of J_d with x ≡ a mod n/d′.

    It has the coordinates of a on the primes that J_d′ has, and those of no residue on the others.
    """
    n, W_E = subject.rig.n, subject.rows_of_W_E
    groups = [J for J in classes(n) if J.regular]
    for J, K in permutations(groups, 2):
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


def answers(rig: Rig, hybrids: Hybrids, counts: Bool[np.ndarray, "count n"]) -> Outcome:
    """What the network gives for (hybrid, b) for each pair that counts, row by row."""
    i, b = np.nonzero(counts)
    n, W_E = rig.n, rig.weights["W_E"]
    rows = hybrids.table.astype(W_E.dtype)
    weights = rig.weights | {"W_E": np.concatenate([W_E[:n], rows, W_E[n:]])}
    return patching.outcomes(weights, n + i, b, hybrids.instead_of[i] * b % n)


def measured(
    subject: Subject, kind: Kind, parts: list[Hybrids], rng: np.random.Generator
) -> Interchange | None:
    """Success of one kind of interchange; None where no trial counts."""
    n, exact = subject.rig.n, kind not in CLASS_ONLY
    hybrids = Hybrids(*map(np.concatenate, zip(*parts, strict=True)))
    expected, chance, counts = predictions(hybrids, n, exact)
    if not counts.any():
        return None
    given = answers(subject.rig, hybrids, counts)
    random = answers(subject.rig, norm_matched(hybrids, subject.rows_of_W_E, rng), counts)

    def hits(answer: Int[np.ndarray, " trials"]) -> Bool[np.ndarray, " trials"]:
        return (answer if exact else np.gcd(answer, n)) == expected[counts]

    i, b = np.nonzero(counts)
    source, target = np.gcd(hybrids.instead_of, n)[i], hybrids.of_class[i]
    return Interchange(
        kind=kind,
        trials=len(i),
        unchanged=short((given.answer == hybrids.instead_of[i] * b % n).mean()),
        in_class=short((np.gcd(given.answer, n) == np.gcd(target * b, n)).mean()),
        chance=short(chance[counts].mean()),
        by_class=_by_class(source, target, hits(given.answer)),
        success=short(hits(given.answer).mean()),
        random=short(hits(random.answer).mean()),
    )


def _by_class(source: np.ndarray, target: np.ndarray, hits: np.ndarray) -> tuple[ClassTrials, ...]:
    """Trials and success by class of a and class that the hybrid acts as."""
    cases = sorted({*zip(source.tolist(), target.tolist(), strict=True)})
    where = {(d, e): (source == d) & (target == e) for d, e in cases}
    return tuple(
        ClassTrials(source=d, target=e, trials=int(x.sum()), success=short(hits[x].mean()))
        for (d, e), x in where.items()
    )
