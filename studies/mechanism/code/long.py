"""The long table of the measures: one number a row."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from strata import store

NAME = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [("run", NAME), ("of", NAME), ("measure", NAME), ("unit", NAME), ("value", pa.float64())]
)


def write(path: Path | str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write the rows in their order."""
    columns = zip(*rows, strict=True)
    store.write_table(path, dict(zip(SCHEMA.names, map(list, columns), strict=True)), SCHEMA)


def read(*paths: Path | str) -> pd.DataFrame:
    """The rows of these files."""
    frames = [pd.DataFrame(store.read_table(path, SCHEMA)) for path in paths]
    return pd.concat(frames, ignore_index=True)
