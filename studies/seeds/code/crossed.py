"""How much the split decides of a run, and how much its initial weights:
criteria.md.

Splits are crossed with initial weights, one run in each cell. With a cell missing, or a run that
does not generalise, nothing is said. Beside what is left stands what other rounding does: runs of
the variant ``again`` are the same trained on another machine.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.stats import f

from strata.measure.metrics import Metrics
from strata.results import numbers
from strata.run import Run
from strata.statistics import holm
from strata.tables.table import GENERALISED, MEASURE, RUN, RUNS, SAID, Cells, Column, Record, Table

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
    measured: pd.DataFrame,
    confidence: float,
) -> tuple[Table, Table]:
    """The components of each measure, and the runs. ``planned``: the runs with a split and initial
    weights of different seeds, those that are there again among them; ``measured``: what other
    studies found of all runs."""
    [n] = {run.n for run in planned}
    seeds = sorted({run.seed for run in planned})
    about = f"Splits crossed with initial weights, n = {n}"
    asked = [Run(n, split, "", weights) for split in seeds for weights in seeds]
    twice = [run for run in planned if run.variant == AGAIN]
    own, again = (cells(x, runs, measured) for x in (asked, twice))
    known = [x for x in MEASURES if len(own.dropna(subset=[x]))]
    rows = components(own, again, len(asked), confidence, known)
    shown = pd.concat([own, again], ignore_index=True).drop(
        columns=[x for x in MEASURES if x not in known]
    )
    return (
        Table("crossed", f"{about}: components of variance.", rows, COMPONENTS),
        Table("crossed-runs", f"{about}: the runs.", shown, CELLS),
    )


def cells(asked: Sequence[Run], runs: Sequence[Metrics], accounts: pd.DataFrame) -> pd.DataFrame:
    """The runs of the study that there are, with their measures. Those of a class are means over
    the classes of two or more."""
    by, gating = {x.run: x for x in runs}, numbers(accounts, "gating")
    rows: list[Cells] = []
    for run in (x for x in asked if str(x) in by):
        x = by[str(run)]
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
    whole = dict.fromkeys(["components", "first_validation", "stays_validation"], "Int64")
    return pd.DataFrame(rows, columns=names).astype(whole)


def said(row: Record) -> str:
    """What the row decides."""
    if row["verdict"] == "not called":
        return f"not called: {row['runs']} of {row['cells']} runs"
    rounding = row["rounding"] if pd.notna(row["rounding"]) else False
    return VERDICTS[row["verdict"]] + f"; {ROUNDING}" * bool(rounding)


VERDICTS = {
    "split": "the split decides",
    "weights": "the initial weights decide",
    "none": "no factor is shown to decide",
    "nothing varies": "nothing varies beside the factors",
}
ROUNDING = "rounding alone sets runs apart as far as all else does"
FACTORS = ("split", "weights", "rest", "rounding")
COMPONENTS = MEASURE | RUNS | {
    "share_split": Column("split", "share"),
    "share_weights": Column("initial weights", "share"),
    "share_rest": Column("rest", "share"),
    "share_rounding": Column("other rounding", "share"),
    "p_holm_split": Column("p, split, Holm", "p"),
    "p_holm_weights": Column("p, initial weights, Holm", "p"),
    "verdict": SAID._replace(style=said),
}  # fmt: skip


def components(
    by_cell: pd.DataFrame,
    again: pd.DataFrame,
    cells: int,
    confidence: float,
    measures: Sequence[str],
) -> pd.DataFrame:
    """For each measure the share of each component, the F-tests, corrected over the measures of the
    criteria and both factors, which factor decides, and whether other rounding does as much as the
    rest; variances are columns of the CSV alone."""
    rows = [_component(by_cell, again, cells, name) for name in measures]
    planned = [row for row, name in zip(rows, measures, strict=True) if name not in LATER]
    tests = holm([row.get(f"p_{x}") for row in planned for x in ("split", "weights")])
    for row, split, weights in zip(planned, tests[::2], tests[1::2], strict=True):
        row |= {"p_holm_split": split, "p_holm_weights": weights}
    for row in rows:
        of = {x: row.get(f"p_holm_{x}", row.get(f"p_{x}")) for x in ("split", "weights")}
        known = {x: p for x, p in of.items() if p is not None}
        if len(known) == len(of):
            decide = [x for x, p in known.items() if p < 1 - confidence and row[f"share_{x}"] > 0.5]
            row["verdict"] = decide[0] if decide else "none"
            row["rounding"] = row.get("share_rounding", 0) >= row["share_rest"]
    names = [f"{x}_{y}" for x in ("share", "variance") for y in FACTORS]
    names += [f"{x}_{y}" for x in ("p", "p_holm") for y in ("split", "weights")]
    names = ["measure", "runs", "cells", "again", *names, "verdict", "rounding"]
    return pd.DataFrame(rows, columns=names).astype({"again": "Int64"})


def _known(runs: pd.DataFrame, name: str) -> pd.Series:
    """That measure of the runs that generalise and have it, by the seeds of split and weights."""
    some = runs.query("generalised == True").set_index(["split_seed", "weights_seed"])
    return pd.Series(some[name]).dropna().astype(float)


def _component(by_cell: pd.DataFrame, again: pd.DataFrame, cells: int, name: str) -> Cells:
    """The row of one measure; without shares where a cell lacks it."""
    known = _known(by_cell, name)
    row: Cells = {"measure": MEASURES[name].heading, "runs": len(known), "cells": cells}
    if len(known) < cells:
        return row | {"verdict": "not called"}
    found = crossed(known.unstack().to_numpy())
    if not found:
        return row | {"verdict": "nothing varies"}
    for i, factor in enumerate(FACTORS[:3]):
        row |= {f"share_{factor}": found.shares[i], f"variance_{factor}": found.components[i]}
    row |= {"p_split": found.p[0], "p_weights": found.p[1]}
    twice = _known(again, name)
    row["again"] = len(twice)
    if twice.empty:
        return row
    variance = float(np.mean((known[twice.index] - twice) ** 2 / 2))
    return row | {"variance_rounding": variance, "share_rounding": variance / found.total}


class Crossed(NamedTuple):
    """Two crossed factors with one value in each cell, y_ij = μ + s_i + w_j + e_ij, by the mean
    squares of the rows, of the columns, and of what is left."""

    squares: tuple[float, float, float]
    components: tuple[float, float, float]  # estimates of the variances, negative as they come
    p: tuple[float, float]  # of the F-tests of rows and columns

    @property
    def total(self) -> float:
        """The sum of the components, where negative ones count as 0."""
        return float(np.maximum(self.components, 0).sum())

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of each component in that sum, where negative ones count as 0."""
        rows, columns, rest = np.maximum(self.components, 0) / self.total
        return float(rows), float(columns), float(rest)


def crossed(y: Float[np.ndarray, "rows columns"]) -> Crossed | None:
    """The analysis of variance; None where both factors explain all. Searle, Casella & McCulloch,
    Variance Components, 1992, chapter 4.

    >>> crossed(np.array([[1.0, 2.0], [4.0, 3.0]])).squares
    (4.0, 0.0, 1.0)
    """
    (r, c), centred = y.shape, y - y.mean()
    rows, columns = centred.mean(axis=1), centred.mean(axis=0)
    rest = float(((centred - rows[:, None] - columns) ** 2).sum() / ((r - 1) * (c - 1)))
    if rest <= 1e-18 * float((centred**2).sum()):
        return None
    of_rows = float(c * (rows**2).sum() / (r - 1))
    of_columns = float(r * (columns**2).sum() / (c - 1))
    return Crossed(
        (of_rows, of_columns, rest),
        ((of_rows - rest) / c, (of_columns - rest) / r, rest),
        (float(f.sf(of_rows / rest, r - 1, (r - 1) * (c - 1))),
         float(f.sf(of_columns / rest, c - 1, (r - 1) * (c - 1)))),
    )  # fmt: skip
