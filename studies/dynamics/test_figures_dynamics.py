"""The figure over training, for any run."""

import pytest
from drawing import ROOT, RUNS, check, dealt, untrained

from strata import store
from studies.dynamics.code import order, table, tables, trajectory
from studies.params import load

NOTEBOOKS = ROOT / "studies/dynamics/notebooks"


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_figure_is_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch):
    weights = store.read_weights(untrained(run, tmp_path)["weights"], run)
    thresholds = load(ROOT).dynamics
    final = trajectory.keys(weights, run.n, thresholds)
    observed = trajectory.observe(weights, dealt(run.n), run.n, final, thresholds)
    measured, times = tmp_path / "measured", tmp_path / "times.csv"
    table.write(measured, {0: observed, 1: observed})
    found = {run.n: order.times(table.read(measured), run.n)}
    store.write_text(times, tables.of_times(found).to_csv(index=False))
    check(NOTEBOOKS / "progress-order.ipynb", {"times": str(times)}, tmp_path, monkeypatch)
