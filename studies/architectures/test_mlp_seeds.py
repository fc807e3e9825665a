"""MLP-only models over seeds: each statement from runs in which the answer is planted."""

from collections.abc import Callable, Sequence
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from handmade import Key, Studied, long_table, studied
from scipy import stats

from strata.results import CONFIRMED, FAILS, HOLDS, REFUTED, UNDECIDED
from strata.statistics import holm
from strata.tables import format
from strata.tables.table import Table
from studies.architectures.code import decide
from studies.architectures.code import tables as architectures

MODULI = [35, 15, 7]
KINDS = ("mlp", "transformer")
FIVE = range(1, 6)


Planted = Callable[[Key], dict[str, Any]]


def runs(moduli: Sequence[int], planted: Planted, seeds: Sequence[int] = FIVE) -> list[Studied]:
    keys = product(moduli, seeds, KINDS)
    return [studied(key, **planted(key)) for key in keys]


def make_tables(
    models: Sequence[Studied],
    rows: pd.DataFrame | None = None,
    account_verdicts: pd.DataFrame | None = None,
) -> tuple[Table, ...]:
    rows, metrics = long_table(models) if rows is None else rows, [x.metrics for x in models]
    return architectures.tables(metrics, rows, rows, account_verdicts, (MODULI, FIVE), 0.01, 0.95)


def tables(models: Sequence[Studied]) -> list[list[dict[Any, Any]]]:
    """Return the rows of each table, with None for what is missing."""
    frames = (x.frame.astype(object) for x in make_tables(models))
    return [frame.where(frame.notna(), None).to_dict("records") for frame in frames]


def statement(models: Sequence[Studied], id: str, n: int | None = None) -> dict[Any, Any]:
    [row] = [x for x in tables(models)[0] if (x["id"], x["n"]) == (id, n)]
    return row


