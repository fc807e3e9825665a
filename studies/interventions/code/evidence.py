"""The tables of the interventions: of a run, beside its negative controls, over runs; and as the
long table from which other studies read.

A run that diverged has no case of any criterion, and none of its numbers.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.patch.scores import Range
from strata.results import FAILS, HOLDS, Row
from strata.tables.headline import about
from strata.tables.table import CLASS, KIND, RUNS, SENTENCE, SPREAD, Column, N, Table, holds, of
from studies.interventions.code import criteria, heads
from studies.interventions.code.criteria import Judged, Route
from studies.interventions.code.records import EqualEnergy, Interventions, Region
from studies.params import CriteriaLevels

# Two criteria ask that a mean pattern breaks the model.
BREAKS = ("head-0-blocks", "all-heads-blocks")
CANNOT = "cannot pass: no mean pattern breaks a run"
ABOUT = {"section": Column("intervention", align="l")} | SENTENCE
KEYS = ["id", *ABOUT]


def about_criterion(id: str, levels: CriteriaLevels) -> tuple[str, str, str]:
    """A criterion: its id, its intervention, its sentence."""
    section, sentence = criteria.SENTENCES[id]
    return id, section, sentence.format(levels=levels)


def judged(runs: Sequence[Interventions], levels: CriteriaLevels) -> pd.DataFrame:
    """Every criterion of every run, a row each; without verdict where the run has no case."""
    rows = [
        (run.architecture, run.n, *about_criterion(x.id, levels), *x[1:], x.verdict)
        for run in runs
        for x in criteria.judge(run, levels)
    ]
    frame = pd.DataFrame(rows, columns=["architecture", "n", *KEYS, *Judged._fields[1:], "verdict"])
    return frame.astype({"value": float, "against": float})


def of_run(run: Interventions, levels: CriteriaLevels) -> tuple[Table, ...]:
    """Every table of one run."""
    of = about(run.run)
    axis = f"Skill without the directions of a class, all or on one axis {of}."
    success = f"Answers to operands made of two {of}."
    every = f"The criteria of the interventions {of}."
    return (
        Table("evidence", every, evidence(run, levels), EVIDENCE, run=run.run),
        Table("axes", axis, axes(run), AXES, run=run.run),
        Table("interchange-success", success, interchange(run), INTERCHANGE, run=run.run),
    )


EVIDENCE = ABOUT | {
    "value": Column("worst case", "share"),
    "against": Column("against", "share"),
    "held": Column("cases", of("held", "cases")),
    "verdict": Column("passes", holds("verdict"), "l"),
}


def evidence(run: Interventions, levels: CriteriaLevels) -> pd.DataFrame:
    """Every criterion: its number in the worst case, that of the control, and whether it passes."""
    found = judged([run], levels).drop(columns=["architecture", "n"])
    return found.assign(held=found["held"].where(found["cases"] > 0).astype("Int64"))


AXES = CLASS | {
    "axis": Column("axis"),
    "dimension": Column("dimension", "count"),
    "skill_own": Column("own", "share"),
    "random_own": Column("own, random", "share"),
    "skill_shared": Column("shared", "share"),
    "random_shared": Column("shared, random", "share"),
    "skill_spared": Column("spared", "share"),
    "random_spared": Column("spared, random", "share"),
}


# Without all directions of a class, the pairs that stand for those of an axis.
WHOLE: dict[Region, Region | None] = {"own": "inside", "shared": None, "spared": "outside"}


def axes(run: Interventions) -> pd.DataFrame:
    """Skill without the directions of a class, or without as many random ones, a mean over draws.
    On one axis: of pairs with the axis, with an operand in the class (own) or none (shared), and of
    pairs without it (spared). All directions, axis missing: of pairs with an operand in the class
    (own), and of others (spared). A skill that does not exist is missing."""
    rows = []
    for r in run.specificity:
        row: dict[str, Any] = {"d": r.d, "axis": r.axis, "dimension": r.dimension}
        for name, whole in WHOLE.items():
            region = name if r.axis else whole
            scores = r.regions[region] if region else None
            drawn = r.random[region] if region else None
            row[f"skill_{name}"] = scores.skill if scores else None
            row[f"random_{name}"] = drawn.skill.mean if drawn else None
        rows.append(row)
    return pd.DataFrame(rows, columns=[*AXES]).astype({"axis": "Int64"})


INTERCHANGE = {
    "swap": Column("swap", align="l"),
    "trials": Column("trials", "count"),
    "success": Column("predicted answer", "share"),
    "chance": Column("chance", "share"),
    "random_success": Column("random swap", "share"),
    "unchanged": Column("ab", "share"),
    "in_class": Column("predicted class", "share"),
}


def interchange(run: Interventions) -> pd.DataFrame:
    """Success of each kind of interchange, with chance and norm-matched random directions."""
    rows = [
        (r.kind, r.trials, r.success, r.chance, r.random, r.unchanged, r.in_class)
        for r in run.interchange
    ]
    return pd.DataFrame(rows, columns=[*INTERCHANGE])


MODELS = ("trained", "memorised", "untrained")
CONTROLS = ABOUT.copy()
for name in MODELS:
    CONTROLS |= {f"value_{name}": Column(name, "share")}
    CONTROLS |= {f"verdict_{name}": Column(f"{name} passes", holds(f"verdict_{name}"), "l")}


def beside_controls(runs: Sequence[Interventions], levels: CriteriaLevels) -> Table:
    """Each criterion on a run, on its weights before it generalised, and before it was trained."""
    first, *others = (
        judged([run], levels).set_index(KEYS)[["value", "verdict"]].add_suffix(f"_{name}")
        for name, run in zip(MODELS, runs, strict=True)
    )
    about = f"The criteria on {runs[0].run}, and on two models that should fail them."
    return Table("negative-controls", about, first.join(others).reset_index(), CONTROLS)


def over_runs(
    runs: Sequence[Interventions], levels: CriteriaLevels, confidence: float
) -> tuple[Table, ...]:
    """Each criterion over many runs: how many transformers pass, and the spread of its number in
    them; how many pass modulus by modulus, MLP-only models apart; what a cut spares; comparisons at
    equal energy; and what heads are needed for."""
    own = [run for run in runs if run.architecture == "transformer"]
    about = f"over {len(own)} transformer{'s' if len(own) != 1 else ''}"
    without = "Skill without the directions of a class or of a prime, means over transformers."
    scaled = "Key characters beside others at equal energy, means over runs"
    by = "Runs that pass the criteria, modulus by modulus."
    return (
        Table("evidence-runs", f"The criteria {about}.", spread(own, levels), OVER_RUNS),
        Table("evidence-moduli", by, passes(runs, levels), PASSES, ("kind", "passes")),
        Table("directions-cut", without, cut(own), CUT),
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
    for _, every in judged(runs, levels).groupby(KEYS, sort=False):
        keys = every[KEYS].to_numpy()[0]
        known, value = every[every["cases"] > 0], every["value"].dropna()
        breaks = any(known["against"] <= levels.broken)
        note = CANNOT if keys[0] in BREAKS and len(known) and not breaks else ""
        row = (*keys, "share", len(known), len(runs), (known["verdict"] == HOLDS).sum())
        rows.append((*row, value.mean(), value.std(), value.min(), value.max(), note))
    names = [*KEYS, "unit", "runs", "of", "passes", "mean", "std", "min", "max", "note"]
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
    every, rows = judged(runs, levels), []
    kinds = dict.fromkeys((run.architecture, run.n) for run in runs)
    for _, own in every.groupby(KEYS, sort=False):
        keys = own[KEYS].to_numpy()[0]
        of_kinds = own[own["cases"] > 0].groupby(["architecture", "n"])
        passed = {kind: x["verdict"] == HOLDS for kind, x in of_kinds}
        for architecture, n in kinds:
            known = passed.get((architecture, n), ())
            count = sum(known) if len(known) else None
            rows.append((*keys, architecture, n, n, count, len(known)))
    frame = pd.DataFrame(rows, columns=[*KEYS, "architecture", "n", "kind", "passes", "runs"])
    return frame.astype({"passes": "Int64"})


CUT = {
    "group": Column("runs of", align="l"),
    "cut": Column("cut: directions of", align="l"),
    **RUNS,
    "dimension": Column("how many", "ratio"),
    "needed": Column("pairs that need it", "share"),
    "spared": Column("pairs that do not", "share"),
    "random": Column("these, as many cut at random", "share"),
}


def cut(runs: Sequence[Interventions]) -> pd.DataFrame:
    """What skill is left without the directions of a class, of pairs with an operand in it, and of
    others; without those on the axis of one prime, of pairs whose product has that axis, with no
    operand in the class, and of others; last, of these others, without as many random directions.
    Means over the classes and axes of a run, then over the runs that have all: of each modulus, and
    of all moduli."""
    numbers = ["dimension", "needed", "spared", "random"]
    rows = []
    for run in runs:
        found = axes(run).rename(columns={"skill_spared": "spared", "random_spared": "random"})
        whole = found["axis"].isna()
        found["cut"] = np.where(whole, "a class", "a prime")
        found["needed"] = found["skill_own"].where(whole, found["skill_shared"])
        means = found.groupby("cut")[numbers].agg(lambda x: x.astype(float).mean())
        if len(means) == 2 and not means.isna().to_numpy().any():
            rows += means.reset_index().assign(group=f"n = {run.n}").to_dict("records")
    each = pd.DataFrame(rows, columns=["group", "cut", *numbers])
    every = pd.concat([each.assign(group="all"), each]).groupby(["group", "cut"], sort=False)
    made = every[numbers].agg(lambda x: x.mean())
    made.insert(0, "runs", every.size())
    return made.reset_index()


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
    rows = [
        (run.architecture, run.n, x.site, x.overlap, *(skill_of(x, name) for name in ENERGY))
        for run in runs
        for x in run.equal_energy
        if x.d is None
    ]
    names, numbers = ["architecture", "n", "site"], ["overlap", *ENERGY]
    every = pd.DataFrame(rows, columns=[*names, *numbers]).astype(dict.fromkeys(numbers, float))
    kinds = every.groupby(names, sort=False)
    found = kinds[numbers].agg(lambda x: x.mean())
    found.insert(0, "runs", kinds.size())
    for name in ("keep_other_strong", "keep_top"):
        found[f"{name}_intact"] = kinds[name].agg(lambda x: (x >= levels.intact).sum())
    return found.reset_index()


def skill_of(record: EqualEnergy, name: str) -> float | None:
    """The skill after a change, or its mean over draws."""
    skill = getattr(record, name).skill
    return skill.mean if isinstance(skill, Range) else skill


def results(name: str, run: Interventions, levels: CriteriaLevels) -> Iterator[Row]:
    """What other studies read of a run, under a name: every criterion, what attention patterns are
    needed for, what heads are put to, and whether directions go with primes. Of a run that diverged
    nothing."""
    if not (judged := criteria.judge(run, levels)):
        return
    for x in judged:
        id, *words = about_criterion(x.id, levels)
        about = name, id, ": ".join(words)
        yield Row(*about, "", "share", x.value, x.verdict)
        yield Row(*about, "against", "share", x.against)
        yield Row(*about, "cases", "count", x.cases)
        yield Row(*about, "held", "count", x.held)
    own = {x.verdict for x in judged if x.id.startswith("axis-")}
    verdict = HOLDS if own == {HOLDS} else FAILS
    yield Row(name, "directions", "directions go with primes", verdict=verdict)
    for id, which in criteria.asked_of(run).items():
        yield from routes(name, id, criteria.routes(run, which, levels))
    yield from heads.results(name, run, levels)


def routes(name: str, id: str, by_modulus: Sequence[Route]) -> Iterator[Row]:
    """What the patterns of some heads of a run are needed for, and what brings it back."""
    of_heads = id.replace("-", " ")
    for route in by_modulus:
        blocks = f"residues modulo {route.modulus}" if route.modulus else "classes"
        of = f"{id}-{route.modulus or 'classes'}"
        lost = f"{of_heads}: skill lost with the mean pattern"
        if not route.modulus:
            yield Row(name, f"lost-{of}", lost, "", "share", route.lost)
        yield Row(name, f"routes-{of}", f"{of_heads}: routes by {blocks}", verdict=route.answer)
        if route.used:
            brought = f"{of_heads}: share brought back by {blocks}"
            yield Row(name, f"share-{of}", brought, "", "share", route.share)
            highest = f"{of_heads}: highest of shuffled {blocks}"
            yield Row(name, f"shuffled-{of}", highest, "", "share", route.high)
