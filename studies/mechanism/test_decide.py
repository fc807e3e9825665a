"""What comes of measures; and of planted models what criteria-2.md says."""

from math import nan

import numpy as np
import pytest
from small import random_weights

from strata.api.by_hand import weights
from strata.results import FAILS, HOLDS, UNDECIDED
from studies.mechanism import planted
from studies.mechanism.code import decide, measures

MUST, NOT = {HOLDS}, {UNDECIDED, FAILS}
PLANTED = {
    "by hand": (165, lambda _: weights(165), "votes code neurons decoding interaction", ""),
    "with a gate": (
        165, lambda _: weights(165, gate=(3, 11)), "code neurons decoding interaction", ""),
    "mixed": (165, lambda _: weights(165, mixed=(11, 5)), "neurons interaction", ""),
    "nearest code": (
        105, lambda rng: planted.nearest_code(105, {3: [1], 5: [1], 7: [1, 2]}, rng),
        "votes code neurons", "decoding"),
    "strata": (
        77,
        lambda _: planted.strata(77, {1: [(7, 1), (11, 1)], 7: [(11, 3)], 11: [(7, 2), (7, 3)]}),
        "", "votes code neurons decoding interaction"),
    "lookup": (
        77, lambda rng: planted.lookup(77, {7: [1], 11: [1, 2]}, rng),
        "", "votes code neurons decoding interaction"),
    "random code": (
        77, lambda rng: planted.random_code(77, 12, {7: [1], 11: [1, 2]}, rng),
        "", "votes code neurons interaction"),
}  # fmt: skip
KIND = {"by hand": "primes apart", "with a gate": "gated", "mixed": "mixed"}


# Each takes long. make test measures one that votes, and one for which no statement may hold.
QUICK = ("nearest code", "lookup")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in PLANTED if name not in QUICK]


@pytest.mark.parametrize("name", [*SLOW, *QUICK])
def test_planted_models_come_out_as_the_criteria_say(name, settings):
    n, make_weights, must, must_not = PLANTED[name]
    rows = measures.measure(make_weights(np.random.default_rng(0)), n, settings)
    verdicts = {row.id: row.verdict for row in rows if not row.measure}
    for statement in decide.STATEMENTS:
        allowed = MUST if statement in must.split() else NOT
        if statement in must.split() + must_not.split():
            assert verdicts[statement] in allowed, statement
    assert verdicts["kind"] == KIND.get(name, verdicts["kind"])
    assert [row.value for row in rows if (row.id, row.measure) == ("whole", "right")] == [1.0]
    [replaced] = [row.value for row in rows if row.id == "replaced"]
    assert replaced is not None and (replaced > 0.95 if name in KIND else replaced < 0.7)


@pytest.mark.parametrize("kind", ["transformer", "mlp"])
@pytest.mark.parametrize("n", [5, 8, 12])
def test_any_model_of_any_modulus_can_be_measured(n, kind, settings):
    rows = measures.measure(random_weights(n, kind), n, settings)
    ids = [row.id for row in rows if not row.measure]
    assert ids == [*decide.STATEMENTS, *decide.CRITERIA, "kind"]


GOOD = {
    "share": 0.9, "spared": 1.0, "control": 0.0, "functions": 5.0, "law": 0.95, "ratio": 0.1,
    "span": 20.0, "gates": 0.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({}, HOLDS),
        ({"neurons-variance": 0.7}, UNDECIDED),
        ({"neurons-variance": 0.7, "neurons-right": 0.4}, FAILS),
        ({"neurons-permuted": 0.5}, FAILS),
        ({"neurons-permuted": nan, "neurons-right": nan}, HOLDS),
        (dict.fromkeys(("neurons-permuted", "neurons-right", "neurons-variance"), nan), ""),
    ],
)
def test_a_statement_holds_if_all_its_numbers_do(values, verdict, settings):
    numbers = {id: GOOD[kind] for id, (_, kind, *_) in decide.CRITERIA.items()} | values
    verdicts = {row.id: row.verdict for row in decide.judge(numbers, settings.levels)}
    assert verdicts["neurons"] == verdict
    assert {verdicts[x] for x in decide.STATEMENTS if x != "neurons"} == {HOLDS}
