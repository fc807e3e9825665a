"""The tables of splits crossed with initial weights.

In: a folder; the list of runs; the metrics of all listed runs, and the results of the mechanism,
without which there is no gating. Out: NAME.csv, NAME.tex, NAME.md and NAME.json for each table.
"""

from strata import results
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from studies.params import load, runs
from studies.seeds.code import crossed


def main(folder: str, listed: str, metrics: str, *found: str) -> None:
    params = load()
    measured, more = read_collected(metrics, Metrics), results.read_rows(*found)
    made = crossed.tables(runs("seeds", listed), measured, more, params.grid.confidence)
    format.write(made, folder)


if __name__ == "__main__":
    command(main)
