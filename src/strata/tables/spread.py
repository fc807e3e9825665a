"""Summarise measures over seeds: mean, spread, interval, and where the paper’s number lies; and
compute Table 5, components of all residues.

A run does not count for a measure that it lacks, because it diverged or never came to the level:
`runs` says how many runs count, and `of` how many there are. A run that did not generalise counts.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from strata.measure.metrics import Metrics
from strata.params import GridParams, Params
from strata.statistics import holm, t_interval, welch
from strata.tables.claims import BOUNDS
from strata.tables.format import percent
from strata.tables.printed import Printed
from strata.tables.table import DIFFERS, P_HOLM, RUNS, SPREAD, Cells, Column, N, Record, Table

Value = float | int | None
STATISTICS = ["runs", "mean", "std", "low", "high", "min", "max"]


def spread(values: Iterable[Value], params: GridParams, unit: str) -> Cells:
    """Return mean, sample standard deviation, Student's interval of the mean, least and largest.

    Without a value all of them are missing; with one value, deviation and interval are.
    """
    x = np.array([value for value in values if value is not None], dtype=float)
    if not len(x):
        return dict.fromkeys(STATISTICS) | {"runs": 0}
    statistics = {"runs": len(x), "mean": x.mean(), "min": x.min(), "max": x.max()}
    low, high = t_interval(x.tolist(), params.confidence, unit == "share") or (None, None)
    std = x.std(ddof=1) if len(x) > 1 else None
    return statistics | {"std": std, "low": low, "high": high}


def join_values(values: Iterable[Value]) -> str:
    """Join the values of single runs for a cell of the CSV file.

    >>> join_values([1, None, 0.25])
    '1 0.25'
    """
    return " ".join(f"{x:.9g}" for x in values if x is not None and x == x)


PLACES = {"within": "within the seeds", "above": "above every seed", "below": "below every seed"}


def place(relation: str, paper: float, values: Float[np.ndarray, " seeds"], unit: str) -> Cells:
    """Return the verdict on where the paper’s number lies among ours and, for a bound, in how many
    seeds the bound holds. A bound "holds" if it does in most of them, or else it "fails". There is
    no verdict where the paper prints no number or we have one seed.

    A printed share has one decimal of a percentage, so values less than half of that apart count as
    equal.

    >>> [place("=", 9.0, np.array(x), "count")["verdict"] for x in ([8.0, 9], [6.0, 7])]
    ['within', 'above']
    >>> place("<", 0.2, np.array([0.1, 0.3, 0.1]), "share")
    {'verdict': 'holds', 'agree': 2}
    """
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.isnan(paper) or not relation:
        return {"verdict": None, "agree": None}
    if relation in BOUNDS:
        agree = int(BOUNDS[relation](values, paper).sum())
        return {"verdict": "holds" if 2 * agree > len(values) else "fails", "agree": agree}
    near = 5e-4 if unit == "share" else 1e-9
    below = paper < values.min() - near
    verdict = "above" if paper > values.max() + near else "below" if below else "within"
    return {"verdict": verdict, "agree": None}


def place_in_words(row: Record) -> str:
    """Return the words for the verdict of a row."""
    if row["verdict"] in PLACES:
        return PLACES[row["verdict"]]
    return f"holds in {row['agree']:.0f} of {row['runs']:.0f} seeds"


PLACE = {"verdict": Column("paper’s number", place_in_words, "l")}
PCA = N | RUNS | SPREAD | {
    "fve": Column("FVE", "share"),
    "paper_mean": Column("paper’s mean", "unit"),
    "paper_std": Column("paper’s std", "unit"),
    "paper_min": Column("paper’s least", "unit"),
    "paper_max": Column("paper’s largest", "unit"),
    "paper_fve": Column("paper’s FVE", "share"),
    "p": Column("p, Welch", "p"),
    **P_HOLM,
    "differs": Column("beside the paper", lambda row: DIFFERS[bool(row["differs"])], "l"),
}  # fmt: skip


def pca(runs: Sequence[Metrics], printed: Printed, params: GridParams) -> pd.DataFrame:
    """Count components of all residues over the seeds, and average what they reach (Table 5)."""
    rows = []
    for n in sorted({run.n for run in runs}):
        all_seeds = [run.pca for run in runs if run.n == n]
        measured = [x for x in all_seeds if x]
        over_seeds = spread((x.components for x in measured), params, "count")
        row: Cells = {"n": n, "unit": "ratio", "runs": over_seeds["runs"], "of": len(all_seeds)}
        row |= {name: over_seeds[name] for name in STATISTICS[1:]}
        row["values"] = join_values(x.components for x in measured)
        row["fve"] = float(np.mean([x.fve for x in measured])) if measured else None
        if theirs := printed.table_pca_across_10_seeds.get(n):
            row |= {"paper_mean": theirs.mean, "paper_std": theirs.std}
            row |= {"paper_min": theirs.min, "paper_max": theirs.max}
            row["paper_fve"] = round(theirs.mean_fve_percent / 100, 9)
            row["p"] = welch([x.components for x in measured], theirs.mean, theirs.std)
        rows.append(row)
    for row, p in zip(rows, holm([row.get("p") for row in rows]), strict=True):
        row |= {"p_holm": p, "differs": None if p is None else p < 1 - params.confidence}
    names = ["n", "unit", "runs", "of", *STATISTICS[1:], "fve"]
    names += ["paper_mean", "paper_std", "paper_min", "paper_max", "paper_fve"]
    names += ["p", "p_holm", "differs", "values"]
    return pd.DataFrame(rows, columns=names)


def table(runs: Sequence[Metrics], printed: Printed, params: Params) -> Table:
    """Return Table 5 over the transformers of the grid, which are all that the paper's is about."""
    transformers = [run for run in runs if run.architecture == "transformer"]
    share, interval = map(percent, (params.metrics.variance, params.grid.confidence))
    about = f"Principal components of all residues for {share} % of the variance"
    means = f"{interval} % t interval of the mean over seeds"
    return Table("pca-seeds", f"{about}, {means}.", pca(transformers, printed, params.grid), PCA)
