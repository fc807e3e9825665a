"""The tables of the two accounts.

In: the names of the runs as JSON, the folder with the accounts of each, the measures of all, a
folder, and accounts of other models as NAME=PATH, whose rows get that name for their run. Out: each
table as NAME.csv, .tex and .md.
"""

from strata import results
from strata.run import command
from strata.tables import format
from studies.mechanism.code import account_tables
from studies.mechanism.code.collect import read_runs
from studies.params import load


def main(names: str, accounts: str, measured: str, folder: str, *others: str) -> None:
    rows = read_runs(names, accounts, others)
    tables = account_tables.tables(rows, results.read_rows(measured), load().mechanism)
    format.write(tables, folder)


if __name__ == "__main__":
    command(main)
