"""Table 5: how many components of all residues, over the seeds of each modulus."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from strata.measure.metrics import Metrics
from strata.params import GridParams, Params
from strata.tables import beside, claims, seeds
from strata.tables.headline import Table
from strata.tables.printed import Printed


def pca(runs: Sequence[Metrics], printed: Printed, params: GridParams) -> pd.DataFrame:
    """Components of all residues over the seeds, and the variance they reach (Table 5)."""
    rows = []
    for n in sorted({run.n for run in runs}):
        own = [run.pca for run in runs if run.n == n]
        found = [x for x in own if x]
        over = seeds.spread((x.components for x in found), params)
        row: seeds.Row = {"n": n, "unit": "ratio", "runs": over["runs"], "of": len(own)}
        row |= {name: over[name] for name in seeds.STATISTICS[1:]}
        row["values"] = seeds.listed(x.components for x in found)
        row["fve"] = float(np.mean([x.fve for x in found])) if found else None
        if theirs := printed.table_pca_across_10_seeds.get(n):
            row |= {"paper_mean": theirs.mean, "paper_std": theirs.std}
            row |= {"paper_min": theirs.min, "paper_max": theirs.max}
            row["paper_fve"] = round(theirs.mean_fve_percent / 100, 9)
            row["p"] = beside.welch([x.components for x in found], theirs.mean, theirs.std)
        rows.append(row)
    for row, p in zip(rows, beside.holm([row.get("p") for row in rows]), strict=True):
        row |= {"p_holm": p, "beside_paper": beside.said(p, 1 - params.confidence)}
    names = ["n", "unit", "runs", "of", *seeds.STATISTICS[1:], "fve"]
    names += ["paper_mean", "paper_std", "paper_min", "paper_max", "paper_fve"]
    names += ["p", "p_holm", "beside_paper", "values"]
    return pd.DataFrame(rows, columns=names)


def table(runs: Sequence[Metrics], printed: Printed, params: Params) -> Table:
    """Table 5 over the runs of the grid. The paper's tables are about transformers alone."""
    own = [run for run in runs if run.architecture == "transformer"]
    share, interval = map(claims.percent, (params.metrics.variance, params.grid.confidence))
    about = f"Principal components of all residues for {share} % of the variance"
    means = f"{interval} % t interval of the mean over seeds"
    return Table("pca-seeds", f"{about}, {means}.", pca(own, printed, params.grid))
