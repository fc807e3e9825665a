"""The paper's number beside ours, and in a word whether they agree: from the tables alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from strata.tables.claims import BOUNDS
from strata.tables.columns import COLUMNS
from strata.tables.format import shown

SAME, HOLDS, DIFFERS = "as printed", "within the bound", "differs"


@dataclass(frozen=True)
class Claim:
    """One row of the table of claims as it is read; no verdict where the paper prints no number."""

    cells: dict[str, str]
    verdict: str

    @property
    def text(self) -> str:
        """What the row is about."""
        return self.cells[COLUMNS["claim"].heading]

    @property
    def agrees(self) -> bool:
        """Whether ours is the paper's, or within its bound."""
        return self.verdict in (SAME, HOLDS)


def claims(frame: pd.DataFrame) -> list[Claim]:
    """Every row; the verdict takes the place of the difference, and `where` goes."""
    hidden = {COLUMNS[name].heading for name in ("where", "difference")}
    rows = zip(frame.to_dict("records"), shown(frame).to_dict("records"), strict=True)
    return [
        Claim(
            {str(k): text for k, text in cells.items() if k not in hidden},
            verdict(record, cells[COLUMNS["difference"].heading]),
        )
        for record, cells in rows
    ]


def verdict(record: dict[Any, Any], gap: str) -> str:
    """The word for one row: as printed, differs by so much, or whether the paper's bound holds.

    A difference that rounds to nothing in the digits shown is none.

    >>> verdict({"paper": 4.0, "ours": 5.0, "relation": "=", "unit": "count"}, "+1")
    'differs by +1'
    """
    if pd.isna(record["paper"]) or pd.isna(record["ours"]):
        return ""
    if record["relation"] in BOUNDS:
        within = BOUNDS[record["relation"]](record["ours"], record["paper"])
        return HOLDS if within else f"{DIFFERS}: out of the bound"
    points = " points" if record["unit"] == "share" else ""
    return f"{DIFFERS} by {gap}{points}" if re.search("[1-9]", gap) else SAME


def differences(frame: pd.DataFrame) -> list[str]:
    """What each column of differences amounts to: how many are 0, or the smallest and largest.

    >>> differences(pd.DataFrame({"key_difference": [0, 0, None]}))
    ['key − paper’s: 0 in 2 of 2 classes']
    """
    found = []
    for name in (str(x) for x in frame if str(x).endswith("_difference") and x in COLUMNS):
        column, known = COLUMNS[name], frame[name].dropna().to_numpy(float)
        if not len(known):
            continue
        if column.style.startswith("count"):
            same = int((known == 0).sum())
            found.append(f"{column.heading}: 0 in {same} of {len(known)} classes")
        else:
            low, high = (f"{100 * x:+.1f}".replace("-", "−") for x in (known.min(), known.max()))
            found.append(f"{column.heading}: from {low} to {high} points")
    return found


def matching(rows: Iterable[Claim], pattern: str) -> list[Claim]:
    """The rows whose claim the pattern finds; none for an empty pattern."""
    return [row for row in rows if pattern and re.search(pattern, row.text)]
