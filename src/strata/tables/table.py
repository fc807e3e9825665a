"""A table: its numbers, and how its columns are read. The columns of a table are named beside the
function that computes it; here are those that many tables have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from strata.results import HOLDS

Record = Mapping[Any, Any]  # a row, by the names of its columns
Cells = dict[str, Any]  # one that is being made


class Column(NamedTuple):
    """Heading, style, alignment, what stands for a missing value, and whether a row cannot have
    one, so that a dash stands there.

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
    """A frame with the name of its file, its caption, and those of its columns that a reader sees;
    the others are in the CSV file alone.

    ``across``: two columns; the values of the first become headings, under which those of the
    second stand. ``run``: that which the table is of, where it is of one.
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
SAID = Column("what is said", align="l", missing="")
P_HOLM = {"p_holm": Column("p, Holm", "p")}
DIFFERS = {True: "differs", False: "no difference was shown"}  # a test that shows nothing says so


def of(held: str, cases: str) -> Callable[[Record], str]:
    """The style of a count among others: 7 of 10.

    >>> of("held", "cases")({"held": 7, "cases": 10})
    '7 of 10'
    """
    return lambda row: f"{row[held]} of {row[cases]}"


def holds(name: str) -> Callable[[Record], str]:
    """The style of a verdict as yes or no."""
    return lambda row: "yes" if row[name] == HOLDS else "no"
