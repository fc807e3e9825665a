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
    """A ``Row`` is one number or verdict of one run."""

    run: str
    id: str
    sentence: str
    measure: str = ""
    unit: str = "truth"
    value: float | None = nan
    verdict: str = ""


ROWS = pa.schema([(x, pa.float64() if x == "value" else NAME) for x in Row._fields])


def by_levels(value: float, holds: float, fails: float) -> str:
    """Judge a number by two levels. It holds from the first level on and does not hold below the
    second; where the first level is the lower one, it holds up to the first and does not hold from
    the second on. NaN has the empty verdict.

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


def over_runs(successes: int, runs: int, confidence: float = 0.95) -> str:
    """Judge runs together: confirmed where the interval of the share of runs for which something
    holds lies above one half, refuted where it lies below.

    >>> [over_runs(successes, 10) for successes in (9, 8, 1)], over_runs(0, 0)
    (['confirmed', 'undecided', 'refuted'], 'undecided')
    """
    low, high = share_interval(successes, runs, confidence)
    return CONFIRMED if low > 0.5 else REFUTED if high < 0.5 else UNDECIDED


def write_rows(path: Path | str, rows: Iterable[Row] | pd.DataFrame) -> None:
    """Write what a study hands to others, in rows or as ``read_rows`` gives them."""
    store.write_table(path, pd.DataFrame(rows, columns=Row._fields).to_dict("list"), ROWS)


def read_rows(*paths: Path | str) -> pd.DataFrame:
    """Return what studies handed over in those of the files that exist. Raises InputError where a
    file is no such table."""
    frames = [pd.DataFrame(store.read_table(x, ROWS)) for x in paths if Path(x).is_file()]
    return pd.concat(frames or [pd.DataFrame(columns=ROWS.names)], ignore_index=True)


def check(id: str, ids: Collection[str], table: str = "results") -> None:
    """Raise InputError where a table that has ids lacks this one."""
    if len(ids) and id not in ids:
        names = ", ".join(sorted({*ids}))
        raise InputError(f"{table}: no id {id!r}: there are {names}; make the table again")


def with_id(rows: pd.DataFrame, id: str, measure: str = "") -> pd.DataFrame:
    """Return the rows of an id, one for each run. Raises InputError for an id that no run has."""
    check(id, {*rows["id"]})
    return rows.loc[(rows["id"] == id) & (rows["measure"] == measure)]


def numbers(rows: pd.DataFrame, id: str, measure: str = "") -> dict[str, float]:
    """Return the number of each run that has one."""
    matching = with_id(rows, id, measure).dropna(subset="value")
    return dict(zip(matching["run"].tolist(), map(float, matching["value"]), strict=True))


def verdicts(rows: pd.DataFrame, id: str) -> dict[str, str]:
    """Return the verdict on each run that has one."""
    matching = with_id(rows, id)
    return {run: x for run, x in zip(matching["run"], matching["verdict"], strict=True) if x}


def truths(rows: pd.DataFrame, id: str) -> dict[str, bool]:
    """Return whether the statement holds, for each run that has a verdict."""
    return {run: verdict == HOLDS for run, verdict in verdicts(rows, id).items()}
