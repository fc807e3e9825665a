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
from studies.seeds.code import decide


def main(folder: str, listed: str, metrics: str, *studies: str) -> None:
    params = load()
    measured, accounts = read_collected(metrics, Metrics), results.read_rows(*studies)
    tables = decide.tables(runs("seeds", listed), measured, accounts, params.grid.confidence)
    format.write(tables, folder)


if __name__ == "__main__":
    command(main)
