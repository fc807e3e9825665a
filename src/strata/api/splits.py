"""Read which pairs trained and which validated, as somebody else has them: arrays, or a file of
them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import torch
from jaxtyping import Int

from strata import task
from strata.inputs import InputError, opened, regular_file
from strata.store import Arrays
from strata.task import Task

LARGEST = 100  # bytes of a pair in a file, with all that a format has around it
NAMES: dict[str, str] = dict.fromkeys(("train", "training"), task.TRAIN)
NAMES |= dict.fromkeys(("validation", "val", "valid", "test"), task.VALIDATION)


def table(split: Any, task_or_n: Task | int) -> Arrays:
    """Return the pair table of a task with this split: {"train": …, "validation": …}, each an array
    (pairs, 2), or a file of it (.npz, .json, .pt), or one with columns a, b, split (.csv,
    .parquet). A pair in neither is held back. Raises InputError where the split is not valid."""
    n = task.task_of(task_or_n).order
    origin = str(split) if isinstance(split, str | Path) else "split"
    parts = read(Path(split), n) if isinstance(split, str | Path) else split
    if not isinstance(parts, Mapping) or not {*map(str, parts)} & {*NAMES}:
        raise InputError(f"{origin}: must have the pairs of train, of validation, or of both")
    dealt = np.full(n * n, task.HELD_BACK, dtype=object)
    for name, pairs in parts.items():
        if (part := NAMES.get(str(name))) is None:
            continue
        rows = numbered(pairs, n, f"{origin}: {name}")
        if (twice := np.flatnonzero(np.bincount(rows) > 1)).size:
            a, b = divmod(int(twice[0]), n)
            raise InputError(f"{origin}: {name}: ({a}, {b}) is there more than once")
        if (shared := rows[dealt[rows] != task.HELD_BACK]).size:
            a, b = divmod(int(shared[0]), n)
            raise InputError(f"{origin}: ({a}, {b}) is in train and in validation")
        dealt[rows] = part
    return task.pair_table(task_or_n) | {"split": dealt, "mirror_in_train": task.mirrored(dealt, n)}


def numbered(pairs: Any, n: int, origin: str) -> Int[np.ndarray, " pairs"]:
    """Return pairs as numbers a·n + b. Raises InputError for anything but pairs of n tokens."""
    try:
        if len(pairs) > n * n:  # before they are copied: an array may say more than its file holds
            raise InputError(f"{origin}: {len(pairs)} pairs, must be at most n² = {n * n}")
        array: Any = np.asarray(pairs)
    except (TypeError, ValueError, RuntimeError):
        array = np.empty((0, 0))
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu" or not len(array):
        raise InputError(f"{origin}: must be integers of shape (pairs, 2), one pair or more")
    if len(out := array[((array < 0) | (array >= n)).any(axis=1)]):
        raise InputError(f"{origin}: ({out[0, 0]}, {out[0, 1]}): must be from 0 to {n - 1}")
    return array[:, 0].astype(np.int64) * n + array[:, 1]


def read(path: Path, n: int) -> Any:
    """Return what a file of a split holds, which is of n² pairs at most. Raises InputError where it
    cannot be read."""
    largest = 2**20 + LARGEST * n * n
    content = regular_file(path, largest).read_bytes()
    try:
        file = opened(content, largest)
        if path.suffix == ".json":
            return json.load(file)
        if path.suffix == ".npz":
            return dict(np.load(file))
        if path.suffix in (".pt", ".pth"):
            return torch.load(file, weights_only=True)
        if path.suffix == ".parquet" and (rows := pq.read_metadata(file).num_rows) > n * n:
            raise InputError(f"{rows} rows, must be at most n² = {n * n}")
        if path.suffix in (".csv", ".parquet"):
            reader = pd.read_csv if path.suffix == ".csv" else pd.read_parquet
            frame = reader(file)
            return {k: x[["a", "b"]].to_numpy() for k, x in frame.groupby("split", observed=True)}
    except Exception as error:  # what damage makes these readers raise is not a closed list
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: cannot be read as {path.suffix}: {reason[:100]}") from None
    raise InputError(f"{path}: a split is a file .csv, .parquet, .npz, .json or .pt")
