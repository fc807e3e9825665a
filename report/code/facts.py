"""Numbers for the sentences of the front page, each from a table that a stage wrote."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import pandas as pd
from sympy.ntheory import factorint, isprime

Row = dict[str, Any]
COLUMN = re.compile(r"n(\d+)")


class Missing(LookupError):
    """A table or a row that this project's stages do not make: a sentence that needs it is left
    out, a claim that needs it counts as not tested."""


def written(name: str) -> pd.DataFrame:
    """A table as its stage wrote it."""
    return pd.read_csv(f"tables/{name}.csv")


class Facts:
    """What the tables say. ``names``: those that there are; ``table`` reads one."""

    def __init__(
        self, n: int, names: Collection[str], table: Callable[[str], pd.DataFrame] = written
    ):
        self.n, self.names, self._table = n, set(names), cache(table)

    def rows(self, table: str, **wanted: Any) -> list[Row]:
        """The rows of a table in which these columns have these values; at least one."""
        if table not in self.names:
            raise Missing(table)
        records = self._table(table).to_dict("records")
        found = [{str(k): None if pd.isna(v) else v for k, v in x.items()} for x in records]
        found = [row for row in found if all(row.get(k) == v for k, v in wanted.items())]
        if not found:
            raise Missing(f"{table}: {wanted}")
        return found

    def claim(self, pattern: str) -> Row:
        """The row of a number in the paper's text, with its spread over seeds."""
        for row in self.rows("verdict"):
            if re.search(pattern, row["claim"]) and row["mean"] is not None:
                return row
        raise Missing(pattern)

    def passing(self, section: str, test: str) -> tuple[int, int]:
        """How many transformers pass a criterion, of how many to which it applies, over the moduli
        that are products of different primes."""
        [row] = self.rows("evidence-moduli", section=section, test=test)
        cells = [row[x] for x in row if (m := COLUMN.fullmatch(x)) and composite(int(m[1]))]
        counts = [tuple(map(int, x.split(" of "))) for x in cells if isinstance(x, str)]
        if not counts:
            raise Missing(f"evidence-moduli: {section}, {test}")
        return sum(x for x, _ in counts), sum(x for _, x in counts)

    def accounts(self) -> list[Row]:
        """The transformers that generalise, of moduli that are products of different primes."""
        found = self.rows("accounts-runs", architecture="transformer", generalised=True)
        found = [x for x in found if composite(x["n"])]
        if not found:
            raise Missing("accounts-runs")
        return found


def composite(n: int) -> bool:
    """Whether n is a product of at least two different primes, each once.

    >>> [n for n in (113, 121, 143, 165, 180) if composite(n)]
    [143, 165]
    """
    return not isprime(n) and max(factorint(n).values()) == 1


def spread(values: Sequence[float]) -> str:
    """The least and the largest of some shares.

    >>> spread([0.507, 0.789]), spread([0.5])
    ('51 to 79 %', '50 %')
    """
    low, high = (f"{100 * x:.0f}" for x in (min(values), max(values)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def of(counts: tuple[int, int]) -> str:
    """As in ``0 of 30``."""
    return f"{counts[0]} of {counts[1]}"


def held(row: Row) -> bool:
    """Whether the paper's number lies within the seeds, or its bound holds in most of them. Raises
    Missing where the paper prints no number."""
    if row["verdict"] is None:
        raise Missing(str(row))
    if m := re.match(r"holds in (\d+) of (\d+)", row["verdict"]):
        return 2 * int(m[1]) > int(m[2])
    return row["verdict"].startswith("within")


def said(sentences: Sequence[Callable[[Facts], str]], facts: Facts) -> list[str]:
    """The sentences whose numbers there are."""
    found = []
    for sentence in sentences:
        try:
            found.append(sentence(facts))
        except Missing:
            continue
    return found
