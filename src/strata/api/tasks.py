"""Take a task as a user has it: by its name, or as a table in a file, an array, lists or a frame.

What a file says may be anybody's, so its size is known before a table is built of it.
"""

import os
import re
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from strata.arithmetic import divisors, primefactors
from strata.commutative import LARGEST, MEANINGS
from strata.inputs import InputError, opened, regular_file
from strata.task import ALLOWED, MULTIPLICATION, Task, parse_task

ANSWERS = "answers"  # the network's own table
WORDS = (MULTIPLICATION, "units")
LARGEST_FILE = 2**26  # bytes
ZEROS = 16  # absorbing elements, one added after the other
PIECE = re.compile(r"(Z|U|C|chain|sums|gcd)([1-9][0-9]{0,3})")


def setting_of(task: Any) -> Any:
    """Return what settings call a task: a name as it is; a file (text, .csv or .npy), an array,
    nested lists or a frame as {"table": rows}. Raises InputError for anything else."""
    if isinstance(task, Mapping):
        table = task.get("table")
        return {"table": rows_of(Path(table))} if isinstance(table, str) else dict(task)
    if isinstance(task, str) and (task in WORDS or not os.path.isfile(task)):
        return task
    return {"table": rows_of(Path(task) if isinstance(task, str) else task)}


def rows_of(table: Any) -> list[str]:
    """Return the rows of a table as text. Raises InputError where it is no square of integers."""
    origin = str(table) if isinstance(table, Path) else "task"
    try:
        if isinstance(table, Path):
            content = regular_file(table, LARGEST_FILE).read_bytes()
            if table.suffix != ".npy":
                if re.search(rb"[^\s\d,+-]", content):
                    raise ValueError("not a table of integers")
                rows = content.decode().split("\n")[: content.rstrip().count(b"\n") + 1]
                if len(rows) == 1 + len(rows[0].replace(",", " ").split()):
                    header = f"{len(rows) - 1} columns, and a row more, which is a header"
                    how = "write it by to_csv(header=False, index=False)"
                    raise InputError(f"{origin}: {header}: must have none; {how}")
                return rows
            table = np.load(opened(content, LARGEST_FILE), allow_pickle=False)
        array: Any = np.asarray(table)
    except OSError as error:
        raise InputError(f"{origin}: {error.strerror}") from None
    except (ValueError, TypeError, EOFError):
        array = np.empty(0)
    if array.ndim != 2 or array.dtype.kind not in "iu" or len({*array.shape}) > 1:
        must = "must be a square of integers, row a, column b: the answer to (a, b)"
        what = f"{type(table).__name__} {array.shape}" if array.size else "no table of numbers"
        raise InputError(f"{origin}: {what}: {must}")
    if len(array) > LARGEST:
        raise InputError(f"{origin}: {len(array)} elements: must be at most {LARGEST}")
    return [" ".join(map(str, row)) for row in array.tolist()]


def order_of(setting: Any) -> int | None:
    """Return how many elements a product of pieces or a table has, before it is built; None for a
    part of the residues, which n decides. Raises InputError for what names no task, or a larger one
    than there may be."""
    if setting in WORDS:
        return None
    if isinstance(setting, str):
        plain = setting
        while plain.endswith("^0"):
            plain = plain.removesuffix("^0")
        zeros, pieces = (
            (len(setting) - len(plain)) // 2,
            [*map(PIECE.fullmatch, plain.split(" x "))],
        )
        sizes = [size(x[1], int(x[2])) if x else 0 for x in pieces]
        if not all(sizes):
            allowed = (
                f"{', '.join(WORDS)}, {ANSWERS}, a file, or pieces such as {MEANINGS}, by ' x '"
            )
            raise InputError(f"task = {setting!r:.60}: must be {allowed}")
        order = prod(sizes) + zeros
        if order > LARGEST or zeros > ZEROS or max(int(x[2]) for x in pieces if x) > LARGEST:
            must = f"must have at most {LARGEST} elements, and ^0 at most {ZEROS} times"
            raise InputError(f"task = {setting!r:.60}: {must}")
        return order
    rows = setting.get("table") if isinstance(setting, Mapping) else None
    zeros = setting.get("zeros") if isinstance(setting, Mapping) else None
    if isinstance(zeros, Sequence) and len(setting) == 1 and len(zeros) <= ZEROS:
        return None
    if not isinstance(rows, Sequence) or not all(isinstance(x, str) for x in rows):
        raise InputError(f"task = {setting!r:.60}: must be {ALLOWED}")
    if len(rows) > LARGEST or max(map(len, rows), default=0) > 8 * len(rows) + 8:
        must = f"must be a square of at most {LARGEST} rows"
        raise InputError(f"task.table: {len(rows)} rows: {must}")
    return len(rows)


def size(kind: str, n: int) -> int:
    """Return how many elements a piece has: Z7, U7, C7, chain7, sums7 or gcd7."""
    if kind == "U":
        return n * prod(p - 1 for p in primefactors(n)) // prod(primefactors(n))
    return len(divisors(n)) if kind == "gcd" else n


def task_with(task: Any, n: int, answers: int | None = None) -> Task:
    """Return the task that a user means, for a network of ``answers`` candidates, which are n if
    they are not given. Raises InputError where it has another number of elements."""
    setting, answers = setting_of(task), n if answers is None else answers
    order = order_of(setting)
    fits = order in (None, answers)
    parsed = parse_task(setting, n if order is None else order) if fits else None
    count = parsed.order if parsed else order
    if parsed is None or count != answers:
        must = f"the network has {answers} answers: must be equal"
        hint = "; n is the modulus, give n=N (--n N)" if order is None else ""
        raise InputError(f"task: {count} elements, {must}{hint}")
    return parsed
