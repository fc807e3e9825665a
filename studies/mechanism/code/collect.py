"""Read the rows of many models into one table."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from strata import results
from strata.collected import read_names


def read_models(paths: Iterable[str]) -> pd.DataFrame:
    """Return the rows of files: PATH with the names that it has for its runs, NAME=PATH with that
    name for all of them. Raises InputError where a file has no rows of results."""
    split = [path.rpartition("=") for path in paths]
    rows = [(name, results.read_rows(path)) for name, _, path in split]
    return pd.concat([x.assign(run=name) if name else x for name, x in rows])


def read_runs(names: str, folder: str, others: Iterable[str] = ()) -> pd.DataFrame:
    """Return the rows of the runs that a JSON file names, each from its Parquet file in a folder,
    and of other models as ``read_models`` takes them."""
    runs = (f"{name}={Path(folder, name)}.parquet" for name in read_names(names))
    return read_models([*runs, *others])
