"""The long table in which a study hands its numbers to others: one number a row.

``of`` is what a measure is of, empty for the whole run. A measure of unit "truth" is 1 or 0. A
verdict is a measure of the same unit for each of its words, with 1 for the one that was given. What
a run lacks is no row; a file that is not there, as the study that writes it is not, has none.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from strata import store

NAME = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [("run", NAME), ("of", NAME), ("measure", NAME), ("unit", NAME), ("value", pa.float64())]
)


class Row(NamedTuple):
    """One number of one run."""

    run: str
    of: str
    measure: str
    unit: str
    value: float


def verdict(run: str, measure: str, given: str | None, words: Iterable[str]) -> list[Row]:
    """The rows of a verdict; none where none is given."""
    return [] if given is None else [Row(run, x, measure, "truth", x == given) for x in words]


def write(path: Path | str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write the rows in their order."""
    known = list(rows)
    columns = {name: [row[i] for row in known] for i, name in enumerate(SCHEMA.names)}
    store.write_table(path, columns, SCHEMA)


def read(*paths: Path | str) -> pd.DataFrame:
    """The rows of those files that are there. Raises InputError where one is no such table."""
    known = [path for path in paths if Path(path).is_file()]
    frames = [pd.DataFrame(store.read_table(path, SCHEMA)) for path in known]
    return pd.concat(frames or [pd.DataFrame(columns=SCHEMA.names)], ignore_index=True)


def numbers(frame: pd.DataFrame, measure: str, of: str = "") -> dict[str, float]:
    """One measure of one thing, by run."""
    rows = frame.query("measure == @measure and of == @of")
    return dict(zip(rows["run"].tolist(), map(float, rows["value"]), strict=True))


def truths(frame: pd.DataFrame, measure: str, of: str = "") -> dict[str, bool]:
    """The same of a measure that is true or false."""
    return {run: bool(x) for run, x in numbers(frame, measure, of).items()}


def verdicts(frame: pd.DataFrame, measure: str) -> dict[str, str]:
    """The word that each run was given."""
    rows = frame.query("measure == @measure and value == 1")
    return dict(zip(rows["run"].tolist(), rows["of"].tolist(), strict=True))
