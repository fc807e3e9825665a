"""The tables of the MLP-only models beside the transformers.

In: a folder; the list of runs; the metrics of all listed runs; a folder with the results of the
mechanism, and the results of the interventions: what is not there is left out. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table.
"""

from pathlib import Path

import pandas as pd

from strata import results
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from studies.architectures.code import tables
from studies.params import load, runs


def main(folder: str, listed: str, metrics: str, mechanism: str, interventions: str) -> None:
    params, verdicts_path = load(), Path(mechanism, "accounts-moduli.csv")
    planned = runs("paper", listed) + runs("architectures", listed)
    seeds = sorted({run.seed for run in planned if run.variant == "mlp"})
    usual = [x for x in read_collected(metrics, Metrics) if params.grid.usual(x.run)]
    accounts = results.read_rows(Path(mechanism, "results.parquet"))
    studies = accounts, results.read_rows(interventions)
    verdicts = pd.read_csv(verdicts_path) if verdicts_path.is_file() else None
    equal, confidence = params.architectures.equal, params.grid.confidence
    planned_grid = params.grid.moduli, seeds
    format.write(
        tables.tables(usual, *studies, verdicts, planned_grid, equal, confidence),
        folder,
    )


if __name__ == "__main__":
    command(main)
