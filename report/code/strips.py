"""A table over runs as a chart: a strip for each row, those of one measure on one scale.

On a strip a dot is a run, the bar is the interval of the mean, which is its tick, and the long line
is the paper's value. A table over runs has the values of its runs in a column of its CSV file.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from strata.tables.format import STYLES

Record = Mapping[Any, Any]
LEFT, WIDTH, END = 330, 760, 64  # pixels: where strips begin, all, for the ends of a scale
ROW, HEADING = 17, 26  # pixels: heights of a strip, of the name of a measure
ABOUT = {"claim": "{}", "n": "n = {}", "kind": "{}", "architecture": "{}", "d": "J{}",
         "scope": "{}", "head": "head {}"}  # fmt: skip
STATISTICS = (("mean", "low", "high"), ("mean_index", "from", "to"))
STRIPS = Markup('<svg class="strips" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">{3}</svg>')
TEXT = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>')
LINE = Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
DOT = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.6"/>')
SAID = (
    "A dot for each run, a bar for the interval of the mean, a tick for the mean; a long line for"
)


def chart(frame: pd.DataFrame) -> Markup:
    """The chart of a table; nothing where it has no values of single runs."""
    if "values" not in frame:
        return Markup()
    groups: dict[str, list[Record]] = {}
    for record in frame.to_dict("records"):
        if not pd.isna(record["values"]):
            groups.setdefault(record.get("measure") or record.get("claim", ""), []).append(record)
    parts, y = list[Markup](), 0
    for name, records in groups.items():
        if "measure" in records[0]:
            parts.append(TEXT.format(LEFT, y + HEADING - 8, "start", "small", name))
            y += HEADING
        parts += strips(records, y)
        y += ROW * len(records)
    said = f"{SAID} the paper’s value. The table has the numbers."
    return STRIPS.format(WIDTH, y + 4, said, Markup("").join(parts)) if groups else Markup()


def strips(records: Sequence[Record], top: float) -> Iterator[Markup]:
    """The strips of one measure below one another, between the ends of their scale."""
    low, high = span(records)

    def at(x: float) -> float:
        return LEFT + END + (WIDTH - LEFT - 2 * END) * (x - low) / ((high - low) or 1)

    for i, r in enumerate(records):
        y = top + ROW * (i + 0.5)
        style = STYLES[str(r.get("unit", "index"))]
        yield TEXT.format(LEFT - 10, y + 4, "end", "", titled(r))
        yield TEXT.format(LEFT + END - 6, y + 4, "end", "small", style(low))
        yield TEXT.format(WIDTH - END + 6, y + 4, "start", "small", style(high))
        yield LINE.format("axis", at(low), y, at(high), y)
        for value in paper(r):
            yield LINE.format("paper", at(value), y - 8, at(value), y + 8)
        for x in values(r):
            yield DOT.format(at(x), y)
        for mean, least, most in STATISTICS:
            if mean in r and not pd.isna(r[mean]):
                if not pd.isna(r[least]):
                    ends = at(max(r[least], low)), at(min(r[most], high))
                    yield LINE.format("interval", ends[0], y, ends[1], y)
                yield LINE.format("mean", at(r[mean]), y - 5, at(r[mean]), y + 5)


def values(r: Record) -> list[float]:
    """The value of each run."""
    return [float(x) for x in str(r["values"]).split()]


def paper(r: Record) -> list[float]:
    """The paper's number, where there is one."""
    return [float(r[x]) for x in ("paper", "paper_mean") if x in r and not pd.isna(r[x])]


def span(records: Sequence[Record]) -> tuple[float, float]:
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
