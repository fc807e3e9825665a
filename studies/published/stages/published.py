"""The paper's own weights beside our runs of the same modulus.

In: a folder; a folder with the metrics of published weights and, where they are shipped, their
receipt; the paper's printed values; the metrics of all listed runs; the results of the mechanism
and of the interventions, with those of the weights under the name "published"; a folder with the
claims over seeds, of the text and of Tables 2 and 3: what is not there is left out. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table; captions have the SHA-256 that the receipt names.
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from strata import results, store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from strata.tables.printed import Printed
from studies.params import load
from studies.published.code import comparison


def main(
    folder: str, shipped: str, paper: str, metrics: str, mechanism: str, interventions: str,
    seeds: str,
) -> None:  # fmt: skip
    params, printed = load(), store.read_model(paper, Printed)
    theirs = store.read_model(Path(shipped, "metrics.json"), Metrics)
    usual = [x for x in read_collected(metrics, Metrics) if params.grid.usual(x.run)]
    ours = comparison.comparable_runs(theirs, usual)
    studies = results.read_rows(mechanism), results.read_rows(interventions)
    tables = [*comparison.tables(theirs, ours, *studies, params.grid)]
    paths = [Path(seeds, f"{name}.csv") for name in ("verdict", "classes-verdict")]
    if all(path.is_file() for path in paths):
        text, classes = map(pd.read_csv, paths)
        tables += comparison.numbers(theirs, (text, classes), printed, params)
    receipt, digest = Path(shipped, "receipt.json"), ""
    if receipt.is_file():
        digest = f" SHA-256 of the weights: {store.read_json(receipt)['sha256']}."
    format.write([replace(x, caption=f"{x.caption}{digest}") for x in tables], folder)


if __name__ == "__main__":
    command(main)
