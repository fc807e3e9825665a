"""A table over runs as a chart: a row for each thing measured, a strip for each measure of it.

On a strip a dot is a run, the bar is the interval of the mean, which is its tick, and the long line
is the paper's value. A table over runs has the values of its runs in a column of its CSV file.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from strata.tables.format import STYLES

Record = Mapping[Any, Any]
Ends = tuple[float, float]
WIDTH, ROW, HEAD, END = 760, 17, 46, 56  # pixels: all; a row; names of measures; ends of a scale
ABOUT = {"claim": "{}", "n": "n = {}", "kind": "{}", "architecture": "{}", "d": "J{}",
         "scope": "{}", "head": "head {}"}  # fmt: skip
STATISTICS = (("mean", "low", "high"),)
STRIPS = Markup('<svg class="strips" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">{3}</svg>')
TEXT = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>')
LINE = Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
DOT = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.6"/>')
SAID = (
    "A dot for each run, a bar for the interval of the mean, a tick for the mean; a long line for"
)


def chart(frame: pd.DataFrame) -> Markup:
    """The chart of a table; nothing where it has no values of single runs."""
    known = frame.dropna(subset=["values"]) if "values" in frame else frame.iloc[:0]
    if known.empty:
        return Markup()
    records = known.to_dict("records")
    measures = list(dict.fromkeys(r.get("measure", "") for r in records))
    titles = list(dict.fromkeys(map(titled, records)))
    left, top = min(6.6 * max(map(len, titles)) + 14, 0.62 * WIDTH), HEAD if any(measures) else 4
    at = {title: top + ROW * (i + 0.5) for i, title in enumerate(titles)}
    parts = [TEXT.format(left - 10, y + 4, "end", "", title) for title, y in at.items()]
    width = (WIDTH - left) / len(measures)
    for i, measure in enumerate(measures):
        own, x = [r for r in records if r.get("measure", "") == measure], left + i * width
        for k, line in enumerate(textwrap.wrap(measure, max(int(width / 6), 8))[:3]):
            parts.append(TEXT.format(x, 12 + 12 * k, "start", "small", line))
        for r in own:
            ends = (x, x + width - 14) if measure else (x + END, x + width - END)
            parts += strip(r, at[titled(r)], ends, span(own if measure else [r]))
        if measure:  # the ends of the scale once, below
            parts += scale((x, x + width - 14), span(own), own[0], top + ROW * len(titles) + 12)
    said = f"{SAID} the paper’s value. The table has the numbers."
    return STRIPS.format(WIDTH, top + ROW * len(titles) + 18, said, Markup("").join(parts))


def strip(r: Record, y: float, ends: Ends, values_at: Ends) -> Iterator[Markup]:
    """Axis, dots, interval, mean and the paper's value, from one end in pixels to the other; beside
    a claim the ends of its own scale."""
    (left, right), (low, high) = ends, values_at

    def at(x: float) -> float:
        return left + (right - left) * (min(max(x, low), high) - low) / ((high - low) or 1)

    if "claim" in r:
        yield from scale((left - 6, right + 6), values_at, r, y + 4, ("end", "start"))
    yield LINE.format("axis", left, y, right, y)
    for value in paper(r):
        yield LINE.format("paper", at(value), y - 8, at(value), y + 8)
    for x in values(r):
        yield DOT.format(at(x), y)
    for mean, least, most in STATISTICS:
        if mean in r and not pd.isna(r[mean]):
            if not pd.isna(r[least]):
                yield LINE.format("interval", at(r[least]), y, at(r[most]), y)
            yield LINE.format("mean", at(r[mean]), y - 5, at(r[mean]), y + 5)


def scale(
    ends: Ends, values_at: Ends, r: Record, y: float, anchors: tuple[str, str] = ("start", "end")
) -> Iterator[Markup]:
    """The values at both ends, as the table has them."""
    style = STYLES[str(r.get("unit", "index"))]
    for x, value, anchor in zip(ends, values_at, anchors, strict=True):
        yield TEXT.format(x, y, anchor, "small", style(value))


def values(r: Record) -> list[float]:
    """The value of each run."""
    return [float(x) for x in str(r["values"]).split()]


def paper(r: Record) -> list[float]:
    """The paper's number, where there is one."""
    return [float(r[x]) for x in ("paper", "paper_mean") if x in r and not pd.isna(r[x])]


def span(records: Sequence[Record]) -> Ends:
    """The ends of a scale that has all values of a measure on it, and 0; of a claim, its own."""
    every = [x for r in records for x in (*values(r), *paper(r))]
    low, high = min(every), max(every)
    return (min(low, 0.0), max(high, 0.0)) if "measure" in records[0] else (low, high)


def titled(r: Record) -> str:
    """What a row is about.

    >>> titled({"n": 165, "d": 3, "measure": "FVE"})
    'n = 165, J₃'
    """
    found = STYLES["symbols"](
        ", ".join(text.format(r[name]) for name, text in ABOUT.items() if name in r)
    )
    return found if len(found) < 54 else f"{found[:26].strip()} … {found[-26:].strip()}"
