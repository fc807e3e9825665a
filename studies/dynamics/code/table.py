"""The table of a run's training dynamics: one row for each checkpoint, measure, and what the
measure is of.

The measures are those of ``trajectory``; criteria.md defines them. ``of`` is empty for the
whole model or all pairs, else J15 for a class, head 0 for a head, W_E for a tensor.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from strata import store

NAME = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [("epoch", pa.int32()), ("measure", NAME), ("of", NAME), ("value", pa.float64())]
)


class Row(NamedTuple):
    """One number at one checkpoint."""

    measure: str
    of: str
    value: float


def write(
    path: Path | str, rows: Mapping[int, Sequence[tuple[Any, ...]]], schema: pa.Schema = SCHEMA
) -> None:
    """Write the rows of each epoch, in that order."""
    flat = [(epoch, *row) for epoch, measured in rows.items() for row in measured]
    columns = {name: [row[i] for row in flat] for i, name in enumerate(schema.names)}
    store.write_table(path, columns, schema)


def read(path: Path | str) -> pd.DataFrame:
    """The rows of a run. Raises InputError where it is no table of this kind."""
    return pd.DataFrame(store.read_table(path, SCHEMA))


def curve(frame: pd.DataFrame, measure: str, of: str = "") -> pd.Series:
    """One measure over the epochs; empty where there is none of it."""
    of_one = frame.loc[(frame["measure"] == measure) & (frame["of"] == of)]
    return of_one.set_index("epoch")["value"]
