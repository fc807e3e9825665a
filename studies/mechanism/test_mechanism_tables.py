"""The tables of the mechanism: from verdicts on runs to what is said of all."""

import pandas as pd
import pytest

from strata import results
from strata.results import FAILS, HOLDS, UNDECIDED, Row
from studies.mechanism.code import decide, measures, tables
from studies.params import MechanismParams

FRESH = [f"n6-s{seed}" for seed in range(11, 39)]
NUMBERS = {"neurons": 2, "parameters": 9, "margin": 10.0, "balanced": 3.0}
NUMBERS |= {"second": 4.0, "thrifty": 2.0}
HAND = pd.DataFrame([{"n": 6} | NUMBERS])


def rows(run, verdict, accuracy=1.0):
    """Return what a run has where every statement comes out like this."""
    verdict_rows = [Row(run, id, "", verdict=verdict) for id in decide.STATEMENTS]
    verdict_rows += [Row(run, id, "", value=0.5, verdict=verdict) for id in decide.CRITERIA]
    verdict_rows += [Row(run, "kind", "", verdict=measures.KINDS[0])]
    numbers = {("whole", "right"): accuracy, ("whole", "many"): 0.0, ("rival", "box"): 0.5}
    numbers |= {("votes", "right answers"): 1.0, ("by-hand", "loss"): 1.0}
    numbers |= {("replaced", "right"): accuracy - 0.001}
    numbers |= {("neurons-size", "numbers in tables"): 2.0, ("neurons-size", "weights"): 1.0}
    return verdict_rows + [Row(run, id, "", name, value=x) for (id, name), x in numbers.items()]


def tables_of(settings, runs, hand=HAND):
    """Return the tables of such runs, by name."""
    all_rows = [row for run in runs for row in rows(*run)]
    measured = pd.DataFrame(all_rows, columns=list(results.Row._fields))
    measures_params = settings.model_dump(exclude={"key_threshold"})
    values = {"fresh": FRESH, "fewest": 20, "accuracy": 0.99, "measures": measures_params}
    params = MechanismParams.model_validate(values)
    return {table.name: table for table in tables.tables(measured, hand, params)}


def runs(verdict, *others, right=1.0):
    """Return all fresh runs with one verdict, but for the first."""
    first = [(run, x, right) for run, x in zip(FRESH, others, strict=False)]
    return [*first, *((run, verdict) for run in FRESH[len(others) :])]


@pytest.mark.parametrize(
    ("fresh", "verdict"),
    [
        (runs(HOLDS), "confirmed"),
        (runs(HOLDS, *[UNDECIDED] * 8), "confirmed"),
        (runs(HOLDS, *[FAILS] * 9), "undecided"),
        (runs(FAILS, *[HOLDS] * 8), "refuted"),
        (runs(HOLDS, *[HOLDS] * 9, right=0.5), "no verdict"),
        (runs(HOLDS, *[HOLDS] * 8, right=0.5), "confirmed"),
        (runs(HOLDS, *[HOLDS] * 9, right=0.99), "confirmed"),
        ([*runs(HOLDS), ("memorised", HOLDS, 0.4)], "not confirmed"),
        ([*runs(HOLDS), ("memorised", UNDECIDED, 0.4)], "confirmed"),
    ],
)
def test_the_verdict_rests_on_fresh_runs_and_on_enough_that_generalise(settings, fresh, verdict):
    earlier = [("n6-s1", FAILS), ("mlp-n6-s1", FAILS), ("untrained", FAILS)]
    frame = tables_of(settings, [*earlier, *fresh])["mechanism-statements"].frame
    first = frame.iloc[0]  # the first statement over all fresh runs
    assert str(first["verdict"]).startswith(verdict)
    assert first["holds"] == sum(
        x[1] == HOLDS and x[2:] in ((), (1.0,), (0.99,)) for x in fresh[:28]
    )


def test_runs_before_the_criteria_decide_nothing_and_are_counted_apart(settings):
    earlier = [(f"n6-s{seed}", HOLDS) for seed in range(1, 11)]
    by_name = tables_of(settings, earlier)
    frame = by_name["mechanism-statements"].frame.set_index("group")
    assert set(frame.loc["n = 6, earlier", "verdict"]) == {""}
    assert set(frame.loc["n = 6, earlier", "holds"]) == {10}
    assert set(frame.loc["all fresh runs", "holds"]) == {0}
    holds = by_name["mechanism-said"].frame.set_index("id")["holds"]
    assert holds.to_dict() == dict.fromkeys(decide.STATEMENTS, 0) | {"by-hand": len(HAND)}
    kinds = by_name["mechanism-kinds"].frame.set_index("group")["primes apart"]
    assert kinds.to_dict() == {"all earlier runs": 10, "n = 6, earlier": 10}


def test_fresh_runs_are_counted_by_whether_their_modulus_was_trained_before(settings):
    rows = tables_of(settings, [("n10-s1", HOLDS), (FRESH[0], HOLDS)])["mechanism-statements"].frame
    holds = rows.loc[rows["id"] == "votes"].set_index("group")["holds"]
    assert holds["of new moduli"] == 1 and holds["of moduli trained before"] == 0


def test_a_run_that_does_not_generalise_is_listed_and_not_counted(settings):
    by_name = tables_of(settings, [("n6-s1", HOLDS, 0.5)])
    assert by_name["mechanism-runs"].frame["run"].tolist() == ["n6-s1"]
    group = by_name["mechanism-statements"].frame.set_index("group").loc["n = 6, earlier"]
    assert set(group["holds"]) == {0} and set(group["generalising"]) == {0}


def test_the_worst_is_that_by_the_level(settings):
    earlier = [("n6-s1", HOLDS), ("n6-s2", HOLDS, 0.995), ("n6-s3", HOLDS, 0.5)]
    frame = tables_of(settings, earlier)["mechanism-measures"].frame.set_index("id")
    assert not frame.loc["votes-share", "most"] and frame.loc["votes-permuted", "most"]
    assert frame.loc["replaced", ["earlier runs", "earlier worst"]].tolist() == [2, 0.994]


@pytest.mark.parametrize(
    ("margin", "verdict"), [(1e-3, "confirmed"), (0.0, "refuted"), (-1e-3, "refuted")]
)
def test_networks_written_by_hand_are_confirmed_if_all_answer_every_pair(settings, margin, verdict):
    hand = pd.concat([HAND, HAND.assign(n=10, margin=margin)])
    row = tables_of(settings, [("n6-s1", HOLDS)], hand)["mechanism-said"].frame.iloc[-1]
    assert row["runs"] == 2 and row["holds"] == 1 + (margin > 0) and row["verdict"] == verdict
    text = "2 of 2: confirmed" if margin > 0 else "1 of 2, 1 not: refuted"
    assert tables.count_text(row.to_dict()) == text
