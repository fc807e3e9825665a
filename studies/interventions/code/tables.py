"""Tables of the interventions on one run."""

from typing import Any

import pandas as pd

from strata.tables.headline import about
from strata.tables.table import CLASS, Column, Table
from studies.interventions.code.evidence import EVIDENCE, evidence
from studies.interventions.code.records import Interventions
from studies.params import CriteriaLevels


def of_run(run: Interventions, levels: CriteriaLevels) -> tuple[Table, ...]:
    """Every table of one run."""
    of = about(run.run)
    axis = f"Skill without one axis of the directions of a class {of}."
    success = f"Answers to operands made of two {of}."
    criteria = f"The criteria of the interventions {of}."
    return (
        Table("evidence", criteria, evidence(run, levels), EVIDENCE),
        Table("axes", axis, axes(run), AXES),
        Table("interchange-success", success, interchange(run), INTERCHANGE),
    )


AXES = CLASS | {
    "axis": Column("axis"),
    "dimension": Column("dimension", "count"),
    "skill_own": Column("axis, own", "share"),
    "random_own": Column("axis, own, random", "share"),
    "skill_shared": Column("axis, shared", "share"),
    "random_shared": Column("axis, shared, random", "share"),
    "skill_spared": Column("no axis", "share"),
    "random_spared": Column("no axis, random", "share"),
}


def axes(run: Interventions) -> pd.DataFrame:
    """Skill without one axis of the directions of a class, or without as many random directions:
    of pairs with the axis, with an operand in the class or none, and of pairs without it. The
    random one is a mean over draws; a skill that does not exist is missing."""
    rows = []
    for r in (r for r in run.specificity if r.axis is not None):
        row: dict[str, Any] = {"d": r.d, "axis": r.axis, "dimension": r.dimension}
        for name in ("own", "shared", "spared"):
            scores, drawn = r.regions[name], r.random[name]
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
