"""Statements on runs: a sentence, a verdict, its words."""

import pandas as pd

from strata.results import CONFIRMED, FAILS, HOLDS, UNDECIDED, UNTESTED
from strata.tables import format
from strata.tables.statements import Statements, tally
from strata.tables.table import Table

WORDS = {
    "": {UNTESTED: "too few", FAILS: "no"},
    "waves": {HOLDS: "in {held} of {runs}", UNTESTED: "none"},
}
STATEMENTS = Statements({"waves": "there are waves", "noise": "there is noise"}, WORDS)
ROWS = [
    {"id": "noise", "runs": 3, "verdict": FAILS},
    {"id": "waves", "runs": 3, "held": 2, "verdict": HOLDS},
    {"id": "noise", "runs": 3, "held": 1, "verdict": UNDECIDED},
    {"id": "waves", "runs": 0, "verdict": UNTESTED},
    {"id": "noise", "runs": 3},
]


def planned_table(generalises: list[bool | None]) -> pd.DataFrame:
    """Return the table of planned runs, of which some may be missing."""
    runs = pd.DataFrame({"generalises": pd.array(generalises, dtype="boolean")})
    names = ["id", "sentence", "runs", "held", "trained", "planned", "verdict"]
    frame = STATEMENTS.planned_frame(ROWS, runs, names, ["held"])
    return format.rounded(Table("statements", "", frame, STATEMENTS.columns("it says that")))


def test_each_row_has_its_sentence_and_its_verdict_in_the_words_of_its_id_or_of_all():
    frame = planned_table([True, False, True])
    assert frame["it says that"].tolist() == [STATEMENTS.sentences[x["id"]] for x in ROWS]
    assert frame["verdict"].tolist() == ["no", "in 2 of 3", UNDECIDED, "none", ""]


def test_while_a_run_is_missing_nothing_is_decided_and_how_many_there_are_is_said():
    assert {*planned_table([True, None, False])["verdict"]} == {"not called: 2 of 3 runs"}


def test_verdicts_on_runs_are_counted_without_those_that_have_none():
    counts = tally([HOLDS] * 3 + [UNDECIDED, FAILS, ""])
    assert counts[:3] == (3, 1, 1)
    assert [round(x, 4) for x in counts[3:5]] == [0.1466, 0.9473]
    assert tally([]).verdict == tally([HOLDS] * 3).verdict == UNDECIDED
    # 0.5^5 lies between the tails of both intervals.
    assert [tally([HOLDS] * 5, x).verdict for x in (0.95, 0.9)] == [UNDECIDED, CONFIRMED]
