"""The tables on moduli that are not square-free: regular classes against the others.

In: a folder, then the metrics of the runs. Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

import sys

from strata import store
from strata.run import command
from strata.tables import format, moduli


def main() -> None:
    folder, *paths = sys.argv[1:]
    format.write(moduli.tables([store.read_json(path) for path in paths]), folder)


if __name__ == "__main__":
    command(main)
