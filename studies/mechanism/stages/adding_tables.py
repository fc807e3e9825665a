"""The measures of attention and adding of all runs in one long table; and their tables.

In: the names of the runs as JSON, the folder with the measures of each, those of planted models,
the long table to write, a folder, and files of what criteria-2.md asks of planted models: PATH with
their names, or NAME=PATH. Out: the long table, Parquet; each table as NAME.csv, .tex and .md.
"""

from pathlib import Path

import pandas as pd

from strata import results
from strata.collected import read_names
from strata.run import command
from strata.tables import format
from studies.mechanism.code import adding_tables
from studies.params import load


def read_named(argument: str) -> pd.DataFrame:
    """Read the rows of PATH, or of NAME=PATH with that name."""
    name, _, path = argument.rpartition("=")
    rows = results.read_rows(path)
    return rows.assign(run=name) if name else rows


def main(names: str, measures: str, planted: str, collected: str, folder: str, *five: str) -> None:
    paths = {name: Path(measures, f"{name}.parquet") for name in read_names(names)}
    rows = pd.concat([results.read_rows(path).assign(run=name) for name, path in paths.items()])
    results.write_rows(collected, rows)
    params, controls = load(), results.read_rows(planted)
    others = pd.concat([read_named(x) for x in five])
    tables = adding_tables.tables(rows, controls, others, params.mechanism, params.adding)
    format.write(tables, folder)


if __name__ == "__main__":
    command(main)
