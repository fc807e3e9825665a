"""The table of networks that are trained in minutes.

In: a folder; the list of runs; the folder with the metrics of each run, the one with the measures
of the mechanism on these, and those on all other runs. Out: fast.csv, fast.tex, fast.md and
fast.json.
"""

from pathlib import Path

from strata import results, store
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from studies.moduli.code import fast
from studies.params import load, runs


def main(folder: str, listed: str, metrics: str, measures: str, full: str) -> None:
    names = [str(run) for run in runs("fast", listed)]
    epochs = {x: store.read_model(Path(metrics, f"{x}.json"), Metrics).epochs or 0 for x in names}
    rows = results.read_rows(*(Path(measures, f"{x}.parquet") for x in names))
    level = load().mechanism.accuracy
    format.write([fast.table(rows, epochs, results.read_rows(full), level)], folder)


if __name__ == "__main__":
    command(main)
