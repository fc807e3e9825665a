"""What studies find, as long tables with one number or one verdict a row.

``Row`` is what a study hands to others. The id names what is measured or asked of a run; its
sentence says so to a reader, and no code reads it. The row of an id without a measure has its
verdict and the number this is on, those with one further numbers. A run has each id of its study,
with NaN and no verdict where nothing is known. A file that is not there, as the study that writes
it is not, has no rows.
"""

from collections.abc import Collection, Iterable
from math import isnan, nan
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from strata import store
from strata.inputs import InputError
from strata.statistics import share_interval

HOLDS, UNDECIDED, FAILS = "holds", "undecided", "does not hold"  # of a run, or by a test
UNTESTED = "not tested"  # too few runs
CONFIRMED, REFUTED = "confirmed", "refuted"  # of runs together, or UNDECIDED

NAME = pa.dictionary(pa.int32(), pa.string())


class Row(NamedTuple):
    """One number or verdict of one run."""

    run: str
    id: str
    sentence: str
    measure: str = ""
    unit: str = "truth"
    value: float | None = nan
    verdict: str = ""


ROWS = pa.schema([(x, pa.float64() if x == "value" else NAME) for x in Row._fields])


def by_levels(value: float, holds: float, fails: float) -> str:
    """The verdict on a number by two levels: it holds from the first on and does not below the
    second or, where the first is the lower, up to the first and from the second on. None of NaN.

    >>> [by_levels(x, 0.8, 0.5) for x in (0.8, 0.79, 0.5, 0.49, nan)]
    ['holds', 'undecided', 'undecided', 'does not hold', '']
    >>> [by_levels(x, 0.2, 0.5) for x in (0.2, 0.21, 0.49, 0.5, nan)]
    ['holds', 'undecided', 'undecided', 'does not hold', '']
    """
    if isnan(value):
        return ""
    if holds < fails:
        return HOLDS if value <= holds else FAILS if value >= fails else UNDECIDED
    return HOLDS if value >= holds else FAILS if value < fails else UNDECIDED


def over_runs(held: int, runs: int, confidence: float = 0.95) -> str:
    """The verdict of runs together: confirmed where the interval of the share for which something
    holds lies above one half, refuted where it lies below.

    >>> [over_runs(held, 10) for held in (9, 8, 1)], over_runs(0, 0)
    (['confirmed', 'undecided', 'refuted'], 'undecided')
    """
    low, high = share_interval(held, runs, confidence)
    return CONFIRMED if low > 0.5 else REFUTED if high < 0.5 else UNDECIDED


def write_rows(path: Path | str, rows: Iterable[Row] | pd.DataFrame) -> None:
    """Write what a study hands to others, in rows or as ``read_rows`` gives them."""
    store.write_table(path, pd.DataFrame(rows, columns=Row._fields).to_dict("list"), ROWS)


def read_rows(*paths: Path | str) -> pd.DataFrame:
    """What studies handed over in those files that are there. Raises InputError where one is no
    such table."""
    frames = [pd.DataFrame(store.read_table(x, ROWS)) for x in paths if Path(x).is_file()]
    return pd.concat(frames or [pd.DataFrame(columns=ROWS.names)], ignore_index=True)


def check(id: str, ids: Collection[str], table: str = "results") -> None:
    """Raises InputError where a table that has ids lacks this one."""
    if len(ids) and id not in ids:
        known = ", ".join(sorted({*ids}))
        raise InputError(f"{table}: no id {id!r}: there are {known}; make the table again")


def with_id(found: pd.DataFrame, id: str, measure: str = "") -> pd.DataFrame:
    """The rows of an id, one for each run. Raises InputError for one that no run has."""
    check(id, {*found["id"]})
    return found.loc[(found["id"] == id) & (found["measure"] == measure)]


def numbers(found: pd.DataFrame, id: str, measure: str = "") -> dict[str, float]:
    """The number of each run that has it."""
    own = with_id(found, id, measure).dropna(subset="value")
    return dict(zip(own["run"].tolist(), map(float, own["value"]), strict=True))


def verdicts(found: pd.DataFrame, id: str) -> dict[str, str]:
    """The verdict on each run that has one."""
    own = with_id(found, id)
    return {run: x for run, x in zip(own["run"], own["verdict"], strict=True) if x}


def truths(found: pd.DataFrame, id: str) -> dict[str, bool]:
    """Whether it holds, for each run that has a verdict."""
    return {run: verdict == HOLDS for run, verdict in verdicts(found, id).items()}
