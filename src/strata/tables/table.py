"""Define a table: its numbers, and how a reader sees its columns. The columns of a table are named
beside the function that computes it; those of many tables are named in this module."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from strata.results import HOLDS

Record = Mapping[Any, Any]  # a row, by the names of its columns
Cells = dict[str, Any]  # a row while it is computed


class Column(NamedTuple):
    """A ``Column`` has a heading, a style and an alignment; ``missing`` stands for a missing value,
    and a dash where ``impossible`` says that the row cannot have one.

    The style is one of ``format.STYLES``, with "unit" for the unit of the row, or a function of the
    row where the cell says several numbers.
    """

    heading: str
    style: str | Callable[[Record], str] = "text"
    align: str = "r"
    missing: str = "—"
    impossible: Callable[[Record], bool] = lambda row: False


@dataclass(frozen=True)
class Table:
    """A ``Table`` is a frame with the name of its file, its caption, and the columns that a reader
    sees; the others are in the CSV file alone.

    ``across`` names two columns: the values of the first become headings, under which the values of
    the second stand. ``run`` is the run that the table is about, where it is about one.
    """

    name: str
    caption: str
    frame: pd.DataFrame
    columns: Mapping[str, Column] = field(default_factory=dict)
    across: tuple[str, str] | None = None
    run: str = ""


ID = {"id": Column("id", align="l")}
SENTENCE = {"sentence": Column("criterion", "symbols", "l")}
RUN = {"run": Column("run", align="l")}
N = {"n": Column("n", missing="all")}
SEED = {"seed": Column("seed")}
KIND = {"architecture": Column("model", align="l")}
CLASS = {"d": Column("class", "class", "l")}
HEAD = {"head": Column("head")}
MEASURE = {"measure": Column("measure", align="l")}
RUNS = {"runs": Column("runs", "count"), "of": Column("of", "count")}
GENERALISED = {"generalised": Column("generalises", "truth", "l")}
SPREAD = {
    "mean": Column("mean", "unit"),
    "std": Column("std", "unit"),
    "low": Column("interval from", "unit"),
    "high": Column("to", "unit"),
    "min": Column("least", "unit"),
    "max": Column("largest", "unit"),
}
P_HOLM = {"p_holm": Column("p, Holm", "p")}
DIFFERS = {True: "differs", False: "no difference was shown"}  # a test that shows nothing says so


def count_of(count: str, cases: str) -> Callable[[Record], str]:
    """Return the style of a count among others, such as 7 of 10.

    >>> count_of("held", "cases")({"held": 7, "cases": 10})
    '7 of 10'
    """
    return lambda row: f"{row[count]} of {row[cases]}"


def holds(name: str) -> Callable[[Record], str]:
    """Return the style of a verdict as yes or no."""
    return lambda row: "yes" if row[name] == HOLDS else "no"
