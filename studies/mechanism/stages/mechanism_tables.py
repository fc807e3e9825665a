"""The tables of the mechanism: verdicts, numbers, proofs.

In: a folder, the measures of all models. Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from strata import results
from strata.run import command
from strata.tables import format
from studies.mechanism.code import tables
from studies.params import load


def main(folder: str, measures: str) -> None:
    format.write(tables.tables(results.read(measures), load().mechanism), folder)


if __name__ == "__main__":
    command(main)
