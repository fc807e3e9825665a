"""The tables of the mechanism: from verdicts on runs to what is said of all."""

import pandas as pd
import pytest

from strata import results
from strata.tables.table import Table
from studies.mechanism.code import decide, models, tables
from studies.params import MechanismParams

FRESH = [f"n6-s{seed}" for seed in range(11, 24)]


def rows(run, verdict, accuracy=1.0):
    """What a run has where every statement comes out like this."""
    every = [(of, "statement", "verdict", verdict) for of in models.STATEMENTS]
    every += [("logits", "all pairs", "accuracy", accuracy)]
    return [(run, *row) for row in every]


def made(settings, runs):
    """The tables of such runs, by name."""
    found = pd.DataFrame([x for run in runs for x in rows(*run)], columns=results.SCHEMA.names)
    own = settings.model_dump(exclude={"key_threshold"})
    params = MechanismParams.model_validate({"fresh": FRESH, "measures": own})
    return {table.name: table for table in tables.tables(found, params)}


def whole(table: Table) -> dict[str, object]:
    """What is said of the first statement over all fresh runs."""
    return table.frame.iloc[0].to_dict()


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([(run, decide.HOLDS) for run in FRESH], "holds"),
        ([(run, decide.FAILS) for run in FRESH], "does not hold"),
        ([(run, decide.UNDECIDED) for run in FRESH], "undecided"),
        ([(run, decide.HOLDS, 0.5 if i < 5 else 1.0) for i, run in enumerate(FRESH)], "too few"),
    ],
)
def test_the_verdict_rests_on_all_fresh_runs_and_on_enough_that_generalise(settings, runs, verdict):
    earlier = [("n6-s1", decide.FAILS), ("mlp-n6-s1", decide.FAILS), ("memorised", decide.FAILS)]
    found = whole(made(settings, [*earlier, *runs])["mechanism-moduli"])
    assert str(found["verdict"]).startswith(verdict)
    assert found["holds"] == sum(x[1] == decide.HOLDS and x[-1] != 0.5 for x in runs)


def test_runs_before_the_criteria_decide_nothing_and_are_counted_apart(settings):
    earlier = [(f"n6-s{seed}", decide.HOLDS) for seed in range(1, 11)]
    frame = made(settings, earlier)["mechanism-moduli"].frame.set_index("group")
    assert set(frame["verdict"]) == {""}
    assert set(frame.loc["n = 6, earlier", "holds"]) == {10}
    assert set(frame.loc["all fresh runs", "holds"]) == {0}


def test_a_run_that_does_not_generalise_is_listed_and_not_counted(settings):
    found = made(settings, [("n6-s1", decide.HOLDS, 0.5)])
    assert found["mechanism-runs"].frame["run"].tolist() == ["n6-s1"]
    of = found["mechanism-moduli"].frame.set_index("group").loc["n = 6, earlier"]
    assert set(of["holds"]) == {0} and set(of["generalising"]) == {0}
