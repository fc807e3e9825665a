"""The criteria of the interventions as tables: of a run, beside its negative controls, over runs.

A run that diverged has no case of any criterion, and none of its numbers.
"""

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

import numpy as np
import pandas as pd

from strata.interventions import criteria
from strata.interventions.criteria import Judged
from strata.schema import Interventions
from strata.statistics import above_chance
from strata.tables.headline import Table


def evidence(run: Interventions) -> pd.DataFrame:
    """Every criterion: its number in the worst case, that of the control, and whether it passes."""
    rows = [
        (x.section, x.test, x.value, x.against, f"{x.held} of {x.cases}" if x.cases else "",
         x.passed)
        for x in criteria.judge(run)
    ]  # fmt: skip
    names = ["section", "test", "value", "against", "held", "passed"]
    return pd.DataFrame(rows, columns=names)


def beside_controls(
    trained: Interventions, memorised: Interventions, untrained: Interventions
) -> tuple[Table, ...]:
    """Each criterion on a run, on its weights before it generalised, and before it was trained."""
    models = {"trained": trained, "memorised": memorised, "untrained": untrained}
    judged = {name: _judged([run]) for name, run in models.items()}
    rows = []
    for section, test in judged["trained"]:
        row: dict[str, Any] = {"section": section, "test": test}
        for name, by_test in judged.items():
            for x in by_test.get((section, test), ()):
                row |= {f"value_{name}": x.value, f"passed_{name}": x.passed}
        rows.append(row)
    columns = [f"{kind}_{name}" for name in models for kind in ("value", "passed")]
    about = f"The criteria on {trained.run}, and on two models that should fail them."
    frame = pd.DataFrame(rows, columns=["section", "test", *columns])
    return (Table("negative-controls", about, frame),)


def over_runs(*runs: Interventions) -> tuple[Table, ...]:
    """Each criterion over many runs: how many transformers pass, and the spread of its number in
    them; how many pass modulus by modulus, MLP-only models apart; and what heads are needed for.
    """
    own = [run for run in runs if run.architecture == "transformer"]
    about = f"over {len(own)} transformer{'s' if len(own) != 1 else ''}"
    return (
        Table("evidence-runs", f"The criteria {about}.", spread(own)),
        Table("evidence-moduli", "Runs that pass the criteria, modulus by modulus.", passes(runs)),
        Table("heads-primes", "The prime powers that heads are needed for.", heads_primes(own)),
    )


def spread(runs: Sequence[Interventions]) -> pd.DataFrame:
    """How many runs have a case of each criterion, how many pass it, and its number in them."""
    rows = []
    for (section, test), every in _judged(runs).items():
        known = _with_cases(every)
        value = pd.Series([x.value for x in known], dtype=float)
        row: dict[str, Any] = {"section": section, "test": test, "unit": "share"}
        row |= {"runs": len(known), "of": len(runs), "passes": sum(bool(x.passed) for x in known)}
        row |= {"mean": value.mean(), "std": value.std(), "min": value.min(), "max": value.max()}
        rows.append(row)
    names = ["section", "test", "unit", "runs", "of", "passes", "mean", "std", "min", "max"]
    return pd.DataFrame(rows, columns=names)


def passes(runs: Sequence[Interventions]) -> pd.DataFrame:
    """How many of the runs of each modulus pass each criterion, of those that have a case."""
    kinds: dict[str, list[Interventions]] = {}
    for run in runs:
        mark = "" if run.architecture == "transformer" else f"{run.architecture} "
        kinds.setdefault(f"{mark}n{run.n}", []).append(run)
    judged = {kind: _judged(own) for kind, own in kinds.items()}
    rows = []
    for section, test in dict.fromkeys(key for by_test in judged.values() for key in by_test):
        own = {kind: _with_cases(x.get((section, test), [])) for kind, x in judged.items()}
        cells = {k: f"{sum(bool(v.passed) for v in x)} of {len(x)}" for k, x in own.items() if x}
        rows.append({"section": section, "test": test} | dict.fromkeys(kinds, "") | cells)
    return pd.DataFrame(rows, columns=["section", "test", *kinds])


