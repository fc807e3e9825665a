"""What is said of four primes, from runs with planted verdicts and heads."""

from collections.abc import Sequence
from typing import Any

import pytest
from planted_runs import Studied, found, studied
from scipy.stats import binom

from strata.results import Row
from strata.run import Run
from strata.tables import format
from strata.tables.table import Table
from studies.moduli.code import four_primes

ASKED = [Run(210, seed) for seed in (1, 2, 3)]
BETWEEN = {"L": "between", "E": "between"}


def runs(*planted: dict[str, Any]) -> list[Studied]:
    return [studied((210, seed, "transformer"), **x) for seed, x in enumerate(planted, 1)]


def with_heads(run: Studied, of: Sequence[int], divided: bool) -> Studied:
    """Each head is put to a prime."""
    name, scale = run.metrics.run, "right class"
    rows = [Row(name, f"head {h}", f"put to, 0 = {scale}", "count", q) for h, q in enumerate(of)]
    rows += [Row(name, "", "divided", "truth", divided)]
    rows += [Row(name, "", "divided by chance", "share", 6 / 81)]
    test = f"heads and primes, 0 = {scale}: alone: each head for one prime"
    rows += [Row(name, test, "held", "count", 3), Row(name, test, "cases", "count", 4)]
    return run._replace(rows=run.rows + rows)


def tables(own: Sequence[Studied]) -> tuple[Table, Table]:
    return four_primes.tables(ASKED, [x.metrics for x in own], found(own))


def said(own: Sequence[Studied]) -> list[dict[Any, Any]]:
    """Of the account and, where they are measured, of heads."""
    return tables(own)[1].frame.to_dict("records")


@pytest.mark.parametrize(
    ("planted", "held", "verdict"),
    [(({}, {}, {}), 3, "holds"), ((BETWEEN, BETWEEN, BETWEEN), 0, "fails"),
     (({}, BETWEEN, {}), 2, "listed"), (({"E": "between"},) * 3, 0, "fails")],
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
    assert (account["runs"], account["verdict"]) == (2, "holds")
    rows = tables(own)[0].frame.to_dict("records")
    assert [(x["run"], x["generalises"], x["L"]) for x in rows] == [
        ("n210-s1", True, "primes"), ("n210-s2", False, "between"), ("n210-s3", True, "primes")
    ]  # fmt: skip
    assert [x["verdict"] for x in said(runs(failed, failed, failed))] == ["none generalises"]


def test_heads_are_put_to_primes_and_the_pattern_has_its_chance():
    own = runs({}, {}, {})
    own = [with_heads(own[0], (5, 7, 7, 5), True), with_heads(own[1], (3, 5, 0, 2), False), own[2]]
    rows = tables(own)[0].frame
    assert rows["put"].tolist()[:2] == ["5: 0, 3; 7: 1, 2", "2: 3; 3: 0; 5: 1"]
    assert rows["put"].isna().tolist() == [False, False, True]
    assert rows.loc[0, ["alone", "alone_of"]].tolist() == [3, 4]
    _, heads = said(own)
    assert (heads["runs"], heads["held"]) == (2, 1)
    assert heads["p_test"] == pytest.approx(binom.sf(0, 2, 6 / 81))


def test_while_a_run_is_missing_nothing_is_said_and_its_row_says_so(tmp_path):
    own = runs({}, {}, {})[:2]
    other = studied((210, 4, "transformer")), studied((210, 3, "mlp"))
    [row], [alone] = said([*own, *other]), said(own)
    assert row["verdict"] == alone["verdict"] == "not called" and row["trained"] == 2
    format.write(tables(own), tmp_path)
    lines = (tmp_path / "four-primes.md").read_text().splitlines()
    assert lines[-1].startswith("| n210-s3") and "not trained" in lines[-1]
    format.write(tables([]), tmp_path)
    assert not any("nan" in x.read_text().lower() for x in tmp_path.glob("*.md"))
