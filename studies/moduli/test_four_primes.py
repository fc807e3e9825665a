"""What is said of four primes, from runs with planted verdicts and heads."""

from collections.abc import Sequence
from typing import Any

import pytest
from planted_runs import Studied, found, studied
from scipy.stats import binom

from strata.inputs import InputError
from strata.results import FAILS, HOLDS, UNDECIDED, UNTESTED, Row
from strata.run import Run
from strata.tables import format
from strata.tables.table import Table
from studies.moduli.code import four_primes

ASKED = [Run(210, seed) for seed in (1, 2, 3)]
BETWEEN = {"L": "between", "E": "between"}


def runs(*planted: dict[str, Any]) -> list[Studied]:
    return [studied((210, seed, "transformer"), **x) for seed, x in enumerate(planted, 1)]


def heads(run: Studied, of: Sequence[int], divided: bool, words: str = "") -> Studied:
    """What the interventions find where each head is put to a prime."""
    name, scales = run.metrics.run, ("class", "zero")
    rows = [Row(name, f"put-{x}", words, f"head {h}", "count", q)
            for x in scales for h, q in enumerate(of)]  # fmt: skip
    rows += [Row(name, "divided", words, "", "share", 6 / 81, HOLDS if divided else FAILS)]
    ids = [f"heads-{case}-{x}" for x in scales for case in ("alone", "group")]
    rows += [Row(name, id, words, x, "count", value)
             for id in ids for x, value in (("held", 3), ("cases", 4))]  # fmt: skip
    return run._replace(rows=rows)


def tables(own: Sequence[Studied], changed: Sequence[Studied] = ()) -> tuple[Table, Table]:
    metrics = [x.metrics for x in own]
    return four_primes.tables(ASKED, metrics, found(own), found(changed))


def said(own: Sequence[Studied], changed: Sequence[Studied] = ()) -> list[dict[Any, Any]]:
    """Of the account and, where they are measured, of heads."""
    return tables(own, changed)[1].frame.to_dict("records")


@pytest.mark.parametrize(
    ("planted", "held", "verdict"),
    [(({}, {}, {}), 3, HOLDS), ((BETWEEN, BETWEEN, BETWEEN), 0, FAILS),
     (({}, BETWEEN, {}), 2, UNDECIDED), (({"E": "between"},) * 3, 0, FAILS)],
)  # fmt: skip
def test_the_account_holds_if_all_runs_are_primes_in_both_and_fails_if_none_is(
    planted, held, verdict
):
    [account] = said(runs(*planted))
    assert (account["runs"], account["held"], account["verdict"]) == (3, held, verdict)


def test_a_run_that_does_not_generalise_is_shown_and_left_out():
    failed = {"validation": 0.9, "epoch": None} | BETWEEN
    own = runs({}, failed, {})
    [account] = said(own)
    assert (account["runs"], account["verdict"]) == (2, HOLDS)
    rows = tables(own)[0].frame.to_dict("records")
    assert [(x["run"], x["generalises"], x["L"]) for x in rows] == [
        ("n210-s1", True, "primes"), ("n210-s2", False, "between"), ("n210-s3", True, "primes")
    ]  # fmt: skip
    [none] = said(runs(failed, failed, failed))
    assert none["verdict"] == UNTESTED and "no run generalises" in four_primes.said(none)


def test_heads_are_put_to_primes_and_the_pattern_has_its_chance():
    own = runs({}, {}, {})
    changed = [heads(own[0], (5, 7, 7, 5), True), heads(own[1], (3, 5, 0, 2), False)]
    rows = tables(own, changed)[0].frame
    assert rows["put"].tolist()[:2] == ["5: 0, 3; 7: 1, 2", "2: 3; 3: 0; 5: 1"]
    assert rows["put"].isna().tolist() == [False, False, True]
    assert rows.loc[0, ["alone", "alone_of"]].tolist() == [3, 4]
    _, of_heads = said(own, changed)
    assert (of_heads["runs"], of_heads["held"]) == (2, 1)
    assert of_heads["p_test"] == pytest.approx(binom.sf(0, 2, 6 / 81))
    reworded = [x._replace(rows=[y._replace(sentence="other") for y in x.rows]) for x in changed]
    assert rows.equals(tables(own, reworded)[0].frame)
    with pytest.raises(InputError, match="no id 'heads-alone-class'"):
        tables(own, [changed[0]._replace(rows=changed[0].rows[:8])])


def test_while_a_run_is_missing_nothing_is_said_and_its_row_says_so(tmp_path):
    own = runs({}, {}, {})[:2]
    other = studied((210, 4, "transformer")), studied((210, 3, "mlp"))
    [row], [alone] = said([*own, *other]), said(own)
    assert row["verdict"] == alone["verdict"] == UNTESTED and row["trained"] == 2
    format.write(tables(own), tmp_path)
    lines = (tmp_path / "four-primes.md").read_text().splitlines()
    assert lines[-1].startswith("| n210-s3") and "not trained" in lines[-1]
    format.write(tables([]), tmp_path)
    assert not any("nan" in x.read_text().lower() for x in tmp_path.glob("*.md"))
