"""The measures of attention and adding of all runs in one long table; and their tables.

In: the names of the runs as JSON, the folder with the measures of each, those of planted models,
the long table to write, a folder, and files of what criteria-2.md asks of planted models: PATH with
their names, or NAME=PATH. Out: the long table, Parquet; each table as NAME.csv, .tex and .md.
"""

from strata import results
from strata.run import command
from strata.tables import format
from studies.mechanism.code import adding_tables
from studies.mechanism.code.collect import read_models, read_runs
from studies.params import load


def main(names: str, measures: str, planted: str, collected: str, folder: str, *five: str) -> None:
    rows = read_runs(names, measures)
    results.write_rows(collected, rows)
    params, controls = load(), results.read_rows(planted)
    others = read_models(five)
    tables = adding_tables.tables(rows, controls, others, params.mechanism, params.adding)
    format.write(tables, folder)


if __name__ == "__main__":
    command(main)
