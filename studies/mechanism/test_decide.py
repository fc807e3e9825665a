"""What comes of measures; and of models made by hand what criteria.md says."""

from math import isnan, nan

import numpy as np
import pytest

from strata import results, store
from studies.mechanism import by_hand
from studies.mechanism.code import decide, measures
from studies.mechanism.code.decide import FAILS, HOLDS, UNDECIDED, Row
from studies.mechanism.stages import measure


def networks():
    rng = np.random.default_rng(0)
    return {
        "nearest code": (105, by_hand.nearest_code(105, {3: [1], 5: [1], 7: [1, 2]}, rng)[0]),
        "strata": (
            77,
            by_hand.strata(77, {1: [(7, 1), (11, 1)], 7: [(11, 3)], 11: [(7, 2), (7, 3)]}),
        ),
        "lookup": (35, by_hand.lookup(35, {5: [1], 7: [1]}, rng)),
    }


@pytest.mark.parametrize(
    ("name", "verdict"), [("nearest code", HOLDS), ("strata", FAILS), ("lookup", FAILS)]
)
def test_models_made_by_hand_come_out_as_the_criteria_say(name, verdict, settings):
    n, weights = networks()[name]
    rows = measures.measure(weights, n, settings)
    found = {row.of: row.value for row in rows if row.unit == "verdict"}
    for statement in ("code", "neurons", "decoding", "gated characters"):
        assert found[statement] == verdict, statement
    if verdict == HOLDS:
        assert found["proof"] == HOLDS
    right = [x.value for x in rows if x[:3] == ("logits", "all pairs", "accuracy")]
    assert right == [1.0]


def test_every_number_that_a_statement_rests_on_is_measured(settings):
    n, weights = networks()["nearest code"]
    known = {row[:3] for row in measures.measure(weights, n, settings)}
    for rules in decide.RULES.values():
        assert {key[1:] for key in rules} <= known


@pytest.mark.parametrize("kind", ["transformer", "mlp"])
@pytest.mark.parametrize("n", [5, 8, 12])
def test_any_model_of_any_modulus_can_be_measured(n, kind, settings):
    every = measures.measure(by_hand.random(n, kind), n, settings)
    found = [row for row in every if row.unit == "verdict"]
    assert [row.of for row in found] == [*decide.RULES, "gated characters", "proof"]


def rows(levels, **values):
    """A row for each number of the statement on neurons; by default all hold."""
    good = {"share": 0.9, "spared": 1.0, "destroyed": 0.0}
    return [
        Row(of, measure, unit, values.get(measure.replace(" ", "_"), good[kind]))
        for kind, of, measure, unit in decide.RULES["neurons"]
    ] + [
        Row("parts", "many", "share", 0.0),
        Row("proof", "rank", "count", 5.0),
        Row("product side", "functions", "count", 5.0),
    ]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({}, HOLDS),
        ({"sum": 0.7}, UNDECIDED),
        ({"sum": 0.7, "replaced": 0.4}, FAILS),
        ({"no_interaction": 0.5}, FAILS),
        ({"relabelled": nan, "replaced": nan}, HOLDS),
    ],
)
def test_a_statement_holds_if_all_its_numbers_do(values, verdict, settings):
    found = decide.verdicts(rows(settings.levels, **values), settings.levels)
    by = {row.of: row.value for row in found if row.unit == "verdict"}
    assert by["neurons"] == verdict
    assert isnan(by["code"]) is False and isnan(by["decoding"])
    assert by["proof"] == HOLDS


def test_runs_together_are_counted_with_intervals():
    found = decide.tally([HOLDS] * 3 + [UNDECIDED, FAILS, nan])
    assert found[:3] == (3, 1, 1)
    assert found.interval == pytest.approx((0.1466, 0.9473), abs=1e-4)
    assert decide.tally([HOLDS] * 3).verdict == UNDECIDED
    assert decide.tally([FAILS] * 11 + [HOLDS] * 2).verdict == FAILS
    assert decide.tally([]).interval == (0.0, 1.0)


def test_the_stage_writes_one_long_table(tmp_path, settings):
    train = {
        "d_model": 8, "n_heads": 2, "d_mlp": 12, "epochs": 1, "lr": 1e-3, "weight_decay": 1.0,
        "beta1": 0.9, "beta2": 0.98, "eps": 1e-8, "validate_every": 1,
    }  # fmt: skip
    weights = by_hand.random(6, "transformer")
    record = {"run": "n6-s1", "train": train}
    (tmp_path / "weights").write_bytes(store.tensors_bytes(weights, record))
    store.write_json(tmp_path / "settings", settings)
    arguments = [str(tmp_path / name) for name in ("settings", "weights", "out")]
    measure.main("n6-s1", *arguments)
    table = results.read(tmp_path / "out")
    assert set(table["run"]) == {"n6-s1"}
    again = [row for row in measures.measure(weights, 6, settings) if not isnan(row.value)]
    assert table.drop(columns="run").to_numpy().tolist() == [list(row) for row in again]
