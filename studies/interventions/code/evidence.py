"""The criteria of the interventions as tables: of a run, beside its negative controls, over runs;
and as the long table from which other studies read.

A run that diverged has no case of any criterion, and none of its numbers.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from strata.patch.scores import Range
from strata.results import Row, verdict
from strata.tables.table import KIND, RUNS, SPREAD, Column, N, Table, of
from studies.interventions.code import criteria, heads
from studies.interventions.code.criteria import Judged
from studies.interventions.code.records import EqualEnergy, Interventions
from studies.params import CriteriaLevels

# Two criteria ask that a mean pattern breaks the model.
BREAKS = ("head 0 routes by class", "all heads route by class")
CANNOT = "cannot pass: no mean pattern breaks a run"
ABOUT = {
    "section": Column("intervention", align="l"),
    "test": Column("criterion", "symbols", "l"),
}
EVIDENCE = ABOUT | {
    "value": Column("worst case", "share"),
    "against": Column("against", "share"),
    "held": Column("cases", of("held", "cases")),
    "passed": Column("passes", "truth", "l"),
}


def evidence(run: Interventions, levels: CriteriaLevels) -> pd.DataFrame:
    """Every criterion: its number in the worst case, that of the control, and whether it passes."""
    rows = [
        (x.section, x.test, x.value, x.against, x.held if x.cases else None, x.cases, x.passed)
        for x in criteria.judge(run, levels)
    ]
    frame = pd.DataFrame(rows, columns=[*ABOUT, "value", "against", "held", "cases", "passed"])
    return frame.astype({"held": "Int64"})


MODELS = ("trained", "memorised", "untrained")
CONTROLS = ABOUT | {
    f"{kind}_{name}": Column(f"{name}{words}", style, align)
    for name in MODELS
    for kind, words, style, align in (
        ("value", "", "share", "r"),
        ("passed", " passes", "truth", "l"),
    )
}


def beside_controls(runs: Sequence[Interventions], levels: CriteriaLevels) -> Table:
    """Each criterion on a run, on its weights before it generalised, and before it was trained."""
    judged = {name: _judged([run], levels) for name, run in zip(MODELS, runs, strict=True)}
    rows = []
    for section, test in judged["trained"]:
        row: dict[str, Any] = {"section": section, "test": test}
        for name, by_test in judged.items():
            for x in by_test.get((section, test), ()):
                row |= {f"value_{name}": x.value, f"passed_{name}": x.passed}
        rows.append(row)
    about = f"The criteria on {runs[0].run}, and on two models that should fail them."
    return Table("negative-controls", about, pd.DataFrame(rows, columns=[*CONTROLS]), CONTROLS)


def over_runs(
    runs: Sequence[Interventions], levels: CriteriaLevels, confidence: float
) -> tuple[Table, ...]:
    """Each criterion over many runs: how many transformers pass, and the spread of its number in
    them; how many pass modulus by modulus, MLP-only models apart; the comparisons at equal energy;
    and what heads are needed for."""
    own = [run for run in runs if run.architecture == "transformer"]
    about = f"over {len(own)} transformer{'s' if len(own) != 1 else ''}"
    scaled = "Key characters beside others at equal energy, means over runs"
    by = "Runs that pass the criteria, modulus by modulus."
    return (
        Table("evidence-runs", f"The criteria {about}.", spread(own, levels), OVER_RUNS),
        Table("evidence-moduli", by, passes(runs, levels), PASSES, ("kind", "passes")),
        Table("equal-energy", f"{scaled}.", equal_energy(runs, levels), EQUAL_ENERGY),
        *heads.tables(own, levels, confidence),
    )


OVER_RUNS = ABOUT | RUNS | SPREAD | {
    "passes": Column("pass", "count"),
    "note": Column("note", align="l"),
}  # fmt: skip


def spread(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
    """How many runs have a case of each criterion, how many pass it, and its number in them."""
    rows = []
    for (section, test), every in _judged(runs, levels).items():
        known = _with_cases(every)
        value = pd.Series([x.value for x in known], dtype=float)
        row: dict[str, Any] = {"section": section, "test": test, "unit": "share"}
        row |= {"runs": len(known), "of": len(runs), "passes": sum(bool(x.passed) for x in known)}
        breaks = any(x.against is not None and x.against <= levels.broken for x in known)
        row["note"] = CANNOT if test in BREAKS and known and not breaks else ""
        row |= {"mean": value.mean(), "std": value.std(), "min": value.min(), "max": value.max()}
        rows.append(row)
    names = ["section", "test", "unit", "runs", "of", "passes", "mean", "std", "min", "max", "note"]
    return pd.DataFrame(rows, columns=names)


def kind(row: Any) -> str:
    """A modulus and a kind of model, above their numbers."""
    return f"n = {row['n']}" + (", mlp" if row["architecture"] == "mlp" else "")


PASSES = ABOUT | {
    "kind": Column("", kind),
    "passes": Column("pass", of("passes", "runs")),
}  # fmt: skip


def passes(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
    """How many of the runs of each kind and modulus pass each criterion, of those that have a
    case; a row for each."""
    kinds: dict[tuple[str, int], list[Interventions]] = {}
    for run in runs:
        kinds.setdefault((run.architecture, run.n), []).append(run)
    judged = {kind: _judged(own, levels) for kind, own in kinds.items()}
    rows = []
    for section, test in dict.fromkeys(key for by_test in judged.values() for key in by_test):
        for (architecture, n), by_test in judged.items():
            own = _with_cases(by_test.get((section, test), []))
            row = {"section": section, "test": test, "architecture": architecture, "n": n}
            held = sum(bool(x.passed) for x in own) if own else None
            rows.append(row | {"kind": n, "passes": held, "runs": len(own)})
    frame = pd.DataFrame(rows, columns=[*ABOUT, "architecture", "n", "kind", "passes", "runs"])
    return frame.astype({"passes": "Int64"})


ENERGY = {
    "keep_key": Column("K", "share"),
    "keep_key_weak": Column("sK", "share"),
    "keep_other": Column("O", "share"),
    "keep_other_strong": Column("O/s", "share"),
    "keep_top": Column("B", "share"),
    "remove_key": Column("less K", "share"),
    "remove_key_weak": Column("less sK", "share"),
    "add_other_strong": Column("plus O/s", "share"),
    "remove_top": Column("less B", "share"),
}
EQUAL_ENERGY = KIND | N | RUNS | ENERGY | {
    "site": Column("site", align="l"),
    "overlap": Column("overlap", "share"),
    "keep_other_strong_intact": Column("O/s intact", "count"),
    "keep_top_intact": Column("B intact", "count"),
}  # fmt: skip


def equal_energy(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
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
            row[f"{name}_intact"] = sum((x or 0) >= levels.intact for x in skills[name])
        rows.append(row)
    names = ["architecture", "n", "site", "runs", "overlap", *ENERGY]
    return pd.DataFrame(rows, columns=[*names, "keep_other_strong_intact", "keep_top_intact"])


def skill_of(record: EqualEnergy, name: str) -> float | None:
    """The skill after a change, or its mean over draws."""
    skill = getattr(record, name).skill
    return skill.mean if isinstance(skill, Range) else skill


def _judged(
    runs: Sequence[Interventions], levels: CriteriaLevels
) -> dict[tuple[str, str], list[Judged]]:
    """What comes of each criterion in each run, by section and test."""
    by_test: dict[tuple[str, str], list[Judged]] = {}
    for x in (x for run in runs for x in criteria.judge(run, levels)):
        by_test.setdefault((x.section, x.test), []).append(x)
    return by_test


def _with_cases(judged: Sequence[Judged]) -> list[Judged]:
    return [x for x in judged if x.passed is not None]


ANSWERS = ("yes", "in part", "no", "not used")


def results(name: str, run: Interventions, levels: CriteriaLevels) -> Iterator[Row]:
    """What other studies read of a run, under a name: every criterion, what attention patterns are
    needed for, what heads are put to, and whether directions go with primes."""
    judged = criteria.judge(run, levels)
    for x in judged:
        numbers = {"passed": x.passed, "value": x.value, "against": x.against}
        for measure, value in (numbers if x.cases else {}).items():
            if value is not None:
                yield Row(name, x.name, measure, "truth" if measure == "passed" else "share", value)
        yield from (Row(name, x.name, "cases", "count", x.cases),
                    Row(name, x.name, "held", "count", x.held))  # fmt: skip
    own = [x.passed for x in judged if x.section == "specificity, axis"]
    if own:
        yield Row(name, "", "directions go with primes", "truth", all(own))
    for of_heads, which in (("head 0", (0,)), ("all heads", criteria.every_head(run))):
        for route in criteria.routes(run, which, levels):
            blocks = f"residues modulo {route.modulus}" if route.modulus else "classes"
            if not route.modulus:
                yield Row(name, of_heads, "skill lost with the mean pattern", "share", route.lost)
            yield from verdict(name, f"{of_heads}: routes by {blocks}", route.answer, ANSWERS)
            if route.used:
                yield Row(name, of_heads, f"share brought back by {blocks}", "share", route.share)
                yield Row(name, of_heads, f"highest of shuffled {blocks}", "share", route.high)
    yield from heads.results(name, run, levels)