def _judged(runs: Sequence[Interventions]) -> dict[tuple[str, str], list[Judged]]:
    """What comes of each criterion in each run, by section and test."""
    by_test: dict[tuple[str, str], list[Judged]] = {}
    for x in (x for run in runs for x in criteria.judge(run)):
        by_test.setdefault((x.section, x.test), []).append(x)
    return by_test


def _with_cases(judged: Sequence[Judged]) -> list[Judged]:
    return [x for x in judged if x.passed is not None]


def heads_primes(runs: Sequence[Interventions]) -> pd.DataFrame:
    """Which heads each prime power of n loses most by: the one modulo which least skill is left
    without the head. With the least and the most skill then left modulo that prime power, and the
    least modulo any other. Of runs whose n has more than one prime.

    Skill modulo q is (right − chance) / (1 − chance). Shares of right answers can't be compared
    between primes, so chance decides: it is that of an answer in the right class, as everywhere in
    docs/interventions.md. ``needed_zero`` is what comes out where it is that of always answering
    0, the commonest residue of a product. A model that has lost a prime and kept the classes is at
    0 on the first scale, on the second at 1/2 modulo 3 and 1/10 modulo 11.
    """
    rows = []
    for run in sorted(runs, key=lambda run: (-run.n, run.seed)):
        right = _right_without(run)
        if not right or len(next(iter(right.values()))) == 1:
            continue
        left = {h: _skills(x, _class_known) for h, x in right.items()}
        zero = {h: _skills(x, _always_zero) for h, x in right.items()}
        own = _own(left)
        at = [skill[own[head]] for head, skill in left.items()]
        others = [x for head, skill in left.items() for q, x in skill.items() if q != own[head]]
        least = min(others, default=None)
        rows.append((run.n, run.seed, _needed(left), min(at), max(at), least, _needed(zero)))
    names = ["n", "seed", "needed", "own_least", "own_most", "others_least", "needed_zero"]
    return pd.DataFrame(rows, columns=names)


def _right_without(run: Interventions) -> dict[int, dict[int, float]]:
    """Shares of right answers modulo each prime power without a head, for each head."""
    single = (x for x in run.routing if x.change == "ablate" and len(x.heads) == 1)
    return {x.heads[0]: x.all.modulo for x in single if x.all}


def _own(left: dict[int, dict[int, float]]) -> dict[int, int]:
    """The prime power modulo which least skill is left without a head, for each head."""
    return {head: min(skill, key=lambda q: skill[q]) for head, skill in left.items()}


def _needed(left: dict[int, dict[int, float]]) -> str:
    """The heads of each prime power, from the skill that each head leaves.

    >>> _needed({0: {3: 0.5, 5: 0.1}, 1: {3: 0.0, 5: 1.0}, 2: {3: 0.9, 5: 0.8}})
    '3: 1; 5: 0, 2'
    """
    own = _own(left)
    heads = {q: [str(h) for h in own if own[h] == q] for q in sorted(set(own.values()))}
    return "; ".join(f"{q}: {', '.join(names)}" for q, names in heads.items())


def _skills(right: dict[int, float], chance: Callable[[int], float]) -> dict[int, float]:
    """Of answers right modulo prime powers, above chance; none modulo 2 where chance is all."""
    above = {q: above_chance(x, chance(q)) for q, x in right.items()}
    return {q: x for q, x in above.items() if x is not None}


def _class_known(q: int) -> float:
    """How often a random element of the right class of Z_q is the product of two residues.

    >>> 9 * _class_known(3), _class_known(2)
    (7.0, 1.0)
    """
    product = np.multiply.outer(np.arange(q), np.arange(q)) % q
    return float((1 / np.bincount(np.gcd(np.arange(q), q))[np.gcd(product, q)]).mean())


def _always_zero(q: int) -> float:
    """How often the product of two residues is 0 modulo q.

    >>> 9 * _always_zero(3)
    5.0
    """
    return sum(gcd(x, q) for x in range(q)) / q**2
