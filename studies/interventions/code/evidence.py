"""The tables of the cuts: of one run, and over runs. A run that diverged has no row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.tables.headline import run_in_caption
from strata.tables.table import CLASS, RUNS, Column, Table
from studies.interventions.code.records import Interventions, Region

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


def table_of_run(run: Interventions) -> Table:
    """Return the table of the cuts of one run."""
    in_caption = run_in_caption(run.run)
    about = f"Skill without the directions of a class, all or on one axis {in_caption}."
    return Table("axes", about, axes(run), AXES, run=run.run)


# Without all directions of a class, the pairs that stand for those of an axis.
WHOLE: dict[Region, Region | None] = {"own": "inside", "shared": None, "spared": "outside"}


def axes(run: Interventions) -> pd.DataFrame:
    """Return the skill without the directions of a class, or without as many random ones, a mean
    over draws. On one axis: of pairs with the axis, with an operand in the class (own) or none
    (shared), and of pairs without it (spared). All directions, axis missing: of pairs with an
    operand in the class (own), and of others (spared). A skill that does not exist is missing."""
    rows = []
    for r in run.specificity:
        row: dict[str, Any] = {"d": r.d, "axis": r.axis, "dimension": r.dimension}
        for name, region_of_class in WHOLE.items():
            region = name if r.axis else region_of_class
            scores = r.regions[region] if region else None
            drawn = r.random[region] if region else None
            row[f"skill_{name}"] = scores.skill if scores else None
            row[f"random_{name}"] = drawn.skill.mean if drawn else None
        rows.append(row)
    return pd.DataFrame(rows, columns=[*AXES]).astype({"axis": "Int64"})


CUT = {
    "group": Column("runs of", align="l"),
    "cut": Column("cut: directions of", align="l"),
    **RUNS,
    "dimension": Column("how many", "ratio"),
    "needed": Column("pairs that need it", "share"),
    "spared": Column("pairs that do not", "share"),
    "random": Column("these, as many cut at random", "share"),
    "intact": Column("runs that keep these in each cut", "count"),
}


def table_over_runs(runs: Sequence[Interventions], intact: float) -> Table:
    """Return the table of what cuts spare in the transformers among the runs."""
    transformers = [run for run in runs if run.architecture == "transformer"]
    about = "Skill without the directions of a class or of a prime, means over transformers."
    return Table("directions-cut", about, cut(transformers, intact), CUT)


def cut(runs: Sequence[Interventions], intact: float) -> pd.DataFrame:
    """Measure what skill is left without the directions of a class, of pairs with an operand in it,
    and of others; without those on the axis of one prime, of pairs whose product has that axis,
    with no operand in the class, and of others; then, of these others, without as many random
    directions. Means are over the classes and axes of a run, then over the runs that have all: of
    each modulus, and of all moduli. Last, count the runs in which each single cut leaves the skill
    of these others at a level or above it."""
    numbers = ["dimension", "needed", "spared", "random"]
    rows = []
    for run in runs:
        skills = axes(run).rename(columns={"skill_spared": "spared", "random_spared": "random"})
        all_axes = skills["axis"].isna()
        skills["cut"] = np.where(all_axes, "a class", "a prime")
        skills["needed"] = skills["skill_own"].where(all_axes, skills["skill_shared"])
        by_cut = skills.astype(dict.fromkeys(numbers, float)).groupby("cut")
        means = by_cut[numbers].agg(lambda x: x.mean())
        means["intact"] = by_cut["spared"].agg(lambda x: x.min() >= intact)
        if len(means) == 2 and not means.isna().to_numpy().any():
            rows += means.reset_index().assign(group=f"n = {run.n}").to_dict("records")
    by_run = pd.DataFrame(rows, columns=["group", "cut", *numbers, "intact"])
    grouped = pd.concat([by_run.assign(group="all"), by_run]).groupby(["group", "cut"], sort=False)
    table = grouped[numbers].agg(lambda x: x.mean())
    table["intact"] = grouped["intact"].sum()
    table.insert(0, "runs", grouped.size())
    return table.reset_index()
