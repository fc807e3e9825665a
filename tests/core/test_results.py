"""What studies hand to others is read by id."""

import pytest

from strata import results
from strata.inputs import InputError
from strata.results import CONFIRMED, FAILS, HOLDS, REFUTED, UNDECIDED, Row

ROWS = [
    Row("a", "code", "it is a code", "", "share", 0.9, HOLDS),
    Row("a", "code", "it is a code", "cases", "count", 3),
    Row("b", "code", "it is a code", "", "share", None),
    Row("c", "code", "it is a code", "", "share", 0.1, FAILS),
    Row("d", "code", "it is a code", "", "share", 0.6, UNDECIDED),
    Row("a", "ratio", "their ratio", "", "index", 2.0),
]


@pytest.fixture
def rows(tmp_path):
    results.write_rows(tmp_path / "rows", ROWS)
    return results.read_rows(tmp_path / "rows", tmp_path / "of a study that is not here")


def test_rows_are_read_by_id(rows):
    assert results.verdicts(rows, "code") == {"a": HOLDS, "c": FAILS, "d": UNDECIDED}
    assert results.truths(rows, "code") == {"a": True, "c": False, "d": False}
    assert results.numbers(rows, "code") == {"a": 0.9, "c": 0.1, "d": 0.6}
    assert results.numbers(rows, "code", "cases") == {"a": 3}


def test_an_id_that_a_table_lacks_is_named_and_a_table_that_is_not_there_has_nothing(rows):
    for read in (results.verdicts, results.truths, results.numbers):
        with pytest.raises(InputError, match="results: no id 'cod': there are code, ratio"):
            read(rows, "cod")
        assert read(results.read_rows(), "code") == {}


def test_over_runs_the_opposite_of_what_is_confirmed_is_refuted():
    opposite = {CONFIRMED: REFUTED, REFUTED: CONFIRMED, UNDECIDED: UNDECIDED}
    for runs in range(14):
        verdicts = [results.over_runs(count, runs) for count in range(runs + 1)]
        assert verdicts == [opposite[x] for x in reversed(verdicts)]
        # The tail of so many of a fair coin: a fortieth for 6 of 6, not for 5 of 5.
        assert (verdicts[-1] == CONFIRMED) == (0.5**runs < 0.025)
