"""The tables of smaller and larger shares of training pairs.

In: a folder; the list of runs; the metrics of all listed runs, and the results of the mechanism,
without which nothing is said of mixing. Out: NAME.csv, NAME.tex, NAME.md and NAME.json for each
table.
"""

from strata import results
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import Run, command
from strata.tables import format
from studies.fractions.code import fractions
from studies.params import load, runs


def main(folder: str, listed: str, metrics: str, *found: str) -> None:
    params = load()
    own = runs("fractions", listed)
    own += [Run(n, seed) for n, seed in dict.fromkeys((run.n, run.seed) for run in own)]
    asked = {run: params.settings(run).split.train_fraction for run in own}
    measured, more = read_collected(metrics, Metrics), results.read(*found)
    format.write(fractions.tables(asked, measured, more), folder)


if __name__ == "__main__":
    command(main)
