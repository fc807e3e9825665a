"""The tables of the mechanism: from verdicts on runs to what is said of all."""

from math import nan

import pandas as pd
import pytest

from strata import results
from strata.results import FAILS, HOLDS, UNDECIDED, Row
from studies.mechanism.code import decide, measures, tables
from studies.params import MechanismParams

FRESH = [f"n6-s{seed}" for seed in range(11, 39)]
HAND = pd.DataFrame({"n": [6], "neurons": [2], "parameters": [9], "margin": [10.0]})


def rows(run, verdict, accuracy=1.0):
    """What a run has where every statement comes out like this."""
    every = [Row(run, id, "", verdict=verdict) for id in decide.STATEMENTS]
    every += [Row(run, id, "", value=0.5, verdict=verdict) for id in decide.CRITERIA]
    every += [Row(run, "kind", "", verdict=measures.KINDS[0])]
    numbers = {("whole", "right"): accuracy, ("whole", "many"): 0.0, ("rival", "box"): 0.5}
    numbers |= {("votes", "right answers"): 1.0, ("by-hand", "loss"): 1.0}
    numbers |= {("replaced", "right"): accuracy - 0.001}
    return every + [Row(run, id, "", name, value=x) for (id, name), x in numbers.items()]


def made(settings, runs):
    """The tables of such runs, by name."""
    every = [row for run in runs for row in rows(*run)]
    found = pd.DataFrame(every, columns=list(results.Row._fields))
    own = settings.model_dump(exclude={"key_threshold"})
    said = {"fresh": FRESH, "fewest": 20, "accuracy": 0.99, "measures": own}
    params = MechanismParams.model_validate(said)
    return {table.name: table for table in tables.tables(found, HAND, params)}


def runs(verdict, *others, right=1.0):
    """All fresh runs with one verdict, but for the first."""
    first = [(run, x, right) for run, x in zip(FRESH, others, strict=False)]
    return [*first, *((run, verdict) for run in FRESH[len(others) :])]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (runs(HOLDS), "confirmed"),
        (runs(HOLDS, *[UNDECIDED] * 8), "confirmed"),
        (runs(HOLDS, *[FAILS] * 9), "undecided"),
        (runs(FAILS, *[HOLDS] * 8), "refuted"),
        (runs(HOLDS, *[HOLDS] * 9, right=0.5), "no verdict"),
        ([*runs(HOLDS), ("memorised", HOLDS, 0.4)], "not confirmed"),
    ],
)
def test_the_verdict_rests_on_fresh_runs_and_on_enough_that_generalise(settings, found, verdict):
    earlier = [("n6-s1", FAILS), ("mlp-n6-s1", FAILS), ("untrained", FAILS)]
    every = made(settings, [*earlier, *found])["mechanism-statements"].frame
    said = every.iloc[0]  # the first statement over all fresh runs
    assert str(said["verdict"]).startswith(verdict)
    assert said["holds"] == sum(x[1] == HOLDS and x[2:] in ((), (1.0,)) for x in found[:28])


def test_runs_before_the_criteria_decide_nothing_and_are_counted_apart(settings):
    earlier = [(f"n6-s{seed}", HOLDS) for seed in range(1, 11)]
    found = made(settings, earlier)
    frame = found["mechanism-statements"].frame.set_index("group")
    assert set(frame.loc["n = 6, earlier", "verdict"]) == {""}
    assert set(frame.loc["n = 6, earlier", "holds"]) == {10}
    assert set(frame.loc["all fresh runs", "holds"]) == {0}
    said = found["mechanism-said"].frame.set_index("id")["holds"]
    assert said.to_dict() == dict.fromkeys(decide.STATEMENTS, 0) | {"by-hand": len(HAND)}
    kinds = found["mechanism-kinds"].frame.set_index("group")["primes apart"]
    assert kinds.to_dict() == {"all earlier runs": 10, "n = 6, earlier": 10}


def test_fresh_runs_are_counted_by_whether_their_modulus_was_trained_before(settings):
    found = made(settings, [("n10-s1", HOLDS), (FRESH[0], HOLDS)])["mechanism-statements"].frame
    held = found.loc[found["id"] == "votes"].set_index("group")["holds"]
    assert held["of new moduli"] == 1 and held["of moduli trained before"] == 0


def test_a_run_that_does_not_generalise_is_listed_and_not_counted(settings):
    found = made(settings, [("n6-s1", HOLDS, 0.5)])
    assert found["mechanism-runs"].frame["run"].tolist() == ["n6-s1"]
    of = found["mechanism-statements"].frame.set_index("group").loc["n = 6, earlier"]
    assert set(of["holds"]) == {0} and set(of["generalising"]) == {0}


def test_the_worst_is_that_by_the_level(settings):
    some = [("n6-s1", HOLDS), ("n6-s2", HOLDS, 0.995), ("n6-s3", HOLDS, 0.5)]
    frame = made(settings, some)["mechanism-measures"].frame.set_index("id")
    assert not frame.loc["votes-share", "most"] and frame.loc["votes-permuted", "most"]
    assert frame.loc["replaced", ["earlier runs", "earlier worst"]].tolist() == [2, 0.994]


@pytest.mark.parametrize(("margin", "verdict"), [(1e-3, "confirmed"), (-1e-3, "refuted")])
def test_networks_written_by_hand_are_confirmed_if_all_answer_every_pair(margin, verdict):
    hand = pd.concat([HAND, HAND.assign(n=10, margin=margin)])
    [said] = tables.written(hand).to_dict("records")
    assert said["runs"] == 2 and said["holds"] == 1 + (margin > 0) and said["verdict"] == verdict
    known = "2 of 2: confirmed" if margin > 0 else "1 of 2, 1 not: refuted"
    assert tables.counted(said | {"low": nan, "high": nan}) == known
