"""The measures of all runs in one long table; and the tables of the mechanism.

In: the names of the runs as JSON, the folder with the measures of each, the networks written by
hand, the long table to write, a folder, and measures of other models as NAME=PATH, whose rows get
that name for their run. Out: the long table, Parquet; each table as NAME.csv, .tex and .md.
"""

import pandas as pd

from strata import results
from strata.run import command
from strata.tables import format
from studies.mechanism.code import tables
from studies.mechanism.code.collect import read_runs
from studies.params import load


def main(names: str, measures: str, hand: str, collected: str, folder: str, *others: str) -> None:
    rows = read_runs(names, measures, others)
    results.write_rows(collected, rows)
    format.write(tables.tables(rows, pd.read_csv(hand), load().mechanism), folder)


if __name__ == "__main__":
    command(main)
