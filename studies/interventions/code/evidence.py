"""The criteria of the interventions as tables: of a run, beside its negative controls, over runs.

A run that diverged has no case of any criterion, and none of its numbers.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from strata.measure.metrics import Metrics
from strata.params import Params
from strata.patch.scores import Range
from strata.tables.headline import Table
from studies.interventions.code import criteria, heads
from studies.interventions.code import tables_levels as levels
from studies.interventions.code.levels import LEVELS, Judged
from studies.interventions.code.records import EqualEnergy, Interventions

# Two criteria ask that a mean pattern breaks the model.
BREAKS = ("head 0 routes by class", "all heads route by class")
CANNOT = "cannot pass: no mean pattern breaks a run"


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


def over_runs(
    runs: Sequence[Interventions], metrics: Sequence[Metrics], params: Params
) -> tuple[Table, ...]:
    """Each criterion over many runs: how many transformers pass, and the spread of its number in
    them; how many pass modulus by modulus, MLP-only models apart; the comparisons at equal energy;
    what heads are needed for; and which of this hangs on a level."""
    own = [run for run in runs if run.architecture == "transformer"]
    about = f"over {len(own)} transformer{'s' if len(own) != 1 else ''}"
    scaled = "Key characters beside others at equal energy, means over runs"
    routes = "Skill that a mean pattern loses and patterns by blocks bring back, over runs"
    chance = "Heads that are divided two and two between the two largest prime powers of n"
    hangs = "Runs that pass the criteria at other levels"
    confidence = params.grid.confidence
    return (
        Table("evidence-runs", f"The criteria {about}.", spread(own)),
        Table("evidence-moduli", "Runs that pass the criteria, modulus by modulus.", passes(runs)),
        Table("equal-energy", f"{scaled}.", equal_energy(runs)),
        Table("routing-runs", f"{routes}.", heads.routes(own, confidence)),
        Table("heads-primes", "The prime powers that heads are needed for.", heads.primes(own)),
        Table("heads-chance", f"{chance}.", heads.chance(own)),
        Table("evidence-levels", f"{hangs}.", levels.hangs(own, metrics, params)),
    )


def spread(runs: Sequence[Interventions]) -> pd.DataFrame:
    """How many runs have a case of each criterion, how many pass it, and its number in them."""
    rows = []
    for (section, test), every in _judged(runs).items():
        known = _with_cases(every)
        value = pd.Series([x.value for x in known], dtype=float)
        row: dict[str, Any] = {"section": section, "test": test, "unit": "share"}
        row |= {"runs": len(known), "of": len(runs), "passes": sum(bool(x.passed) for x in known)}
        row["note"] = CANNOT if test in BREAKS and known and not _breaks(known) else ""
        row |= {"mean": value.mean(), "std": value.std(), "min": value.min(), "max": value.max()}
        rows.append(row)
    names = ["section", "test", "unit", "runs", "of", "passes", "mean", "std", "min", "max", "note"]
    return pd.DataFrame(rows, columns=names)


def _breaks(judged: Sequence[Judged]) -> bool:
    """Whether a mean pattern, which the others are to be compared with, breaks any of the runs."""
    return any(x.against is not None and x.against <= LEVELS.broken for x in judged)


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


ENERGY = {
    "keep_key": "K", "keep_key_weak": "sK", "keep_other": "O", "keep_other_strong": "O/s",
    "keep_top": "B", "remove_key": "−K", "remove_key_weak": "−sK", "add_other_strong": "+O/s",
    "remove_top": "−B",
}  # fmt: skip


def equal_energy(runs: Sequence[Interventions]) -> pd.DataFrame:
    """For each kind of model, modulus and site: the mean skill after each change of all classes at
    once, the mean overlap, and in how many runs strong other characters or the top components alone
    leave the model intact."""
    kinds: dict[tuple[str, int, str], list[EqualEnergy]] = {}
    for run in runs:
        for x in (x for x in run.equal_energy if x.d is None):
            kinds.setdefault((run.architecture, run.n, x.site), []).append(x)
    rows = []
    for (architecture, n, site), own in kinds.items():
        row: dict[str, Any] = {"architecture": architecture, "n": n, "site": site}
        row |= {"runs": len(own), "overlap": pd.Series([x.overlap for x in own]).mean()}
        skills = {name: [skill_of(x, name) for x in own] for name in ENERGY}
        row |= {name: pd.Series(x, dtype=float).mean() for name, x in skills.items()}
        for name in ("keep_other_strong", "keep_top"):
            row[f"{name}_intact"] = sum((x or 0) >= LEVELS.intact for x in skills[name])
        rows.append(row)
    names = ["architecture", "n", "site", "runs", "overlap", *ENERGY]
    return pd.DataFrame(rows, columns=[*names, "keep_other_strong_intact", "keep_top_intact"])


def skill_of(record: EqualEnergy, name: str) -> float | None:
    """The skill after a change, or its mean over draws."""
    skill = getattr(record, name).skill
    return skill.mean if isinstance(skill, Range) else skill


def _judged(runs: Sequence[Interventions]) -> dict[tuple[str, str], list[Judged]]:
    """What comes of each criterion in each run, by section and test."""
    by_test: dict[tuple[str, str], list[Judged]] = {}
    for x in (x for run in runs for x in criteria.judge(run)):
        by_test.setdefault((x.section, x.test), []).append(x)
    return by_test


def _with_cases(judged: Sequence[Judged]) -> list[Judged]:
    return [x for x in judged if x.passed is not None]