def planted_epochs(key: Key, exceptions: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return epochs by which the MLP-only model is earlier, except for these n and seeds."""
    n, seed, kind = key
    early = (kind == "mlp") != ((n, seed) in exceptions)
    return {"epoch": 800 if early else 1000, "first": 900 if early else 700}


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ([], HOLDS),
        ([(n, seed) for n in (35, 15) for seed in FIVE], FAILS),
        ([(35, 1), (15, 1), (15, 2)], UNDECIDED),
    ],
)
def test_faster_is_said_by_the_sign_test_over_all_pairs(other, verdict):
    row = statement(runs((35, 15), lambda key: planted_epochs(key, other)), "epoch")
    uneven = [abs(sum(x) - 5) >= abs(len(other) - 5) for x in product((0, 1), repeat=10)]
    assert row["p_test"] == pytest.approx(np.mean(uneven))
    assert row["verdict"] == verdict
    assert (row["moduli"], row["held"], row["later"]) == ("35, 15", 10 - len(other), len(other))
    first = statement(runs((35, 15), lambda key: planted_epochs(key, other)), "first")
    assert first["p_test"] == row["p_test"] and first["p_holm"] is None
    assert (first["held"], first["later"]) == (row["later"], row["held"])
    assert first["verdict"] == {HOLDS: FAILS, FAILS: HOLDS}.get(verdict, verdict)


def test_a_run_that_never_gets_there_is_the_later_one_and_two_of_them_are_no_pair():
    epochs = {(1, "mlp"): None, (2, "transformer"): None, (3, "mlp"): None,
              (3, "transformer"): None, (4, "mlp"): 500}  # fmt: skip
    models = runs([35], lambda key: {"epoch": epochs.get(key[1:], 1000)})
    row, n35 = statement(models, "epoch"), statement(models, "epoch", 35)
    assert (row["held"], row["later"], row["cases"]) == (2, 1, 4)  # one at the same epoch
    assert row["p_test"] == 1.0
    assert [n35[x] for x in ("held", "cases", "estimate")] == [2, 4, 0.75]  # 0, 0.5, 1, ∞


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([0.0, 0.001, -0.001, 0.002, 0.0], HOLDS),
        ([-0.03, -0.031, -0.029, -0.03, -0.03], FAILS),
        ([0.03, 0.031, 0.029, 0.03, 0.03], FAILS),
        ([0.0, 0.0, 0.0, 0.0, -0.04], UNDECIDED),
        ([0.01, 0.01, 0.01, 0.01, 0.0101], UNDECIDED),
    ],
)
def test_equally_well_is_an_interval_within_a_hundredth(gaps, verdict):
    def planted(key: Key) -> dict[str, Any]:
        return {"accuracy": 0.9 + (gaps[key[1] - 1] if key[2] == "mlp" else 0.0)}

    row = statement(runs([7], planted), "equal", 7)
    interval = stats.ttest_1samp(gaps, 0).confidence_interval(0.95)
    assert (row["estimate_low"], row["estimate_high"]) == pytest.approx((*interval,))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(np.mean(gaps)), verdict)
    worse = {FAILS: "worse" if gaps[0] < 0 else "better", UNDECIDED: "not decided"}
    assert decide.verdict_in_words(row | {"counts": None}) == worse.get(verdict, verdict)


def test_a_bound_that_is_met_decides_nothing_outside_of_it_and_all_within():
    intervals = ((0.01, 0.02), (-0.02, -0.01), (-0.01, 0.01))
    verdicts = [decide.by_interval(*x, 0.01) for x in intervals]
    assert verdicts == [UNDECIDED, UNDECIDED, HOLDS]


@pytest.mark.parametrize(("confidence", "verdict"), [(0.9375, UNDECIDED), (0.93, HOLDS)])
def test_what_is_shown_has_a_p_value_below_the_level(confidence, verdict):
    models = runs([35], lambda key: planted_epochs(key, []))  # 5 of 5: p = 1/16
    rows, metrics = long_table([]), [x.metrics for x in models]
    written = architectures.tables(metrics, rows, rows, None, (MODULI, FIVE), 0.01, confidence)
    frame = written[0].frame
    [row] = frame.loc[(frame["id"] == "epoch") & frame["n"].isna()].to_dict("records")
    assert (row["p_holm"], row["verdict"]) == (1 / 16, verdict)


def tail(counts: Sequence[int], runs: int, p: float) -> float:
    """Return the probability of these counts of successes."""
    return sum(comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in counts)


@pytest.mark.parametrize(
    ("mixing", "verdict"), [(10, CONFIRMED), (9, CONFIRMED), (5, UNDECIDED), (1, REFUTED)]
)
def test_the_share_that_mixes_has_the_interval_by_which_each_tail_is_a_fortieth(mixing, verdict):
    def planted(key: Key) -> dict[str, Any]:
        return {"mixes": key[2] == "mlp" and key[1] + 5 * (key[0] == 15) <= mixing}

    models = runs((35, 15, 7), planted)
    row, against = statement(models, "mixes"), statement(models, "mixes-against")
    assert (row["moduli"], row["held"], row["cases"]) == ("35, 15", mixing, 10)
    assert row["verdict"] == verdict
    assert tail(range(mixing, 11), 10, row["estimate_low"]) == pytest.approx(0.025)
    if mixing < 10:
        assert tail(range(mixing + 1), 10, row["estimate_high"]) == pytest.approx(0.025)
    # Fisher's p: all tables with these margins that are as unlikely.
    ways = [comb(10, k) * comb(10, mixing - k) for k in range(mixing + 1)]
    unlikely = sum(x for x in ways if x <= ways[mixing])
    assert against["p_test"] == pytest.approx(unlikely / comb(20, mixing))
    assert against["verdict"] == (HOLDS if mixing > 5 else UNDECIDED)


def test_directions_go_with_primes_where_every_criterion_of_axes_is_passed():
    models = runs((35, 7), lambda key: {"along": key[2] == "transformer" and key[1] != 2})
    row = statement(models, "directions-against")
    assert (row["moduli"], row["held"], row["cases"]) == ("35", 0, 5)
    assert (row["held_transformer"], row["cases_transformer"]) == (4, 5)
    assert row["p_test"] == pytest.approx(2 * comb(5, 4) / comb(10, 4))


def test_the_tests_of_the_study_are_corrected_together():
    models = runs((35, 15), lambda key: planted_epochs(key, []) | {"mixes": key[2] == "mlp"})
    rows, _, _ = tables(models)
    planned = [x for x in rows if x["id"] != "first"]
    tested = [x for x in planned if x["p_test"] is not None]
    assert [x["id"] for x in tested] == ["epoch", "mixes-against", "directions-against"]
    assert [x["p_holm"] for x in tested] == holm([x["p_test"] for x in tested])
    assert [x["p_holm"] is None for x in planned] == [x["p_test"] is None for x in planned]


def test_a_modulus_that_lacks_a_seed_is_in_the_table_of_pairs_alone():
    full = runs([35], lambda key: planted_epochs(key, []) | {"mixes": key[2] == "mlp"})
    of_full = tables(full)
    decided, pairs, gaps = tables([*full, *runs([15], lambda key: {}, range(1, 5))])
    assert [decided, gaps] == [of_full[0], of_full[2]]
    assert [x["n"] for x in pairs] == [35] * 5 + [15] * 4


def test_a_run_that_does_not_generalise_counts_where_generalising_is_the_question_alone():
    def planted(key: Key) -> dict[str, Any]:
        bad = key[1:] == (3, "transformer")
        return {"mixes": True} | (
            {"validation": 0.98, "accuracy": 0.5, "epoch": None} if bad else {}
        )

    models = runs([35], planted)
    row = statement(models, "mixes", 35)
    assert (row["held"], row["cases"]) == (5, 5)
    assert (row["held_transformer"], row["cases_transformer"]) == (4, 4)
    assert statement(models, "equal", 35)["estimate"] == pytest.approx(0.1)
    assert statement(models, "epoch")["held"] == 1
    assert {x["pairs"] for x in tables(models)[2]} == {4}


@pytest.mark.parametrize(("size", "differs"), [(0.02, True), (0.0005, False)])
def test_a_planted_difference_is_found_and_one_that_does_not_vary_has_no_test(size, differs):
    noise = np.random.default_rng(0).normal(size=5) / 1000
    more = {"mlp": size, "transformer": 0.0}

    def planted(key: Key) -> dict[str, Any]:
        deviation = noise[key[1] - 1] if key[2] == "mlp" else 0.0
        return {"fve": more[key[2]] + deviation, "components": 9 + (key[2] == "mlp")}

    rows = tables(runs([35], planted))[2]
    by_measure = {(x["scope"], x["measure"]): x for x in rows}
    fve, steady = by_measure["J5", "FVE"], by_measure["all residues", "components"]
    assert fve["mean"] == pytest.approx(size + noise.mean())
    assert fve["p_t"] == pytest.approx(stats.ttest_1samp(size + noise, 0)[1])
    assert [float(x) for x in fve["values"].split()] == pytest.approx(size + noise)
    assert fve["low"] <= fve["mean"] <= fve["high"] and fve["differs"] is differs
    assert differs or 0.05 < fve["p_holm"] < 0.2
    assert [steady[x] for x in ("mean", "low", "high")] == [1.0, 1.0, 1.0]
    assert steady["p_t"] is None and steady["differs"] is None
    assert [x["p_holm"] for x in rows] == holm([x["p_t"] for x in rows])
    strata = statement(runs([35], planted), "strata", 35)
    assert strata["held"] == [x["differs"] for x in rows].count(True)
    assert strata["cases"] == len(rows)


def test_what_no_study_has_measured_is_left_out():
    models = runs((35, 15), lambda key: planted_epochs(key, []))
    statements, pairs, _ = make_tables(models, long_table([]))
    assert {*statements.frame["id"]} == {"epoch", "first", "equal", "strata"}
    assert not [name for name in pairs.frame if name.startswith(("mixes", "directions"))]


def test_what_a_modulus_is_called_is_that_of_the_study_that_says_so():
    models = runs([35], lambda _: {})
    word = {"runs": 5, "verdict": "primes", "counts": "5 primes"}
    keys = product(KINDS, (35, 15), ("logits", "both"))
    rows = [{"architecture": kind, "n": n, "id": id} | word for kind, n, id in keys]
    frame = make_tables(models, account_verdicts=pd.DataFrame(rows))[0].frame
    decided = frame[frame["counts"].notna()]
    assert decided["verdict"].tolist() == ["primes"] * 2 and {*decided["n"]} == {35}


@pytest.mark.parametrize("models", [[], runs([35, 7], lambda key: planted_epochs(key, []))])
def test_the_tables_are_written_from_any_number_of_runs(models, tmp_path):
    format.write(make_tables(models), tmp_path)
    for path in (*tmp_path.glob("*.md"), *tmp_path.glob("*.tex")):
        assert "nan" not in path.read_text().lower()
