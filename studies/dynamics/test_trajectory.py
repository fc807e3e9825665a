"""The measures at a checkpoint, on planted weights: from random ones to a hand-made model."""

import numpy as np
import pandas as pd
import pytest
from drawing import ROOT, RUNS, check, untrained
from hypothesis import given
from hypothesis import strategies as st
from planted import planted
from small import split_of, weights_of

from strata import store
from strata.monoid import classes
from strata.run import Run
from studies.dynamics.code import order, table, tables, trajectory
from studies.params import DynamicsParams

N = 35
PARAMS = DynamicsParams(key_threshold=0.5, variance=0.95)
STEPS = [0, 20, 40, 60, 80, 100]  # percent of the way to the hand-made model
MADE = planted(N)


def random_weights(scale: float = 0.1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {k: (rng.normal(size=x.shape) * scale).astype(np.float32) for k, x in MADE.items()}


def observed(checkpoints: dict[int, dict[str, np.ndarray]]) -> pd.DataFrame:
    """The table of these weights, by epoch, the last of which decide the keys."""
    final = trajectory.keys(checkpoints[max(checkpoints)], N, PARAMS)
    split = split_of(N)
    rows = [
        (epoch, *row)
        for epoch, weights in checkpoints.items()
        for row in trajectory.observe(weights, split, N, final, PARAMS)
    ]
    return pd.DataFrame(rows, columns=table.SCHEMA.names)


@pytest.fixture(scope="module")
def between() -> pd.DataFrame:
    """From random weights to the hand-made ones, straight."""
    random = random_weights()
    mixed = {
        step: {k: ((100 - step) * random[k] + step * MADE[k]) / np.float32(100) for k in MADE}
        for step in STEPS
    }
    return observed(mixed)


def at(frame: pd.DataFrame, measure: str, of: str = "") -> list[float]:
    return table.curve(frame, measure, of).tolist()


def rises(values: list[float]) -> bool:
    return bool((np.diff(values) >= 0).all() and values[-1] > values[0])


def test_energy_gathers_on_the_final_keys_and_on_single_axes(between):
    for measure in ("fve", "atomic_share", "gini_W_E"):
        assert rises(at(between, measure, "J1"))
        assert at(between, measure, "J1")[0] < 0.5
    assert at(between, "fve", "J1")[-1] == pytest.approx(1)
    assert at(between, "atomic_share", "J1")[-1] == pytest.approx(1)
    assert rises(at(between, "fve", "J5"))


def test_the_end_multiplies_by_key_characters_and_the_start_does_not(between):
    for subset in ("all", "train", "validation", "mirror_free"):
        assert at(between, f"{subset}_accuracy")[-1] == 1
        assert at(between, f"{subset}_accuracy")[0] < 0.1
        assert at(between, f"{subset}_restricted_loss")[-1] < 1e-5
        assert at(between, f"{subset}_excluded_loss")[-1] > 2
        assert at(between, f"{subset}_loss")[0] == pytest.approx(np.log(N), abs=0.2)
    for J in classes(N)[:-1]:
        fits = {x: at(between, x, f"J{J.d}") for x in ("r2", "r2_ceiling", "r2_all")}
        assert all(fit[-1] == pytest.approx(1, abs=1e-5) for fit in fits.values())
        assert all(fit[0] < 1e-5 for fit in fits.values())


def test_without_its_key_characters_the_hand_made_model_guesses_inside_each_class(between):
    for J in classes(N)[:-1]:
        chance = at(between, "all_excluded_loss", f"J{J.d}")[-1]
        assert chance == pytest.approx(np.log(len(J)), abs=1e-3)


def test_the_loss_over_all_pairs_is_the_mean_over_the_target_classes(between):
    size = {f"J{J.d}": (split_of(N)["class_c"] == J.d).sum() for J in classes(N)}
    for measure in ("all_loss", "all_accuracy", "all_excluded_loss"):
        by_class = np.array([at(between, measure, of) for of in size])
        weights = np.array([*size.values()]) / N**2
        assert at(between, measure) == pytest.approx((weights @ by_class).tolist())


def test_the_restricted_loss_averages_the_pairs_of_a_class_of_one_element_too(between):
    """Only at pairs with product 0 do the two differ: a mean there has one loss for all.

    To float32: with some kernels the last bits of a row depend on those computed beside it."""
    averaged, left = (f"all_restricted_loss{x}" for x in ("", "_unaveraged"))
    for J in classes(N)[:-1]:
        assert at(between, averaged, f"J{J.d}") == pytest.approx(at(between, left, f"J{J.d}"))
    zero = f"J{N}"
    assert at(between, averaged, zero)[0] != pytest.approx(at(between, left, zero)[0])
    assert at(between, left, zero) == pytest.approx(at(between, "all_loss", zero))


def test_a_class_that_is_planted_at_a_checkpoint_is_found_there():
    """Rows of each class become those of the hand-made model at a checkpoint of their own."""
    planted_at = {1: 60, 5: 20, 7: 40}
    random, checkpoints = random_weights(0.5)["W_E"], {}
    for step in STEPS:
        W_E = MADE["W_E"].copy()
        for J in classes(N)[:-1]:
            if step < planted_at[J.d]:
                W_E[J.elements] = random[J.elements]
        checkpoints[step] = MADE | {"W_E": W_E}
    found = order.times(observed(checkpoints), N)
    assert found["epoch_fve_above"] == {1: 60, 5: 20}  # every frequency of J_7 is key
    assert found["epoch_fve"][7] == 0
    # An answer in J_1 needs J_1 alone, one in another class needs J_1 and its own.
    assert found["epoch_skill"] == found["epoch_r2"] == {1: 60, 5: 60, 7: 60}
    assert order.signs(found["epoch_fve_above"], order.pairs(N)[0]) == [1]


def test_the_model_without_attention_has_no_measures_of_heads():
    run = Run(6, 1, "mlp")
    weights = weights_of(run)
    final = trajectory.keys(weights, 6, PARAMS)
    rows = trajectory.observe(weights, split_of(6), 6, final, PARAMS)
    assert not {"ov_components", "block_score"} & {row.measure for row in rows}
    assert {"fve", "r2", "all_restricted_loss"} <= {row.measure for row in rows}


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_gini_is_the_mean_difference_over_twice_the_mean(values):
    x = np.array(values)
    expected = np.abs(x[:, None] - x).mean() / (2 * x.mean()) if x.mean() else 0
    assert trajectory.gini(x) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_figure_is_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch):
    weights = store.read_weights(untrained(run, tmp_path)["weights"], run)
    final = trajectory.keys(weights, run.n, PARAMS)
    observed = trajectory.observe(weights, split_of(run.n), run.n, final, PARAMS)
    measured, times = tmp_path / "measured", tmp_path / "times.csv"
    table.write(measured, {0: observed, 1: observed})
    found = {run.n: order.times(table.read(measured), run.n)}
    store.write_text(times, tables.of_times(found).to_csv(index=False))
    template = ROOT / "studies/dynamics/notebooks/progress-order.ipynb"
    check(template, {"times": str(times)}, tmp_path, monkeypatch)
