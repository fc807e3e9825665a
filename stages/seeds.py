"""Table 5, over the runs of the grid: mean, spread and interval over seeds.

In: the numbers that the paper prints, the metrics of all listed runs, a folder. The grid's runs are
those of grid.moduli. Out: pca-seeds.csv, .tex, .md and .json.
"""

from strata import store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.params import load
from strata.run import command
from strata.tables import format, spread
from strata.tables.printed import Printed


def main(paper: str, metrics: str, folder: str) -> None:
    params, printed = load("params.yaml"), store.read_model(paper, Printed)
    runs = [x for x in read_collected(metrics, Metrics) if params.grid.compares(x.run)]
    format.write([spread.table(runs, printed, params)], folder)


if __name__ == "__main__":
    command(main)
