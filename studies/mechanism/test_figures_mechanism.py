"""The figures of the mechanism, for any run."""

import pytest
from drawing import RUNS, check, paths, untrained
from small import ROOT

from strata import store
from studies.mechanism.code import adding_measures, measures
from studies.params import load


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_figure_is_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch, settings):
    names = ("mechanism", "adding")
    inputs = untrained(run, tmp_path) | {name: tmp_path / name for name in names}
    weights = store.read_weights(inputs["weights"], run)
    measures.write(str(inputs["mechanism"]), str(run), measures.measure(weights, run.n, settings))
    rows = adding_measures.measure(weights, run.n, load(ROOT).adding.measures)
    measures.write(str(inputs["adding"]), str(run), rows)
    for template in sorted((ROOT / "studies/mechanism/notebooks").glob("*.ipynb")):
        parameters = {"run": str(run)} | {name: str(inputs[name]) for name in paths(template)}
        check(template, parameters, tmp_path, monkeypatch)
