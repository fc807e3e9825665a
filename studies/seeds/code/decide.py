"""Decide how much of a run its split decides, and how much its initial weights: criteria.md.

Splits are crossed with initial weights, one run in each cell. With a cell missing, or a run that
does not generalise, nothing is said. Beside what is left stands what other rounding does: runs of
the variant ``again`` are the same trained on another machine.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from strata.measure.metrics import Metrics
from strata.results import numbers
from strata.run import Run
from strata.statistics import holm
from strata.tables.statements import Statements
from strata.tables.table import GENERALISED, MEASURE, RUN, RUNS, Cells, Column, Record, Table
from studies.seeds.code.crossed import analyse

AGAIN = "again"  # the variant that changes nothing
MEASURES = {
    "eta_classes": Column("η² of classes, first three components", "share"),
    "r2_classes": Column("R² of the character fit, mean over classes", "share"),
    "fve_classes": Column("FVE, mean over classes", "share"),
    "components": Column("components", "count"),
    "first_validation": Column("first, validation", "count", missing="never"),
    "stays_validation": Column("to stay, validation", "count", missing="never"),
    "gating": Column("gating γ", "index"),
    "block_head_0": Column("block score, head 0", "share"),
}
# Looked at after the criteria were written: its p-values are corrected with no other.
LATER = {"first_validation"}
CELLS = RUN | GENERALISED | MEASURES | {
    "split_seed": Column("split"),
    "weights_seed": Column("initial weights"),
}  # fmt: skip


def tables(
    planned: Sequence[Run],
    runs: Sequence[Metrics],
    accounts: pd.DataFrame,
    confidence: float,
) -> tuple[Table, Table]:
    """Return the tables of the components of each measure, and of the runs. ``planned`` has the
    runs with a split and initial weights of different seeds, and those that are trained again;
    ``accounts`` has what other studies say of all runs. A measure that no study has taken has no
    column."""
    [n] = {run.n for run in planned}
    seeds = sorted({run.seed for run in planned})
    about = f"Splits crossed with initial weights, n = {n}"
    crossing = [Run(n, split, "", weights) for split in seeds for weights in seeds]
    by_cell = cells(crossing, runs, accounts)
    repeated = cells([run for run in planned if run.variant == AGAIN], runs, accounts)
    measures = [x for x in MEASURES if len(by_cell.dropna(subset=[x]))]
    rows = components(by_cell, repeated, len(crossing), confidence, measures)
    listed = pd.concat([by_cell, repeated], ignore_index=True)
    listed = listed.drop(columns=[x for x in MEASURES if x not in measures])
    return (
        Table("crossed", f"{about}: components of variance.", rows, COMPONENTS),
        Table("crossed-runs", f"{about}: the runs.", listed, CELLS),
    )


def cells(runs: Sequence[Run], metrics: Sequence[Metrics], accounts: pd.DataFrame) -> pd.DataFrame:
    """Return the measures of those of the runs that are trained. A measure of a class is the mean
    over the classes of two or more."""
    by_name, gating = {x.run: x for x in metrics}, numbers(accounts, "gating")
    rows: list[Cells] = []
    for run in (x for x in runs if str(x) in by_name):
        x = by_name[str(run)]
        fits = [c.character_fit.r2 for c in x.classes if c.character_fit]
        energies = [c.fve for c in x.classes if c.fve is not None]
        rows.append(
            {
                "run": str(run),
                "split_seed": run.seed,
                "weights_seed": run.weights_seed,
                "generalised": x.generalised,
                "eta_classes": x.pca.shown.classes if x.pca else None,
                "r2_classes": np.mean(fits) if fits else None,
                "fve_classes": np.mean(energies) if energies else None,
                "components": x.pca.components if x.pca else None,
                "first_validation": x.first_099.validation,
                "stays_validation": x.epoch_099.validation,
                "gating": gating.get(str(run)),
                "block_head_0": x.heads[0].block_score if x.heads else None,
            }
        )
    names = ["run", "split_seed", "weights_seed", "generalised", *MEASURES]
    integers = dict.fromkeys(["components", "first_validation", "stays_validation"], "Int64")
    return pd.DataFrame(rows, columns=names).astype(integers)


STATEMENTS = Statements(
    {},
    {
        "": {
            "split": "the split decides",
            "weights": "the initial weights decide",
            "none": "no factor is shown to decide",
            "nothing varies": "nothing varies beside the factors",
            "not called": "not called: {runs} of {cells} runs",
        }
    },
)
ROUNDING = "rounding alone sets runs apart as far as all else does"


def in_words(row: Record) -> str:
    """Write in words what a row decides."""
    return STATEMENTS.in_words(row) + f"; {ROUNDING}" * (row["rounding"] is True)


FACTORS = ("split", "weights", "rest", "rounding")
COMPONENTS = MEASURE | RUNS | {
    "share_split": Column("split", "share"),
    "share_weights": Column("initial weights", "share"),
    "share_rest": Column("rest", "share"),
    "share_rounding": Column("other rounding", "share"),
    "p_holm_split": Column("p, split, Holm", "p"),
    "p_holm_weights": Column("p, initial weights, Holm", "p"),
    "verdict": Column("verdict", in_words, "l"),
}  # fmt: skip


def components(
    by_cell: pd.DataFrame,
    repeated: pd.DataFrame,
    cells: int,
    confidence: float,
    measures: Sequence[str],
) -> pd.DataFrame:
    """Return for each measure the share of each component, the F-tests, corrected over the measures
    of the criteria and both factors, which factor decides, and whether other rounding does as much
    as the rest. Variances are columns of the CSV alone."""
    rows = [_component_row(by_cell, repeated, cells, name) for name in measures]
    planned = [row for row, name in zip(rows, measures, strict=True) if name not in LATER]
    tests = holm([row.get(f"p_{x}") for row in planned for x in ("split", "weights")])
    for row, split, weights in zip(planned, tests[::2], tests[1::2], strict=True):
        row |= {"p_holm_split": split, "p_holm_weights": weights}
    for row in (x for x in rows if "p_split" in x):
        p = {x: row.get(f"p_holm_{x}", row[f"p_{x}"]) for x in ("split", "weights")}
        decide = [x for x in p if p[x] < 1 - confidence and row[f"share_{x}"] > 0.5]
        row["verdict"] = decide[0] if decide else "none"
        row["rounding"] = row.get("share_rounding", 0) >= row["share_rest"]
    names = [f"{x}_{y}" for x in ("share", "variance") for y in FACTORS]
    names += [f"{x}_{y}" for x in ("p", "p_holm") for y in ("split", "weights")]
    names = ["measure", "runs", "cells", "again", *names, "verdict", "rounding"]
    return pd.DataFrame(rows, columns=names).astype({"again": "Int64"})


def _by_seeds(runs: pd.DataFrame, name: str) -> pd.Series:
    """Return a measure of the runs that generalise and have it, by seeds of split and weights."""
    generalising = runs.query("generalised == True").set_index(["split_seed", "weights_seed"])
    return pd.Series(generalising[name]).dropna().astype(float)


def _component_row(by_cell: pd.DataFrame, repeated: pd.DataFrame, cells: int, name: str) -> Cells:
    """Return the row of one measure, without shares where a cell lacks it."""
    values = _by_seeds(by_cell, name)
    row: Cells = {"measure": MEASURES[name].heading, "runs": len(values), "cells": cells}
    if len(values) < cells:
        return row | {"verdict": "not called"}
    analysis = analyse(values.unstack().to_numpy())
    if not analysis:
        return row | {"verdict": "nothing varies"}
    for i, factor in enumerate(FACTORS[:3]):
        row |= {f"share_{factor}": analysis.shares[i], f"variance_{factor}": analysis.components[i]}
    row |= {"p_split": analysis.p[0], "p_weights": analysis.p[1]}
    repeats = _by_seeds(repeated, name)
    row["again"] = len(repeats)
    if repeats.empty:
        return row
    variance = float(np.mean((values[repeats.index] - repeats) ** 2 / 2))
    return row | {"variance_rounding": variance, "share_rounding": variance / analysis.total}
