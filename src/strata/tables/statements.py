"""Hold the statements of a study: the sentence of each, the verdict, and words for a reader."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED, over_runs
from strata.statistics import share_interval
from strata.tables.table import Cells, Column, Record


class Tally(NamedTuple):
    """A ``Tally`` counts the runs for which a statement holds, fails and is undecided. ``low`` and
    ``high`` are the interval of Clopper and Pearson for the share of runs for which it holds, and
    ``verdict`` is on the runs together."""

    holds: int
    fails: int
    undecided: int
    low: float
    high: float
    verdict: str


def tally(verdicts: Iterable[str], confidence: float = 0.95) -> Tally:
    """Count the verdicts on runs; a run without a verdict is left out.

    >>> tally(["holds"] * 20 + ["undecided"] * 8).verdict, tally(["holds"] * 8 + [FAILS] * 20)[-1]
    ('confirmed', 'refuted')
    """
    names = list(verdicts)
    holds, fails, undecided = (names.count(x) for x in (HOLDS, FAILS, UNDECIDED))
    share = holds, holds + fails + undecided
    low, high = share_interval(*share, confidence)
    return Tally(holds, fails, undecided, low, high, over_runs(*share, confidence))


@dataclass(frozen=True)
class Statements:
    """``Statements`` hold the sentences of statements by id, and the words for verdicts: those of
    an id, or else those under "" for all. Words may name numbers of the row, as in "{held} of
    {runs}". A verdict without words stands for itself."""

    sentences: Mapping[str, str]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def frame(
        self, rows: Iterable[Cells], names: Sequence[str], integers: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return the rows with the sentences of their ids, in the columns ``names``. Those of
        ``integers`` hold whole numbers that may be missing."""
        worded = [row | {"sentence": self.sentences[row["id"]]} for row in rows]
        return pd.DataFrame(worded, columns=[*names]).astype(dict.fromkeys(integers, "Int64"))

    def planned_frame(
        self,
        rows: Iterable[Cells],
        runs: pd.DataFrame,
        names: Sequence[str],
        integers: Sequence[str],
    ) -> pd.DataFrame:
        """Return the frame of rows about planned runs, with how many of the runs are trained. While
        one is not, no statement is decided. A trained run has a value in the column
        ``generalises``."""
        trained, planned = len(runs.dropna(subset=["generalises"])), len(runs)
        if trained < planned:
            rows = [{"id": x["id"], "runs": x["runs"], "verdict": UNTESTED} for x in rows]
        counts = {"trained": trained, "planned": planned}
        return self.frame([counts | row for row in rows], names, integers)

    def in_words(self, row: Record) -> str:
        """Return the words for the verdict of a row; where runs are missing, say how many exist."""
        if row["verdict"] == UNTESTED and row.get("trained", 0) < row.get("planned", 0):
            return f"not called: {row['trained']} of {row['planned']} runs"
        words = {**self.words.get("", {}), **self.words.get(row.get("id", ""), {})}
        return words.get(row["verdict"], row["verdict"]).format_map(row)

    def columns(self, heading: str) -> dict[str, Column]:
        """Return the columns of a table of statements: the sentence, under this heading, and the
        verdict."""
        verdict = Column("verdict", self.in_words, "l", missing="")
        return {"sentence": Column(heading, align="l"), "verdict": verdict}
