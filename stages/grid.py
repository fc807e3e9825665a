"""The tables over the runs of the grid: means, spreads and intervals over seeds.

In: the numbers that the paper prints, the folder that has the metrics of the runs in grid.runs, a
folder. Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

import sys
from pathlib import Path

from strata import store
from strata.params import load
from strata.run import command
from strata.tables import format, seeds


def main() -> None:
    printed, metrics, folder = sys.argv[1:]
    params = load("params.yaml")
    runs = [store.read_json(Path(metrics, f"{run}.json")) for run in params.grid.runs]
    format.write(seeds.grid(runs, store.read_json(printed), params), folder)


if __name__ == "__main__":
    command(main)
