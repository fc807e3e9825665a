"""The data of a run's page: what rounding changes, and that nothing else is lost."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from small import history_of, measured, split_of, weights_of

from report.code import run_data, training
from strata import monoid
from strata.measure import character_fit
from strata.measure.activations import blocks
from strata.measure.metrics import Metrics
from strata.run import Run

NUMBERS = st.floats(-1e6, 1e6, width=32)


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2), elements=NUMBERS))
def test_a_packed_number_is_off_by_half_a_step_of_its_row_at_most(x):
    packed = run_data.pack(x)
    assert len(packed["data"]) <= 4 / 3 * x.size + 4
    step = np.abs(x).max(axis=1, keepdims=True) / 127
    assert (np.abs(run_data.unpack(packed) - x) <= 0.502 * step + 1e-30).all()


def page_of(run: Run, weights: dict[str, np.ndarray]) -> tuple[dict, Metrics]:
    history = history_of([0.5, 1.0])
    metrics = measured(run, weights, split_of(run.n), history)
    return run_data.page(weights, history, metrics), metrics


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 1), Run(7, 2), Run(6, 1, "mlp")], ids=str)
def test_a_page_says_of_each_class_what_the_metrics_say(run):
    page, metrics = page_of(run, weights_of(run))
    assert page["run"] == str(run)
    assert page["order"] == monoid.algebraic_order(run.n).tolist()
    for algebra, class_metrics in zip(page["classes"], metrics.classes, strict=True):
        J = monoid.jclass(algebra["d"], run.n)
        assert (algebra["orders"], algebra["idempotent"]) == (list(J.orders), J.idempotent)
        if class_metrics.key_frequencies is None:
            assert algebra["share"] == [] and "readout" not in algebra
            continue
        assert len(algebra["share"]) == len(J) - 1 and abs(sum(algebra["share"]) - 1) < 1e-3
        keys = [list(J.coordinates[i + 1]) for i in algebra["key"]]  # frequencies are tuples alike
        assert keys == [list(k) for k in class_metrics.key_frequencies]
        energy = sum(algebra["share"][i] for i in algebra["key"])
        assert energy == pytest.approx(class_metrics.fve, abs=1e-3)


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 1)], ids=str)
def test_logits_by_quotient_are_those_of_every_prompt(run):
    weights = weights_of(run)
    page, _ = page_of(run, weights)
    [(a, b, forward)] = list(blocks(weights, run.n))
    for algebra in page["classes"]:
        if "readout" not in algebra:
            continue
        J, (d1, d2) = monoid.jclass(algebra["d"], run.n), algebra["readout"]["pair"]
        rows = (np.gcd(a, run.n) == d1) & (np.gcd(b, run.n) == d2)
        logits = forward.logits[np.ix_(rows, J.elements)]
        product = monoid.position(run.n)[(a * b % run.n)[rows]]
        y = character_fit.by_quotient(logits, product, J.orders)
        expected = {"mean": y.mean(axis=0), "std": y.std(axis=0)}
        expected |= {"low": y.min(axis=0), "high": y.max(axis=0)}
        for name, values in expected.items():
            np.testing.assert_allclose(algebra["readout"][name], values, rtol=1e-3, atol=1e-6)


def test_what_rounding_changes_is_measured_over_every_pair():
    run = Run(15, 1)
    weights = weights_of(run)
    page, _ = page_of(run, weights)
    weight_sets = (weights, run_data.with_page_numbers(page["model"], weights))
    run_logits, page_logits = (next(blocks(w, run.n))[2].logits for w in weight_sets)
    equal = int((run_logits.argmax(axis=1) == page_logits.argmax(axis=1)).sum())
    assert page["fidelity"]["answers"] == equal
    gap = np.abs(run_logits - page_logits).max()
    assert page["fidelity"]["gap"] == pytest.approx(gap, rel=1e-3)  # of float32, in another order
    assert 0 < page["fidelity"]["gap"] < 0.01 * page["fidelity"]["largest"]


def test_a_run_that_diverged_has_a_page_without_a_model():
    run = Run(12, 1)
    weights = weights_of(run)
    weights["W_E"] = weights["W_E"] * np.float32("nan")
    page, _ = page_of(run, weights)
    assert (page["finite"], page["model"], page["pca"], page["fidelity"]) == (False,) + (None,) * 3
    assert all(c["share"] == [] for c in page["classes"])


def test_a_curve_is_short_and_ends_where_the_training_does():
    curve = run_data.curve(history_of([i / 1000 for i in range(1000)]), True)
    assert len(curve["epoch"]) <= run_data.POINTS
    assert (curve["epoch"][-1], curve["validation_accuracy"][-1]) == (1000, 0.999)
    assert set(map(len, curve.values())) == {len(curve["epoch"])}


def test_what_is_measured_over_a_training_has_a_value_at_each_checkpoint_or_none():
    rows = [(e, "fve", part, e / 100) for e in (0, 10, 50) for part in ("J1", "J10", "J2")]
    frame = pd.DataFrame(rows[:-1], columns=["epoch", "measure", "of", "value"])
    measures = training.measures("n15-s1", frame)
    assert measures["epochs"] == [0, 10, 50]
    [measure] = measures["measures"]
    assert measure["of"] == {"J1": [0, 0.1, 0.5], "J2": [0, 0.1, None], "J10": [0, 0.1, 0.5]}
    assert [*measure["of"]] == ["J1", "J2", "J10"]


def test_the_embedding_over_a_training_is_held_to_8_bits():
    values = np.random.default_rng(0).normal(size=(2, 5))
    places = [(e, k, values[i, k]) for i, e in enumerate((0, 7)) for k in range(5)]
    rows = [(e, part, k, x) for part in ("J1", "PC1", "share") for e, k, x in places]
    frame = pd.DataFrame(rows, columns=["epoch", "of", "place", "value"])
    right = [(epoch, "mirror_free_accuracy", "", epoch / 10) for epoch in (0, 7)]
    measured = pd.DataFrame(right, columns=["epoch", "measure", "of", "value"])
    page_data = training.embedding("n15-s1", frame, measured)
    assert (page_data["epochs"], page_data["right"]) == ([0, 7], [0.0, 0.7])
    largest = np.abs(values).max(axis=1, keepdims=True)
    for packed in (page_data["classes"]["1"], page_data["points"][0]):
        error = np.abs(run_data.unpack(packed) - values) / largest
        assert error.max() == pytest.approx(0, abs=0.51 / 127)
