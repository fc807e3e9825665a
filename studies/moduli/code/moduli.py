"""Regular classes against the others, for moduli that are not square-free (beyond the paper).

A class J_d is regular where it is a group: gcd(d, n/d) = 1. The paper knows only such classes. The
kinds differ in size, so each measure stands beside what chance gives for a class of that size.
"""

from collections.abc import Sequence

import pandas as pd

from strata.inputs import InputError
from strata.measure.metrics import SPECTRUM, ClassMetrics, Metrics
from strata.statistics import above_chance
from strata.tables.headline import FVE, R2, REGULAR
from strata.tables.table import CLASS, GENERALISED, Cells, Column, N, Table

# The one frequency and the one dimension of two elements hold all, whatever the model does.
SMALLEST = 3
MEANS = [name for name, quantity in SPECTRUM.items() if quantity.row]  # that are taken over many
OF_CLASS = ["d", "regular", "size", "key", *MEANS]
FIT = ("r2", "r2_uniform", "r2_ceiling", "r2_all")
COLUMNS = N | GENERALISED | CLASS | REGULAR | FVE | R2 | {
    "size": Column("elements"),
    "key": Column("key", "count"),
    "r2_uniform": Column("R², as many at random", "share"),
    "components": Column("components", "count"),
    "components_random": Column("of random residues", "ratio"),
    "pca_ratio": Column("components / random", "share"),
    "accuracy_target": Column("accuracy", "share"),
    "fve_above": Column("FVE above uniform", "share"),
    "r2_above": Column("R² above random", "share"),
}  # fmt: skip
KINDS = COLUMNS | {
    "classes": Column("classes", "count"),
    "mean_size": Column("elements, mean", "ratio"),
    "block": Column("block score", "share"),
    "block_shuffled": Column("block score, shuffled", "share"),
}


def tables(runs: Sequence[Metrics]) -> tuple[Table, Table]:
    """Return both tables from the metrics of the runs.

    Raise InputError for two runs of one modulus, which the tables could not tell apart.
    """
    if len({run.n for run in runs}) < len(runs):
        names = ", ".join(run.run for run in runs)
        raise InputError(f"metrics of {names}: must be of one run for each n")
    per_class, about = classes(runs), f"n = {', '.join(str(run.n) for run in runs)}"
    by_kind = kinds(runs, per_class)
    return (
        Table("extension", f"Regular and other classes, {about}.", by_kind, KINDS),
        Table("extension-classes", f"Class by class, {about}.", per_class, COLUMNS),
    )


def classes(runs: Sequence[Metrics]) -> pd.DataFrame:
    """Return a row for each class of at least SMALLEST elements of each run; shares are fractions.

    ``pca_ratio`` is the number of components over that of random residues: below 1 the class is
    flatter than chance.
    """
    rows = [_row(run, c) for run in runs for c in run.classes if c.size >= SMALLEST]
    records = [row for row in rows if row]
    records.sort(key=lambda row: (row["n"], not row["regular"], row["d"]))
    names = ["n", "generalised", *OF_CLASS, *FIT]
    names += ["components", "components_random", "pca_ratio", "accuracy_target"]
    frame = pd.DataFrame(records, columns=[*names, "fve_above", "r2_above"])
    return frame.astype({"fve_above": float, "r2_above": float})


def _row(run: Metrics, c: ClassMetrics) -> Cells | None:
    """Return the row of a class, None where there is nothing to measure: the run diverged, or the
    rows are all equal."""
    if c.fve is None or c.pca is None:
        return None
    fit = c.character_fit
    # As many random frequencies are the same ones where every frequency is key.
    comparable = fit if c.key != c.total else None
    return {
        "n": run.n,
        "generalised": run.generalised,
        **{name: getattr(c, name) for name in OF_CLASS},
        **({name: getattr(fit, name) for name in FIT} if fit else {}),
        "components": c.pca.components,
        "components_random": c.pca.random_mean,
        "pca_ratio": c.pca.components / c.pca.random_mean if c.pca.random_mean else None,
        "accuracy_target": run.accuracy.by_target[c.d],
        "fve_above": None if c.fve_uniform is None else above_chance(c.fve, c.fve_uniform),
        "r2_above": above_chance(comparable.r2, comparable.r2_uniform) if comparable else None,
    }


def kinds(runs: Sequence[Metrics], per_class: pd.DataFrame) -> pd.DataFrame:
    """Average over the classes of each kind, modulus by modulus; with n missing, over all classes
    of the runs that generalise.

    Block scores are means over the heads: the rows of that kind of class against shuffled labels. A
    class counts once, whatever its size.
    """
    means = [*MEANS, *FIT, "pca_ratio", "accuracy_target", "fve_above", "r2_above"]
    rows = []
    generalising = [run for run in runs if run.generalised]
    for group in [*([run] for run in runs), generalising]:
        of_runs = per_class["n"].isin([run.n for run in group])
        for regular in (True, False):
            part = per_class[of_runs & (per_class["regular"] == regular)]
            if part.empty:
                continue
            row = {"n": group[0].n if group is not generalising else None, "regular": regular}
            row |= {"classes": len(part), "mean_size": part["size"].mean()}
            rows.append(row | part[means].mean().to_dict() | _blocks(group, regular))
    names = ["n", "regular", "classes", "mean_size", *means, "block", "block_shuffled"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({"n": "Int64", "block": float, "block_shuffled": float})


def _blocks(runs: Sequence[Metrics], regular: bool) -> Cells:
    """Average the block score of one kind and its shuffled baseline over the heads of the runs."""
    by_kind = [x.block_score_by_kind for run in runs for x in run.heads if x.block_score_by_kind]
    scores = [x.regular if regular else x.non_regular for x in by_kind]
    sums = {"block": sum(x.score for x in scores), "block_shuffled": sum(x.mean for x in scores)}
    return {name: x / len(scores) for name, x in sums.items()} if scores else {}
