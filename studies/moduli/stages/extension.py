"""The tables on moduli that are not square-free: regular classes against the others.

In: a folder, the metrics of all listed runs. The extension's are those of no modulus of
grid.moduli that have a class that is no group. Out: NAME.csv, NAME.tex, NAME.md and
NAME.json for each table.
"""

from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.params import GridParams
from strata.run import command, section
from strata.tables import format
from studies.moduli.code import moduli


def main(folder: str, metrics: str) -> None:
    grid = section("params.yaml", "grid", GridParams)
    runs = [x for x in read_collected(metrics, Metrics) if grid.extends(x.run)]
    extended = [x for x in runs if not all(c.regular for c in x.classes)]
    format.write(moduli.tables(extended), folder)


if __name__ == "__main__":
    command(main)
