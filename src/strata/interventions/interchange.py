"""Interchange: an operand made of two residues' parts, and the answer that the algebra predicts.

Definitions and criteria: docs/interventions.md, section 3.
"""

from collections.abc import Iterator
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from strata.interventions import patching, projections
from strata.interventions.ablations import Subject, key_part
from strata.interventions.outcomes import short
from strata.interventions.patching import Rig
from strata.monoid import JClass, classes, position

Json = dict[str, Any]


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
    some = [part for part in parts if len(part.table)]
    return Hybrids(*map(np.concatenate, zip(*some, strict=True))) if some else None


def class_swaps(it: Subject) -> Iterator[Hybrids]:
    """W_E[a] − μ_d + μ_d′ for every a and every other class d′, both of them groups."""
    n, W_E = it.rig.n, it.rows_of_W_E
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


def element_swaps(it: Subject, partners: int, rng: np.random.Generator) -> Iterator[Hybrids]:
    """The key part of a replaced by that of random other elements of its class."""
    for d, mask in it.masks.items():
        J = JClass(it.rig.n, d)
        parts = _part(it, J, mask)
        for _ in range(partners):
            other = rng.permutation(len(J))
            table = it.rows_of_W_E[J.elements] - parts + parts[other]
            yield Hybrids(table, J.elements, J.elements[other], np.full(len(J), d))


def axis_swaps(
    it: Subject, partners: int, rng: np.random.Generator, within: bool
) -> Iterator[Hybrids]:
    """The part of a on one axis replaced by that of random elements of its class, or of others."""
    n = it.rig.n
    known = [J for J in classes(n) if J.d in it.masks]
    cases = [(J, p) for J in known for p in sorted({*projections.axis_primes(J)})]
    for J, p in cases:
        homes = [J] if within else [
            K for K in known
            if K.d != J.d and J.regular and K.regular
            and projections.axis_size(K.m, p) == projections.axis_size(J.m, p)
        ]  # fmt: skip
        parts = {
            K.d: _part(it, K, projections.atomic_key(K, it.masks[K.d], p)) for K in [J, *homes]
        }
        if not homes or not parts[J.d].any():
            continue
        pool = np.concatenate([K.elements for K in homes])
        for _ in range(partners):
            other = rng.choice(pool, len(J))
            rows = np.array([parts[gcd(int(x), n)][position(n)[x]] for x in other])
            table = it.rows_of_W_E[J.elements] - parts[J.d] + rows
            yield Hybrids(table, J.elements, moved(J, other, p), np.full(len(J), J.d))


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


def _part(it: Subject, J: JClass, mask: Bool[np.ndarray, " size"]) -> np.ndarray:
    return key_part(it, J, mask).astype(it.rows_of_W_E.dtype)


def answers(
    rig: Rig, hybrids: Hybrids, wanted: Bool[np.ndarray, "count n"]
) -> Int[np.ndarray, " trials"]:
    """What the network answers to (hybrid, b) for each wanted pair, row by row."""
    i, b = np.nonzero(wanted)
    n, W_E = rig.n, rig.weights["W_E"]
    rows = hybrids.table.astype(W_E.dtype)
    weights = rig.weights | {"W_E": np.concatenate([W_E[:n], rows, W_E[n:]])}
    return patching.forward(weights, n + i, b, hybrids.instead_of[i] * b % n).answer


def shoved(hybrids: Hybrids, rows: np.ndarray, rng: np.random.Generator) -> Hybrids:
    """Instead of each change of a row one of the same length in a random direction."""
    change = hybrids.table - rows[hybrids.instead_of]
    random = rng.normal(size=change.shape)
    random *= (np.linalg.norm(change, axis=1) / np.linalg.norm(random, axis=1))[:, None]
    return hybrids._replace(table=(rows[hybrids.instead_of] + random).astype(change.dtype))


def predictions(hybrids: Hybrids, n: int, exact: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every (hybrid, b): the answer or the class predicted, its chance, and whether it counts.

    It counts where the prediction is not that for the residue itself and, if an answer is asked
    for, there is one and its class has another element.
    """
    b, acts = np.arange(n), hybrids.acts_as[:, None]
    product = np.outer(hybrids.instead_of, b) % n
    target = np.gcd(np.outer(hybrids.of_class, b), n)  # gcd(d b, n) is the class for every n
    sizes = np.zeros(n + 1)
    for J in classes(n):
        sizes[J.d] = len(J)
    if not exact:
        return target, sizes[target] / n, target != np.gcd(product, n)
    answer = np.where(acts < 0, -1, acts * b % n)
    return answer, 1 / sizes[target], (acts >= 0) & (answer != product) & (sizes[target] > 1)


def trial(
    it: Subject, name: str, hybrids: Hybrids, exact: bool, rng: np.random.Generator
) -> Json | None:
    """Success of a set of swaps; by class of a, and by the class that the hybrid acts as."""
    n = it.rig.n
    right, chance, wanted = predictions(hybrids, n, exact)
    if not wanted.any():
        return None
    given = answers(it.rig, hybrids, wanted)
    random = answers(it.rig, shoved(hybrids, it.rows_of_W_E, rng), wanted)
    hits, by_random = ((x if exact else np.gcd(x, n)) == right[wanted] for x in (given, random))
    i, b = np.nonzero(wanted)
    source, towards = np.gcd(hybrids.instead_of, n)[i], hybrids.of_class[i]
    return {
        "swap": name,
        "trials": len(given),
        "success": short(hits.mean()),
        "unchanged": short((given == hybrids.instead_of[i] * b % n).mean()),
        "in_class": short((np.gcd(given, n) == np.gcd(towards * b, n)).mean()),
        "chance": short(chance[wanted].mean()),
        "random": short(by_random.mean()),
        "by_class": _by_class(source, towards, hits),
    }


def _by_class(source: np.ndarray, towards: np.ndarray, hits: np.ndarray) -> list[Json]:
    """Trials and success by class of a and class that the hybrid acts as."""
    cases = sorted({*zip(source.tolist(), towards.tolist(), strict=True)})
    where = {(d, e): (source == d) & (towards == e) for d, e in cases}
    return [
        {"from": d, "to": e, "trials": int(x.sum()), "success": short(hits[x].mean())}
        for (d, e), x in where.items()
    ]


def interchange(it: Subject, partners: int, rng: np.random.Generator) -> list[Json]:
    """Every kind of swap that the model's classes allow."""
    kinds = {
        "class": (list(class_swaps(it)), True),
        "class only": (list(class_swaps(it)), False),
        "element": (list(element_swaps(it, partners, rng)), True),
        "axis": (list(axis_swaps(it, partners, rng, within=True)), True),
        "axis of another class": (list(axis_swaps(it, partners, rng, within=False)), True),
    }
    found = []
    for name, (parts, exact) in kinds.items():
        hybrids = joined(parts)
        found.append(hybrids and trial(it, name, hybrids, exact, rng))
    return [record for record in found if record]
