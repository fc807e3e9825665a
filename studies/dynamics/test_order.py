"""When a class is learned: the rule, the pairs it is applied to, the test."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import HERE
from sympy.ntheory import factorint

from strata.inputs import InputError
from strata.monoid import JClass, axis_primes, classes
from strata.run import Run
from strata.tables import format
from studies.dynamics.code import order
from studies.dynamics.code import tables as dynamics
from studies.dynamics.code.receipts import Receipt
from studies.params import load

PARAMS = load()
GRID, THRESHOLDS = PARAMS.grid.model_copy(update={"resamples": 999}), PARAMS.dynamics
EPOCHS = np.arange(0, 110, 10)
LINE = {n: {} for n in (165, 154, 143, 113)}  # no class has a time on it


def steps(n: int, at: dict[int, int], to: float = 1.0) -> pd.DataFrame:
    """A table in which every measure of J_d steps from chance to its final value at an epoch."""
    rows = []
    for J in (J for J in classes(n) if len(J) > 1):
        key = min(2, len(J) - 1)
        chance = {"fve": key / (len(J) - 1), "r2": 0.0, "mirror_free_accuracy": 1 / len(J)}
        for epoch in EPOCHS.tolist():
            rows.append((epoch, "key_current", f"J{J.d}", key))
            for measure, low in chance.items():
                rows.append((epoch, measure, f"J{J.d}", to if epoch >= at[J.d] else low))
    rows += [(epoch, "mirror_free_accuracy", "", 0.5) for epoch in EPOCHS.tolist()]
    return pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])


def test_a_step_is_found_at_its_epoch():
    at = {1: 80, 3: 40, 5: 60, 11: 70, 15: 30, 33: 20, 55: 50}
    found = order.times(steps(165, at), 165)
    assert found["epoch_r2"] == found["epoch_skill"] == at
    # J_33 has 3 frequencies, 2 of them key; the only one of J_55 is key and tells nothing.
    assert found["epoch_fve_above"] == {d: e for d, e in at.items() if d != 55}
    assert found["epoch_fve"][33] == found["epoch_fve"][55] == 0


@given(st.integers(2, 8), st.floats(0.1, 1), st.sets(st.integers(1, 10), max_size=1))
def test_one_wrong_checkpoint_moves_a_step_by_no_more_than_one(step, height, wrong):
    values = np.where(np.arange(11) >= step, height, 0.0)
    for i in wrong:
        values[i] = height - values[i]
    found = order.settled(EPOCHS, values)
    assert found is not None
    assert abs(found - EPOCHS[step]) <= 10


def test_what_falls_below_half_for_good_counts_from_its_return():
    values = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1.0])
    assert order.settled(EPOCHS, values) == 80
    for almost, epoch in ((0.49, 70), (0.51, 40)):
        values = np.repeat([0.1, almost, 1.0], (4, 3, 4))
        assert order.settled(EPOCHS, values) == epoch


def test_what_ends_at_nothing_has_no_epoch():
    assert order.settled(EPOCHS, np.zeros(11)) is None
    assert order.settled(EPOCHS[:0], np.zeros(0)) is None
    assert order.settled(EPOCHS[:1], np.ones(1)) == 0


@pytest.mark.parametrize("n", [2, 12, 113, 143, 154, 165, 180, 210])
def test_the_group_of_a_composite_class_is_the_product_of_those_of_its_factors(n):
    for J in classes(n):
        of = [JClass(n, d) for d in order.factors(J)]
        if of:
            assert len(of) > 1
            assert sorted(q for K in of for q in K.orders) == sorted(J.orders)
            assert all(J.m % K.m == 0 and not order.factors(K) for K in of)


ASCENDING = {55: 10, 33: 20, 15: 30, 11: 40, 5: 50, 3: 60, 1: 70}


@pytest.mark.parametrize(
    ("at", "agree", "disagree", "tie"),
    [
        (ASCENDING, 9, 0, 0),
        ({d: 80 - e for d, e in ASCENDING.items()}, 0, 9, 0),
        (dict.fromkeys(ASCENDING, 30), 0, 0, 9),
        (ASCENDING | {15: 70}, 6, 2, 1),  # with J_1 at one checkpoint, after J_3 and J_5
    ],
)
def test_pairs_are_counted_as_they_were_planted(at, agree, disagree, tie):
    found = dynamics.of_order({165: order.times(steps(165, at), 165)}, LINE, GRID)
    [row] = found.loc[found["measure"] == "R²"].to_dict("records")
    assert (row["agree"], row["disagree"], row["tie"]) == (agree, disagree, tie)
    assert row["pairs"] == agree + disagree + tie
    assert row["composites"] == 4
    assert row["control_pairs"] == 3


def test_a_composite_follows_the_last_of_its_factors():
    assert order.lasts(ASCENDING, 165) == [1, 1, 1, 1]
    assert order.lasts(ASCENDING | {15: 60}, 165) == [1, 0, -1, 1]


def test_p_values_are_those_of_coins_and_of_all_orders():
    by_modulus = {165: ASCENDING}
    frame = dynamics.of_order({165: dict.fromkeys(order.MEASURES, ASCENDING)}, LINE, GRID)
    by_measure = frame.set_index("measure").drop(order.LINE)  # on which no class has a time
    assert by_measure["p_sign"].to_numpy() == pytest.approx(1 / 2**9)
    reached = [
        sum(order.signs(dict(zip(ASCENDING, x, strict=True)), order.pairs(165)[0])) >= 9
        for x in permutations(ASCENDING.values())
    ]
    many = GRID.model_copy(update={"resamples": 99_999})
    assert order.shuffled(by_modulus, many) == pytest.approx(np.mean(reached), abs=0.002)


def test_small_classes_seem_to_come_first_where_all_come_at_one_rate():
    """Half of the final value favours classes that begin high; above chance nothing does."""
    frame = steps(165, dict.fromkeys(ASCENDING, 0))
    start = steps(165, dict.fromkeys(ASCENDING, 1000))
    way = np.where(frame["measure"] == "key_current", 0, frame["epoch"] / 100)
    frame["value"] = (1 - way) * start["value"] + way * frame["value"]
    found = dynamics.of_order({165: order.times(frame, 165)}, LINE, GRID).set_index("measure")
    assert found.loc["FVE", ["agree", "disagree"]].tolist() == [8, 0]
    assert found.loc["accuracy above chance", ["agree", "disagree", "tie"]].tolist() == [0, 0, 9]
    above = found.loc["FVE above uniform", ["pairs", "agree", "disagree", "tie"]].tolist()
    assert above == [6, 0, 0, 6]  # in these steps J_33 has a frequency that is not key


def noise(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 64)).astype(np.float32)


def signal(n: int) -> np.ndarray:
    """A sum over the primes of n: one frequency on the axis of each, in dimensions of its own."""
    W_E = np.zeros((n, 64), dtype=np.float32)
    for J in classes(n):
        for i, (p, q) in enumerate(zip(axis_primes(J), J.orders, strict=False)):
            at = sorted(factorint(n)).index(p) * 2
            turn = 2 * np.pi * J.coordinates[:, i] / q
            W_E[J.elements, at], W_E[J.elements, at + 1] = np.cos(turn), np.sin(turn)
    return W_E


@pytest.mark.parametrize("n", [165, 154, 143])
def test_in_the_embedding_composites_come_first_where_every_axis_comes_at_one_rate(n):
    """Their axes add up over the same noise, so the order says nothing against composition."""
    times = order.one_rate(noise(n), signal(n), n, THRESHOLDS.key_threshold)
    own = [x for x in order.signs(times, order.pairs(n)[0]) if x]
    assert own.count(-1) >= max(2, 3 * own.count(1))
    assert all(0 < step < order.STEPS for step in times.values())


def test_the_tables_of_a_study_are_written_with_what_is_missing_named(tmp_path):
    frames = {Run(165, 1): steps(165, ASCENDING), Run(113, 1): steps(113, {1: 20}, to=0.0)}
    origin = Receipt(
        run="n165-s1", epochs=tuple(EPOCHS.tolist()), md5=("x",) * len(EPOCHS), environment=HERE,
        hours=None, train_md5="y", identical=False,
    )  # fmt: skip
    origins = {run: (origin, HERE.model_copy(update={"threads": 2})) for run in frames}
    ends = {run: (noise(run.n), signal(run.n)) for run in frames}
    made = dynamics.tables(frames, origins, ends, GRID, THRESHOLDS)
    format.write(made, tmp_path)
    text = {path.stem: path.read_text() for path in tmp_path.glob("*.md")}
    assert set(text) == {f"dynamics-{x}" for x in ("times", "order", "grokking", "origin")}
    assert "J₅₅ × J₃₃ × J₁₅" in text["dynamics-times"]
    assert "never" in text["dynamics-times"]
    assert "AMD, AVX2, 1 thread " in text["dynamics-origin"]
    assert "AMD, AVX2, 2 threads" in text["dynamics-origin"]


def test_two_runs_of_a_modulus_are_refused():
    frames = {Run(13, seed): steps(13, {1: 20}) for seed in (1, 2)}
    with pytest.raises(InputError, match="n13-s1, n13-s2: must be of one run for each n"):
        dynamics.tables(frames, {}, {}, GRID, THRESHOLDS)


def test_what_the_whole_model_does_is_found_at_its_epoch():
    chance = order.commonest(15)
    at = {"train_accuracy": 10, "mirror_free_class_accuracy": 20, "mirror_free_accuracy": 70}
    rows = [
        (e, m, "", (0.3 + 0.7 * chance if "class" in m else 0.4) + 0.6 * (e >= x))
        for m, x in at.items()
        for e in EPOCHS.tolist()
    ]
    frame = pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])
    [row] = dynamics.of_wholes({Run(15, 1): frame}).to_dict("records")
    assert (row["epoch_known"], row["epoch_class"], row["epoch_answer"]) == (10, 20, 70)
    assert row["class_chance"] == chance
