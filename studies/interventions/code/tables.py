"""Tables of the interventions on one run.

As everywhere numbers are not rounded in a frame; a range of draws is three columns, of which the
mean is shown with the two others. A skill that does not exist is missing.
"""

from collections.abc import Callable
from typing import Any, get_args

import pandas as pd

from strata.patch.scores import Measures
from strata.tables.headline import about
from strata.tables.table import CLASS, Column, Record, Table
from studies.interventions.code.evidence import EVIDENCE, evidence
from studies.interventions.code.records import Interventions, Region, Subspace
from studies.params import CriteriaLevels

SCORES = {
    "skill": Column("skill", "share"),
    "accuracy": Column("accuracy", "share"),
    "loss": Column("loss", "loss"),
    "class_accuracy": Column("class right", "share"),
}
HEADS = {"heads": Column("heads", align="l")}


def of_run(run: Interventions, levels: CriteriaLevels) -> tuple[Table, ...]:
    """Every table of one run."""
    of = about(run.run)
    kept = f"Skill with key characters alone (keep) and without them (remove) {of}."
    spared = f"Skill without the directions of a class {of}."
    axis = f"Skill without one axis of the directions of a class {of}."
    changed = f"Patterns and OV circuits of attention heads changed {of}."
    success = f"Answers to operands made of two {of}."
    return (
        Table(
            "evidence",
            f"The criteria of the interventions {of}.",
            evidence(run, levels),
            EVIDENCE,
        ),
        Table("keep-remove-skill", kept, keep_remove(run), KEEP_REMOVE),
        Table("specificity-skill", spared, specificity(run), CLASS | REGIONS),
        Table("axes", axis, axes(run), CLASS | REGIONS),
        Table("interchange-success", success, interchange(run), INTERCHANGE),
        Table("routing-skill", changed, routing(run), ROUTING),
        Table("ablated-heads", f"Without what some heads write {of}.", ablated(run), ABLATED),
    )


def ranged(name: str) -> Callable[[Record], str]:
    """Mean and range of the draws of a control, as a percentage."""

    def said(row: Record) -> str:
        mean, low, high = (f"{100 * row[name + end]:.1f}" for end in ("", "_low", "_high"))
        return f"{mean} ({low} … {high}) %"

    return said


KEEP_REMOVE = SCORES | {
    "site": Column("site", align="l"),
    "scope": Column("class", "symbols", "l"),
    "action": Column("action", align="l"),
    "dimension": Column("dimension", "count"),
    "other_dimension": Column("other’s dimension", "count"),
    "other": Column("other characters", ranged("other")),
    "random": Column("random subspace", ranged("random")),
    "additive": Column("additive modes", ranged("additive")),
}


def keep_remove(run: Interventions) -> pd.DataFrame:
    """Skill and loss with key characters kept or removed, and the range of each control."""
    rows = []
    for r in run.keep_remove:
        scope = "all" if r.d is None else f"J{r.d}"
        row: dict[str, Any] = {"site": r.site, "scope": scope, "action": r.action}
        row |= {"dimension": r.dimension, "skill": r.own.skill, "loss": r.own.loss}
        for name, control in r.controls.items():
            skill = control.own.skill
            row |= {name: skill.mean, f"{name}_low": skill.low, f"{name}_high": skill.high}
        other = r.controls.get("other")
        rows.append(row | {"other_dimension": other.dimension if other else None})
    names = ["site", "scope", "action", "dimension", "skill", "loss", "other_dimension"]
    names += [f"{x}{end}" for x in get_args(Subspace) for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=names)


REGIONS = {
    "axis": Column("axis"),
    "dimension": Column("dimension", "count"),
    "skill_inside": Column("its pairs", "share"),
    "random_inside": Column("its pairs, random", "share"),
    "skill_outside": Column("other pairs", "share"),
    "random_outside": Column("other pairs, random", "share"),
    "skill_own": Column("axis, own", "share"),
    "random_own": Column("axis, own, random", "share"),
    "skill_shared": Column("axis, shared", "share"),
    "random_shared": Column("axis, shared, random", "share"),
    "skill_spared": Column("no axis", "share"),
    "random_spared": Column("no axis, random", "share"),
}


def specificity(run: Interventions) -> pd.DataFrame:
    """Skill inside and outside the pairs of a class without its directions, or random ones."""
    return _regions(run, False, ("inside", "outside")).drop(columns="axis")


def axes(run: Interventions) -> pd.DataFrame:
    """The same axis by axis: pairs with the axis, with an operand in the class or none; without."""
    return _regions(run, True, ("own", "shared", "spared")).astype({"axis": "Int64"})


def _regions(run: Interventions, by_axis: bool, regions: tuple[Region, ...]) -> pd.DataFrame:
    rows = []
    for r in (r for r in run.specificity if (r.axis is not None) == by_axis):
        row: dict[str, Any] = {"d": r.d, "axis": r.axis, "dimension": r.dimension}
        for name in regions:
            scores, drawn = r.regions[name], r.random[name]
            row[f"skill_{name}"] = scores.skill if scores else None
            row[f"random_{name}"] = drawn.skill.mean if drawn else None
        rows.append(row)
    columns = [f"{kind}_{name}" for name in regions for kind in ("skill", "random")]
    return pd.DataFrame(rows, columns=["d", "axis", "dimension", *columns])


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


ROUTING = HEADS | SCORES | {
    "change": Column("change", align="l"),
    "rank": Column("rank", "count"),
    "dimension": Column("dimension", "count"),
}  # fmt: skip


def routing(run: Interventions) -> pd.DataFrame:
    """Skill after each change of patterns and OV circuits; means over draws where it is random."""
    rows = []
    for r in (r for r in run.routing if r.change != "ablate"):
        row: dict[str, Any] = {"change": r.label, "heads": _heads(r.heads), "rank": r.rank}
        row["dimension"] = r.dimension
        if r.all:
            row |= _scores(r.all)
        elif r.draws:
            drawn = r.draws
            row |= {"skill": drawn.skill.mean, "accuracy": drawn.accuracy.mean}
            row["loss"] = drawn.loss.mean
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["change", "heads", "rank", "dimension", *SCORES])
    return frame.astype({"rank": "Int64", "dimension": "Int64"})


def modulo(row: Record) -> str:
    """The shares of right answers modulo each prime power, in a cell."""
    known = ((x, row[x]) for x in row if isinstance(x, int))
    return ", ".join(f"{q}: {100 * x:.1f} %" for q, x in known)


ABLATED = HEADS | SCORES | {"modulo": Column("right modulo", modulo, "l")}


def ablated(run: Interventions) -> pd.DataFrame:
    """What the ablation of heads leaves: skill, class, agreement modulo each prime power of n."""
    rows = []
    for r in run.routing:
        if r.change == "ablate" and r.all:
            powers = dict(sorted(r.all.modulo.items()))
            rows.append({"heads": _heads(r.heads), **_scores(r.all), "modulo": True} | powers)
    powers = sorted(run.base.modulo) if run.base else []
    return pd.DataFrame(rows, columns=["heads", *SCORES, "modulo", *powers])


def _scores(measured: Measures) -> dict[str, float | None]:
    return {
        "skill": measured.skill,
        "accuracy": measured.accuracy,
        "loss": measured.loss,
        "class_accuracy": measured.class_accuracy,
    }


def _heads(heads: tuple[int, ...]) -> str:
    return ", ".join(map(str, heads))
