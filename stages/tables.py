"""The tables of the headline run, ours beside the paper's, and the numbers of `dvc metrics`.

In: the run's metrics, the numbers that the paper prints. Out: NAME.csv, NAME.tex and NAME.md for
every table in a folder, and the summary as JSON. With three more arguments, metrics of published
weights and the claims over seeds, of the text and of Tables 2 and 3, the tables and the summary are
those of the published weights; the headline run and the seeds stand beside in the claims.
"""

import sys

import pandas as pd

from strata import store, tables, typeset, verdict
from strata.params import load
from strata.run import InputError, command


def main() -> None:
    metrics_path, printed_path, folder, summary_path, *published = sys.argv[1:]
    params = load("params.yaml")
    metrics, printed = store.read_json(metrics_path), store.read_json(printed_path)
    if (metrics["n"], metrics["seed"]) != (params.n, params.seed):
        raise InputError(f"{metrics_path}: is not of n = {params.n}, seed = {params.seed}")
    if published:
        ours, metrics = metrics, store.read_json(published[0])
        seeds, classes = (pd.read_csv(path) for path in published[1:])
        made = verdict.of_published(metrics, ours, seeds, classes, printed, params)
    else:
        made = tables.tables(metrics, printed, params)
    typeset.write(made, folder)
    store.write_json(summary_path, tables.summary(metrics))


if __name__ == "__main__":
    command(main)
