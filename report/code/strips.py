"""A table over runs as a chart: a row for each thing measured, a strip for each measure of it.

On a strip a dot is a run, the bar is the interval of the mean, which is its tick, and the long line
is the paper's value. A table over runs has the values of its runs in a column of its CSV file.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from strata.tables.format import STYLES

Record = Mapping[Any, Any]
WIDTH, ROW, BOTTOM = 760, 17, 18  # pixels: of the chart, of a row, below the last row
ABOUT = {"claim": "{}", "n": "n = {}", "kind": "{}", "architecture": "{}", "d": "J{}",
         "scope": "{}", "head": "head {}"}  # fmt: skip
STATISTICS = (("mean", "low", "high"), ("mean_index", "from", "to"))
STRIPS = Markup('<svg class="strips" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">{3}</svg>')
TEXT = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>')
LINE = Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
DOT = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.6"/>')
SMALL = Markup(' class="small"')


class Scale(NamedTuple):
    """From ``low``, at ``left`` pixels, to ``high``, ``width`` pixels to the right."""

    left: float
    width: float
    low: float
    high: float

    def at(self, x: float) -> float:
        """Where a value stands."""
        return self.left + self.width * (x - self.low) / ((self.high - self.low) or 1)


def chart(frame: pd.DataFrame) -> Markup:
    """The chart of a table; nothing where it has no values of single runs."""
    if "values" not in frame:
        return Markup()
    records = [r for r in frame.to_dict("records") if not pd.isna(r["values"])]
    if not records:
        return Markup()
    measures = list(dict.fromkeys(r.get("measure", "") for r in records))
    top = 46 if measures != [""] else 4
    names = {name: top + ROW * (i + 0.5) for i, name in
             enumerate(dict.fromkeys(titled(r) for r in records))}  # fmt: skip
    left = min(6.6 * max(map(len, names)) + 14, 0.62 * WIDTH)
    size = SMALL if "claim" in records[0] else ""
    parts = [TEXT.format(left - 10, y + 4, "end", size, short(x)) for x, y in names.items()]
    for i, measure in enumerate(measures):
        own = [r for r in records if r.get("measure", "") == measure]
        width = (WIDTH - left) / len(measures)
        parts += column(own, names, Scale(left + i * width, width - 14, 0, 1), measure)
    seen = "A dot for each run, a bar for the interval of the mean, a tick for the mean"
    seen += "; a long line for the paper’s value." if any(map(paper, records)) else "."
    tall = top + ROW * len(names) + BOTTOM
    return STRIPS.format(WIDTH, tall, f"{seen} The table has the numbers.", Markup("").join(parts))


def column(
    records: Sequence[Record], names: Mapping[str, float], room: Scale, measure: str
) -> Iterator[Markup]:
    """The strips of one measure under its name, at the heights of their rows, on one scale with its
    ends below."""
    if "claim" in records[0]:
        for r in records:
            yield from alone(r, room, names[titled(r)])
        return
    for i, line in enumerate(textwrap.wrap(measure, max(int(room.width / 6), 8))[:3]):
        yield TEXT.format(room.left, 12 + 12 * i, "start", SMALL, line)
    low, high = span(records)
    scale = room._replace(low=low, high=high)
    first, last = min(names.values()) - ROW / 2, max(names.values()) + ROW / 2
    if low < 0 < high:
        yield LINE.format("axis", scale.at(0.0), first, scale.at(0.0), last)
    for r in records:
        yield from strip(r, scale, names[titled(r)])
    y = last + 12
    yield TEXT.format(room.left, y, "start", SMALL, said(low, records[0]))
    yield TEXT.format(room.left + room.width, y, "end", SMALL, said(high, records[0]))


def alone(r: Record, room: Scale, y: float) -> Iterator[Markup]:
    """A strip on a scale of its own, between its ends."""
    scale = Scale(room.left + 56, room.width - 112, *span([r]))
    yield TEXT.format(scale.left - 6, y + 4, "end", SMALL, said(scale.low, r))
    yield TEXT.format(scale.left + scale.width + 6, y + 4, "start", SMALL, said(scale.high, r))
    yield from strip(r, scale, y)


def strip(r: Record, scale: Scale, y: float) -> Iterator[Markup]:
    """Axis, dots, interval, mean and the paper's value."""
    yield LINE.format("axis", scale.left, y, scale.left + scale.width, y)
    if (value := paper(r)) is not None:
        yield LINE.format("paper", scale.at(value), y - 8, scale.at(value), y + 8)
    for x in values(r):
        yield DOT.format(scale.at(x), y)
    for mean, low, high in STATISTICS:
        if mean in r and not pd.isna(r[mean]):
            if not pd.isna(r[low]):
                least, most = max(r[low], scale.low), min(r[high], scale.high)
                yield LINE.format("interval", scale.at(least), y, scale.at(most), y)
            yield LINE.format("mean", scale.at(r[mean]), y - 5, scale.at(r[mean]), y + 5)


def values(r: Record) -> list[float]:
    """The value of each run."""
    return [float(x) for x in str(r["values"]).split()]


def paper(r: Record) -> float | None:
    """The paper's number, where there is one."""
    found = [r[name] for name in ("paper", "paper_mean") if name in r and not pd.isna(r[name])]
    return float(found[0]) if found else None


def span(records: Sequence[Record]) -> tuple[float, float]:
    """The ends of a scale that has all values on it; where not each row has its own, 0 as well, and
    1 for shares that come near."""
    every = [x for r in records for x in values(r)]
    every += [x for r in records for x in [paper(r)] if x is not None]
    if "claim" not in records[0]:
        every.append(0.0)
        if records[0].get("unit") == "share" and 0.5 < max(every) <= 1:
            every.append(1.0)
    low, high = min(every), max(every)
    return (low, high) if high - low > 1e-3 * abs(high) else (high, high)  # as the table rounds


def said(x: float, r: Record) -> str:
    """A value as the table has it."""
    return STYLES[str(r.get("unit", "index"))](x)


def titled(r: Record) -> str:
    """What a row is about.

    >>> titled({"n": 165, "d": 3, "measure": "FVE"})
    'n = 165, J₃'
    """
    found = ", ".join(text.format(r[name]) for name, text in ABOUT.items() if name in r)
    return STYLES["symbols"](found)


def short(text: str) -> str:
    """The text, or its beginning and its end."""
    return text if len(text) < 86 else f"{text[:50].strip()} … {text[-32:].strip()}"
