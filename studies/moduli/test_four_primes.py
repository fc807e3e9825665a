"""What is said of four primes, from runs with planted verdicts and heads."""

from collections.abc import Sequence
from typing import Any

import pytest
from handmade import Studied, long_table, studied
from scipy.stats import binom

from strata.inputs import InputError
from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED, Row
from strata.run import Run
from strata.tables.table import Table
from studies.moduli.code import decide

PLANNED = [Run(210, seed) for seed in (1, 2, 3)]
BETWEEN = {"L": "between", "E": "between"}


def runs(*planted: dict[str, Any]) -> list[Studied]:
    return [studied((210, seed, "transformer"), **x) for seed, x in enumerate(planted, 1)]


def heads(run: Studied, powers: Sequence[int], divided: bool, words: str = "") -> Studied:
    """Add what the interventions find where each head is assigned to a prime power."""
    name, scales = run.metrics.run, ("class", "zero")
    rows = [Row(name, f"put-{x}", words, f"head {h}", "count", q)
            for x in scales for h, q in enumerate(powers)]  # fmt: skip
    rows += [Row(name, "divided", words, "", "share", 6 / 81, HOLDS if divided else FAILS)]
    ids = [f"heads-{case}-{x}" for x in scales for case in ("alone", "group")]
    rows += [Row(name, id, words, x, "count", value)
             for id in ids for x, value in (("held", 3), ("cases", 4))]  # fmt: skip
    return run._replace(rows=rows)


def tables(models: Sequence[Studied], interventions: Sequence[Studied] = ()) -> tuple[Table, Table]:
    metrics = [x.metrics for x in models]
    return decide.tables(PLANNED, metrics, long_table(models), long_table(interventions))


def statements(
    models: Sequence[Studied], interventions: Sequence[Studied] = ()
) -> list[dict[Any, Any]]:
    """Return the rows of the account and, where heads are measured, of heads."""
    return tables(models, interventions)[1].frame.to_dict("records")


@pytest.mark.parametrize(
    ("planted", "held", "verdict"),
    [(({}, {}, {}), 3, HOLDS), ((BETWEEN, BETWEEN, BETWEEN), 0, FAILS),
     (({}, BETWEEN, {}), 2, UNDECIDED), (({"E": "between"},) * 3, 0, FAILS)],
)  # fmt: skip
def test_the_account_holds_if_all_runs_are_primes_in_both_and_fails_if_none_is(
    planted, held, verdict
):
    [account] = statements(runs(*planted))
    assert (account["runs"], account["held"], account["verdict"]) == (3, held, verdict)


def test_a_run_that_does_not_generalise_is_shown_and_left_out():
    failed = {"validation": 0.9, "epoch": None} | BETWEEN
    models = runs({}, failed, {})
    [account] = statements(models)
    assert (account["runs"], account["verdict"]) == (2, HOLDS)
    rows = tables(models)[0].frame.to_dict("records")
    assert [(x["run"], x["generalises"], x["L"]) for x in rows] == [
        ("n210-s1", True, "primes"), ("n210-s2", False, "between"), ("n210-s3", True, "primes")
    ]  # fmt: skip
    interventions = [heads(x, (5, 7, 7, 5), x == models[1]) for x in models]
    _, of_heads = statements(models, interventions)
    assert (of_heads["runs"], of_heads["held"]) == (2, 0)
    [none] = statements(runs(failed, failed, failed))
    assert none["verdict"] == UNTESTED and "no run generalises" in decide.STATEMENTS.in_words(none)


def test_heads_are_put_to_primes_and_the_pattern_has_its_chance():
    models = runs({}, {}, {})
    interventions = [heads(models[0], (5, 7, 7, 5), True), heads(models[1], (3, 5, 0, 2), False)]
    rows = tables(models, interventions)[0].frame
    assert rows["put"].tolist()[:2] == ["5: 0, 3; 7: 1, 2", "2: 3; 3: 0; 5: 1"]
    assert rows["put"].isna().tolist() == [False, False, True]
    assert rows.loc[0, ["alone", "alone_of"]].tolist() == [3, 4]
    _, of_heads = statements(models, interventions)
    assert (of_heads["runs"], of_heads["held"]) == (2, 1)
    assert of_heads["p_test"] == pytest.approx(binom.sf(0, 2, 6 / 81))
    with pytest.raises(InputError, match="no id 'heads-alone-class'"):
        tables(models, [interventions[0]._replace(rows=interventions[0].rows[:8])])
