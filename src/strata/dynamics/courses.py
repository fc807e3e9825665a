"""The table of a course: one row for each moment, measure, and what the measure is of.

The measures are those of module ``course``; docs/dynamics.md defines them. ``of`` is empty for the
whole model or all pairs, else J15 for a class, head 0 for a head, W_E for a tensor.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from strata import store

NAME = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [("epoch", pa.int32()), ("measure", NAME), ("of", NAME), ("value", pa.float64())]
)


class Row(NamedTuple):
    """One number of one moment."""

    measure: str
    of: str
    value: float


def write(path: Path | str, moments: Mapping[int, Sequence[Row]]) -> None:
    """Write the rows of each epoch, in that order."""
    flat = [(epoch, *row) for epoch, rows in moments.items() for row in rows]
    columns = {name: [row[i] for row in flat] for i, name in enumerate(SCHEMA.names)}
    store.write_table(path, columns, SCHEMA)


def read(path: Path | str) -> pd.DataFrame:
    """The rows of a course. Raises InputError where it is no table of this kind."""
    return pd.DataFrame(store.read_table(path, SCHEMA))


def curve(course: pd.DataFrame, measure: str, of: str = "") -> pd.Series:
    """One measure over the epochs; empty where there is none of it."""
    own = course.loc[(course["measure"] == measure) & (course["of"] == of)]
    return own.set_index("epoch")["value"]


def mean(course: pd.DataFrame, measure: str) -> pd.Series:
    """The mean of a measure over all that it is of, classes or heads, at each epoch."""
    return course.loc[course["measure"] == measure].groupby("epoch")["value"].mean()
