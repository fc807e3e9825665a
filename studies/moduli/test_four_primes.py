"""What is said of four primes, from runs with planted verdicts and heads."""

from collections.abc import Sequence
from typing import Any

import pytest
from planted_runs import CHOICE, studied
from scipy.stats import binom

from strata.patch.scores import Measures, OperandScores, class_known
from strata.tables import format
from studies.interventions.code.records import HeadChange
from studies.moduli.code import four_primes
from studies.seeds.code.beside_seeds import Studied

PRIMES = (2, 3, 5, 7)
FEW = "too few runs for the rule of a modulus"
BETWEEN = {"L": "between", "E": "between"}


def runs(*planted: dict[str, Any]) -> list[Studied]:
    return [studied((210, seed, "transformer"), **x) for seed, x in enumerate(planted, 1)]


def with_heads(run: Studied, of: Sequence[int]) -> Studied:
    """Without some heads, all skill modulo their primes is lost, and no other."""

    def ablated(*heads: int) -> HeadChange:
        lost = {of[h] for h in heads}
        right = {q: class_known(q) if q in lost else 1.0 for q in PRIMES}
        found = Measures(
            loss=1.0, accuracy=0.5, margin=0.0, skill=0.5, class_accuracy=1.0, modulo=right,
            by_target={}, by_operands=OperandScores(loss=(), accuracy=()),
        )  # fmt: skip
        return HeadChange(change="ablate", heads=heads, all=found)

    groups = [tuple(h for h in range(4) if of[h] == q) for q in set(of)]
    every = {(0,), (1,), (2,), (3,), *groups, (0, 1, 2, 3)}
    changes = tuple(ablated(*heads) for heads in sorted(every))
    changed = run.interventions.model_copy(update={"routing": changes})
    return run._replace(interventions=changed)


def said(own: list[Studied]) -> list[dict[Any, Any]]:
    """Of the account and of heads."""
    return four_primes.tables(own, CHOICE)[1].frame.astype(object).fillna("").to_dict("records")


@pytest.mark.parametrize(
    ("planted", "counted", "words"),
    [(({}, {}, {}), "3 primes", "holds for 210"),
     ((BETWEEN, BETWEEN, BETWEEN), "3 between", "fails for 210"),
     (({}, BETWEEN, {}), "2 primes, 1 between", "the verdicts are listed"),
     (({"E": "between"},) * 3, "3 primes in the logits, between in the embedding",
      "fails for 210")],
)  # fmt: skip
def test_the_account_holds_if_all_runs_are_primes_in_both_and_fails_if_none_is(
    planted, counted, words
):
    account, _ = said(runs(*planted))
    assert (account["runs"], account["counted"]) == (3, counted)
    assert account["said"] == f"{words}; {FEW}"


def test_a_run_that_does_not_generalise_is_shown_and_left_out():
    failed = {"validation": 0.9, "epoch": None} | BETWEEN
    own = runs({}, failed, {})
    account, _ = said(own)
    assert (account["runs"], account["said"]) == (2, f"holds for 210; {FEW}")
    rows = four_primes.tables(own, CHOICE)[0].frame.to_dict("records")
    assert [(x["run"], x["generalises"], x["L"]) for x in rows] == [
        ("n210-s1", True, "primes"), ("n210-s2", False, "between"), ("n210-s3", True, "primes")
    ]  # fmt: skip
    account, heads = said(runs(failed, failed, failed))
    assert account["said"] == "not called: no run generalises" and heads["runs"] == 0


def test_heads_are_put_to_primes_and_the_pattern_has_its_chance():
    own = runs({}, {}, {})
    own = [with_heads(own[0], (5, 7, 7, 5)), with_heads(own[1], (3, 5, 7, 2)), own[2]]
    rows = four_primes.tables(own, CHOICE)[0].frame.astype(object).fillna("").to_dict("records")
    assert [x["put"] for x in rows] == ["5: 0, 3; 7: 1, 2", "3: 0; 5: 1; 7: 2", ""]
    assert rows[0]["alone"] == "4 of 4" and rows[0]["group"] == "2 of 2"
    assert rows[1]["put_zero"].startswith("3: 0; 5: 1; 7: 2")
    own[2] = with_heads(own[2], (3, 3, 5, 7))
    _, heads = said(own)
    assert heads["counted"] == "1 of 3 two and two at 5 and 7, by chance 7.4 % of runs"
    assert heads["p_test"] == pytest.approx(binom.sf(0, 3, 6 / 81)) and heads["said"] == ""


def test_while_a_run_is_missing_nothing_is_said_and_its_row_says_so(tmp_path):
    own = runs({}, {}, {})[:2]
    other = studied((210, 4, "transformer")), studied((210, 3, "mlp"))
    rows = said([*own, *other])
    assert {x["said"] for x in rows} == {"not called: 2 of 3 runs"} and rows == said(own)
    assert {x["counted"] for x in rows} == {x["p_test"] for x in rows} == {""}
    format.write([*four_primes.tables(own, CHOICE)], tmp_path)
    lines = (tmp_path / "four-primes.md").read_text().splitlines()
    assert lines[-1].startswith("| n210-s3") and "not trained" in lines[-1]
    format.write([*four_primes.tables([], CHOICE)], tmp_path)
    assert not any("nan" in x.read_text().lower() for x in tmp_path.iterdir())
