"""Interchange: an operand made of two residues' parts, and the answer that the algebra predicts.

Definitions and criteria: docs/interventions.md, section 3.
"""

from collections.abc import Iterable, Iterator
from math import gcd
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from strata.interventions import patching, projections
from strata.interventions.ablations import Subject
from strata.interventions.patching import Rig
from strata.interventions.scores import short
from strata.interventions.specificity import key_part
from strata.monoid import JClass, classes, position
from strata.schema import ClassTrials, Interchange
from strata.schema.interventions import Kind


class Hybrids(NamedTuple):
    """Tokens to put in the place of residues.

    ``acts_as`` is the residue as which the algebra says the token acts, −1 where it names only the
    class that it acts as, ``of_class``.
    """

    table: Float[np.ndarray, "count d_model"]
    instead_of: Int[np.ndarray, " count"]
    acts_as: Int[np.ndarray, " count"]
    of_class: Int[np.ndarray, " count"]


class Predictions(NamedTuple):
    """For every (hybrid, b): the answer or the class predicted, its chance, and whether the trial
    counts."""

    expected: Int[np.ndarray, "count n"]
    chance: Float[np.ndarray, "count n"]
    counts: Bool[np.ndarray, "count n"]


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
        sources = [J] if within else [K for K in known if _same_axis(J, K, p)]
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


def _same_axis(J: JClass, K: JClass, p: int) -> bool:
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


def answers(
    rig: Rig, hybrids: Hybrids, counts: Bool[np.ndarray, "count n"]
) -> Int[np.ndarray, " trials"]:
    """What the network answers to (hybrid, b) for each pair that counts, row by row."""
    i, b = np.nonzero(counts)
    n, W_E = rig.n, rig.weights["W_E"]
    rows = hybrids.table.astype(W_E.dtype)
    weights = rig.weights | {"W_E": np.concatenate([W_E[:n], rows, W_E[n:]])}
    return patching.forward(weights, n + i, b, hybrids.instead_of[i] * b % n).answer


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


def measured(
    subject: Subject, kind: Kind, hybrids: Hybrids, rng: np.random.Generator
) -> Interchange | None:
    """Success of one kind of interchange; None where no trial counts."""
    n, exact = subject.rig.n, kind != "class only"
    expected, chance, counts = predictions(hybrids, n, exact)
    if not counts.any():
        return None
    given = answers(subject.rig, hybrids, counts)
    random = answers(subject.rig, norm_matched(hybrids, subject.rows_of_W_E, rng), counts)
    hits, by_random = ((x if exact else np.gcd(x, n)) == expected[counts] for x in (given, random))
    i, b = np.nonzero(counts)
    source, target = np.gcd(hybrids.instead_of, n)[i], hybrids.of_class[i]
    return Interchange(
        kind=kind,
        trials=len(given),
        success=short(hits.mean()),
        unchanged=short((given == hybrids.instead_of[i] * b % n).mean()),
        in_class=short((np.gcd(given, n) == np.gcd(target * b, n)).mean()),
        chance=short(chance[counts].mean()),
        random=short(by_random.mean()),
        by_class=_by_class(source, target, hits),
    )


def _by_class(source: np.ndarray, target: np.ndarray, hits: np.ndarray) -> tuple[ClassTrials, ...]:
    """Trials and success by class of a and class that the hybrid acts as."""
    cases = sorted({*zip(source.tolist(), target.tolist(), strict=True)})
    where = {(d, e): (source == d) & (target == e) for d, e in cases}
    return tuple(
        ClassTrials(source=d, target=e, trials=int(x.sum()), success=short(hits[x].mean()))
        for (d, e), x in where.items()
    )


def interchange(subject: Subject, partners: int, rng: np.random.Generator) -> list[Interchange]:
    """Every kind of interchange that the model's classes allow."""
    kinds: dict[Kind, list[Hybrids]] = {
        "class": list(class_hybrids(subject)),
        "class only": list(class_hybrids(subject)),
        "element": list(element_hybrids(subject, partners, rng)),
        "axis": list(axis_hybrids(subject, partners, rng, within=True)),
        "axis of another class": list(axis_hybrids(subject, partners, rng, within=False)),
    }
    records = []
    for kind, parts in kinds.items():
        hybrids = joined(parts)
        records.append(measured(subject, kind, hybrids, rng) if hybrids else None)
    return [record for record in records if record]
