"""The tables of the headline run, ours beside the paper's, and the numbers of `dvc metrics`.

In: the run's metrics, the numbers that the paper prints. Out: NAME.csv, NAME.tex, NAME.md and
NAME.json for every table in a folder, and the summary as JSON. With three more arguments, metrics
of published weights and the claims over seeds, of the text and of Tables 2 and 3, the tables and
the summary are those of the published weights; the headline run and the seeds stand beside in the
claims.
"""

import pandas as pd

from strata import store
from strata.measure.metrics import Metrics
from strata.params import load
from strata.run import InputError, command
from strata.tables import format, headline, published
from strata.tables.printed import Printed


def main(metrics_path: str, printed_path: str, folder: str, summary: str, *others: str) -> None:
    if len(others) not in (0, 3):
        raise InputError(f"called with {len(others)} files of published weights: must be 0 or 3")
    params = load("params.yaml")
    metrics = store.read_model(metrics_path, Metrics)
    printed = store.read_model(printed_path, Printed)
    if (metrics.n, metrics.seed) != (params.n, params.seed):
        raise InputError(f"{metrics_path}: is not of n = {params.n}, seed = {params.seed}")
    if others:
        ours, metrics = metrics, store.read_model(others[0], Metrics)
        seeds, classes = (pd.read_csv(path) for path in others[1:])
        made = published.of_published(metrics, ours, seeds, classes, printed, params)
    else:
        made = headline.tables(metrics, printed, params)
    format.write(made, folder)
    store.write_json(summary, headline.summary(metrics))
    if metrics.generalised is False:
        print(headline.memorised(metrics))


if __name__ == "__main__":
    command(main)
