"""The tables over the runs of the grid: means, spreads and intervals over seeds.

In: the numbers that the paper prints, the metrics of all listed runs, a folder. The grid's runs are
those of grid.moduli. Out: NAME.csv, NAME.tex, NAME.md and NAME.json for each table but
Table 5, which stages/seeds.py writes.
"""

from strata import store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.params import load
from strata.run import command
from strata.tables import format
from strata.tables.printed import Printed
from studies.seeds.code import over_seeds


def main(paper: str, metrics: str, folder: str) -> None:
    params, printed = load("params.yaml"), store.read_model(paper, Printed)
    runs = [x for x in read_collected(metrics, Metrics) if params.grid.compares(x.run)]
    format.write(over_seeds.grid(runs, printed, params), folder)


if __name__ == "__main__":
    command(main)
