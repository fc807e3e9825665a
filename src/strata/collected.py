"""The results of many runs in one file: the JSON file of each is a row of a Parquet file, which has
a sixth of their size."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from strata import store
from strata.result import parsed
from strata.run import M

ROWS = pa.schema([("result", pa.string())])


def write_collected(path: Path | str, results: Iterable[bytes]) -> None:
    """Write the contents of JSON files, in their order."""
    store.write_table(path, {"result": list(results)}, ROWS)


def read_collected(path: Path | str, model: type[M]) -> list[M]:
    """The results in such a file, in its order.

    Raises InputError for a file that is none, or holds something else.
    """
    rows = store.read_table(path, ROWS)["result"]
    return [parsed(model, text.encode(), f"{path}, row {i}") for i, text in enumerate(rows)]
