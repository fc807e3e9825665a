"""A table over runs as a chart: a row for each thing measured, a strip for each measure of it.

On a strip a dot is a run, the bar is the interval of the mean, which is its tick, and the long line
is the paper's value. A table over runs has the values of its runs in a column of its CSV file.
site/macros.html draws it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from strata.tables.format import STYLES

Json = dict[str, Any]
Record = Mapping[Any, Any]
ABOUT = {"claim": "{}", "n": "n = {}", "kind": "{}", "architecture": "{}", "d": "J{}",
         "scope": "{}", "head": "head {}"}  # fmt: skip


def chart(frame: pd.DataFrame) -> Json | None:
    """The measures of a table, "" where it has one, with the ends of their scales; for each thing
    measured the strip of each. None where it has no values of single runs."""
    known = frame.dropna(subset=["values"]) if "values" in frame else frame.iloc[:0]
    records = known.to_dict("records")
    measures: dict[str, list[Record]] = {}
    for r in records:
        measures.setdefault(r.get("measure", ""), []).append(r)
    rows: dict[str, Json] = {titled(r): {} for r in records}
    for measure, own in measures.items():
        for r in own:
            rows[titled(r)][measure] = strip(r, own if measure else [r])
    ends = {name: strip(own[0], own)["ends"] for name, own in measures.items()}
    return {"measures": ends, "rows": rows} if records else None


def strip(r: Record, beside: Sequence[Record]) -> Json:
    """Places from 0 to 100 on a scale that has all values of ``beside`` on it, of a measure 0 too;
    its ends as the table has them."""
    every = [x for other in beside for x in (*values(other), *paper(other))]
    every += [0.0] if "measure" in r else []
    low, high = min(every), max(every)

    def at(x: float) -> float:
        return round(100 * (min(max(x, low), high) - low) / ((high - low) or 1), 2)

    known = {x: at(r[x]) for x in ("mean", "low", "high") if x in r and not pd.isna(r[x])}
    style = STYLES[str(r.get("unit", "index"))]
    found = {"runs": [at(x) for x in values(r)], "paper": [at(x) for x in paper(r)]}
    return known | found | {"ends": (style(low), style(high))}


def values(r: Record) -> list[float]:
    """The value of each run."""
    return [float(x) for x in str(r["values"]).split()]


def paper(r: Record) -> list[float]:
    """The paper's number, where there is one."""
    return [float(r[x]) for x in ("paper", "paper_mean") if x in r and not pd.isna(r[x])]


def titled(r: Record) -> str:
    """What a row is about.

    >>> titled({"n": 165, "d": 3, "measure": "FVE"})
    'n = 165, J₃'
    """
    found = ", ".join(text.format(r[name]) for name, text in ABOUT.items() if name in r)
    return STYLES["symbols"](found)
