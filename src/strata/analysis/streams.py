"""Activations of a run block after block, so that no reader holds those of all n² pairs at once."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.run import InputError
from strata.store import Arrays, activations_schema, parquet


def activations(path: Path | str, n: int, columns: Iterable[str]) -> Iterator[Arrays]:
    """Columns of the activations of modulus n, a row group at a time, a-major.

    Each is what ``store.read_activations`` gives of these rows; the same files are refused.
    """
    with parquet(path) as file:
        found = file.schema_arrow
        sizes = {field.name: getattr(field.type, "list_size", 0) for field in found}
        schema = activations_schema(n, sizes.get("attention", 0) // 3, sizes.get("mlp", 0))
        if not found.equals(schema):
            must = ", ".join(schema.names)
            raise InputError(f"{path}: its columns must be {must} as strata has them for n = {n}")
        if file.metadata.num_rows != n * n:
            raise InputError(f"{path}: {file.metadata.num_rows} rows, must be {n * n}")
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, list(columns))
            yield {name: _array(table.column(name)) for name in table.column_names}


def _array(column: pa.ChunkedArray) -> np.ndarray:
    whole = column.combine_chunks()
    if isinstance(whole, pa.FixedSizeListArray):
        return whole.flatten().to_numpy().reshape(len(whole), -1)
    return whole.to_numpy(zero_copy_only=False)
