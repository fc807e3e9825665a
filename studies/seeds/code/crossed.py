"""How much the split decides of a run, and how much its initial weights: docs/studies.md,
section 2.

Splits are crossed with initial weights, one run in each cell. With a cell missing, or a run that
does not generalise, nothing is said. Beside what is left stands what other rounding does: runs of
the variant ``again`` are the same trained on another machine.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from strata.run import Run
from strata.tables.beside import holm
from strata.tables.columns import column
from strata.tables.headline import Table
from studies.mechanism.code.study import Choice
from studies.seeds.code.beside_seeds import Studied
from studies.seeds.code.components import crossed

Row = dict[str, Any]
Cell = tuple[int, int]  # seed of the split, seed of the initial weights
N, SEEDS = 165, (1, 2, 3)  # of the splits, and of the initial weights
AGAIN = "again"  # the variant that changes nothing
MEASURES = ("eta_classes", "r2_classes", "fve_classes", "components", "stays_validation", "gating",
            "block_head_0")  # fmt: skip
DECIDES = {
    (True, False): "the split decides",
    (False, True): "the initial weights decide",
    (False, False): "no factor is shown to decide",
}
ROUNDING = "rounding alone sets runs apart as far as all else does"


def tables(runs: Sequence[Studied], choice: Choice, confidence: float) -> tuple[Table, Table]:
    """The components of each measure, and the runs."""
    about = f"Splits crossed with initial weights, n = {N}"
    own, again = cells(runs, choice), cells(runs, choice, AGAIN)
    return (
        Table("crossed", f"{about}: components of variance.", components(own, again, confidence)),
        Table("crossed-runs", f"{about}: the runs.", pd.concat([own, again], ignore_index=True)),
    )


def cells(runs: Sequence[Studied], choice: Choice, variant: str = "") -> pd.DataFrame:
    """The runs of the study that there are, with their measures."""
    by = {x.interventions.run: x for x in runs}
    asked = [Run(N, split, variant, weights) for split, weights in product(SEEDS, SEEDS)]
    rows = [_measured(run, by[str(run)], choice) for run in asked if str(run) in by]
    names = ["run", "split_seed", "weights_seed", "generalised", *MEASURES]
    whole = {"components": "Int64", "stays_validation": "Int64"}
    return pd.DataFrame(rows, columns=names).astype(whole)


def _measured(run: Run, found: Studied, choice: Choice) -> Row:
    """One row of ``cells``. Measures of a class are means over the classes of two or more."""
    case, metrics = found.case, found.case.metrics
    row: Row = {"run": str(run), "split_seed": run.seed, "weights_seed": run.weights_seed}
    row |= {"generalised": case.generalised(choice.generalised)}
    row |= {"gating": choice.votes(case).gating.median if case.decides else None}
    fits = [c.character_fit.r2 for c in metrics.classes if c.character_fit]
    energies = [c.fve for c in metrics.classes if c.fve is not None]
    row |= {"r2_classes": _mean(fits), "fve_classes": _mean(energies)}
    if metrics.pca:
        row |= {"eta_classes": metrics.pca.shown.classes, "components": metrics.pca.components}
    row |= {"stays_validation": metrics.epoch_099.validation}
    return row | {"block_head_0": metrics.heads[0].block_score if metrics.heads else None}


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def components(own: pd.DataFrame, again: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """For each measure the share of each component, the F-tests, corrected over measures and both
    factors, what decides, and what other rounding does; variances are columns of the CSV alone."""
    rows = [_component(own, again, name) for name in MEASURES]
    tests = holm([row.get(f"p_{x}") for row in rows for x in ("split", "weights")])
    for row, split, weights in zip(rows, tests[::2], tests[1::2], strict=True):
        row |= {"p_holm_split": split, "p_holm_weights": weights}
        if split is not None and weights is not None:
            shown = [p < 1 - confidence for p in (split, weights)]
            most = [row[f"share_{x}"] > 1 / 2 for x in ("split", "weights")]
            row["said"] = DECIDES[shown[0] and most[0], shown[1] and most[1]]
            if row.get("share_rounding", 0) >= row["share_rest"]:
                row["said"] += f"; {ROUNDING}"
    factors = ("split", "weights", "rest", "rounding")
    names = [f"{x}_{y}" for x in ("share", "variance") for y in factors]
    names += [f"{x}_{y}" for x in ("p", "p_holm") for y in ("split", "weights")]
    frame = pd.DataFrame(rows, columns=["measure", "runs", "again", *names, "said"])
    return frame.astype({"again": "Int64"})


def _known(runs: pd.DataFrame, name: str) -> dict[Cell, float]:
    """That measure of the runs that generalise and have it."""
    return {
        (row["split_seed"], row["weights_seed"]): float(row[name])
        for row in runs.to_dict("records")
        if row["generalised"] and pd.notna(row[name])
    }


def _component(own: pd.DataFrame, again: pd.DataFrame, name: str) -> Row:
    """The row of one measure; without shares where a cell lacks it."""
    known = _known(own, name)
    shape = column(name)
    row: Row = {"measure": shape.heading if shape else name, "runs": len(known)}
    if len(known) < len(SEEDS) ** 2:
        return row | {"said": f"not called: {len(known)} of {len(SEEDS) ** 2} runs"}
    found = crossed(np.array([[known[split, weights] for weights in SEEDS] for split in SEEDS]))
    if not found:
        return row | {"said": "nothing varies beside the factors"}
    for i, factor in enumerate(("split", "weights", "rest")):
        row |= {f"share_{factor}": found.shares[i], f"variance_{factor}": found.components[i]}
    row |= {"p_split": found.p[0], "p_weights": found.p[1]}
    pairs = [(known[cell], x) for cell, x in _known(again, name).items()]
    row["again"] = len(pairs)
    if not pairs:
        return row
    variance = float(np.mean([(one - two) ** 2 / 2 for one, two in pairs]))
    return row | {"variance_rounding": variance, "share_rounding": variance / found.total}
