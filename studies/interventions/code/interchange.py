"""Interchange: an operand made of two residues' parts, and the answer that the algebra predicts.

Definitions and criteria: criteria.md, section 3.
"""

import numpy as np
from jaxtyping import Bool, Int

from strata.patch import patching
from strata.patch.ablations import Subject
from strata.patch.hybrids import Hybrids, norm_matched, predictions
from strata.patch.patching import Outcome, Rig
from strata.patch.scores import short
from studies.interventions.code import hybrids as made
from studies.interventions.code.records import ClassTrials, Interchange, Kind

CLASS_ONLY: tuple[Kind, ...] = ("class only", "class only, shared coordinates")


def answers(rig: Rig, hybrids: Hybrids, counts: Bool[np.ndarray, "count n"]) -> Outcome:
    """What the network gives for (hybrid, b) for each pair that counts, row by row."""
    i, b = np.nonzero(counts)
    n, W_E = rig.n, rig.weights["W_E"]
    rows = hybrids.table.astype(W_E.dtype)
    weights = rig.weights | {"W_E": np.concatenate([W_E[:n], rows, W_E[n:]])}
    return patching.outcomes(weights, n + i, b, hybrids.instead_of[i] * b % n)


def measured(
    subject: Subject, kind: Kind, hybrids: Hybrids, rng: np.random.Generator
) -> Interchange | None:
    """Success of one kind of interchange; None where no trial counts."""
    n, exact = subject.rig.n, kind not in CLASS_ONLY
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


def interchange(subject: Subject, partners: int, rng: np.random.Generator) -> list[Interchange]:
    """Every kind of interchange that the model's classes allow."""
    kinds: dict[Kind, list[Hybrids]] = {
        "class": list(made.class_hybrids(subject)),
        "class only": list(made.class_hybrids(subject)),
        "element": list(made.element_hybrids(subject, partners, rng)),
        "axis": list(made.axis_hybrids(subject, partners, rng, within=True)),
        "axis of another class": list(made.axis_hybrids(subject, partners, rng, within=False)),
        "class, shared coordinates": list(made.shared_hybrids(subject)),
        "class only, shared coordinates": list(made.shared_hybrids(subject)),
    }
    records = []
    for kind, parts in kinds.items():
        hybrids = made.joined(parts)
        records.append(measured(subject, kind, hybrids, rng) if hybrids else None)
    return [record for record in records if record]
