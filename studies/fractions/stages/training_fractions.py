"""The tables of smaller and larger shares of training pairs.

In: a folder; the list of runs; the folder with the splits' settings of those that are trained here;
the metrics of all listed runs, and the results of the mechanism, without which nothing is said of
mixing. Out: NAME.csv, NAME.tex, NAME.md and NAME.json for each table.
"""

from strata import results, store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import Run, SplitParams, command, section
from strata.tables import format
from studies.fractions.code import decide
from studies.params import runs


def main(folder: str, listed: str, splits: str, metrics: str, *studies: str) -> None:
    usual = section("params.yaml", "split", SplitParams)
    split_params = {
        run: store.read_model(f"{splits}/{run}.json", SplitParams)
        for run in runs("fractions", listed)
    }
    split_params |= {Run(n, seed): usual for n, seed in {(run.n, run.seed) for run in split_params}}
    fractions = {run: x.train_fraction for run, x in split_params.items()}
    metrics_of_runs, accounts = read_collected(metrics, Metrics), results.read_rows(*studies)
    format.write(decide.tables(fractions, metrics_of_runs, accounts), folder)


if __name__ == "__main__":
    command(main)
