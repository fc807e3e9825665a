"""The figures of the interventions, for any run."""

import pytest
from drawing import ROOT, RUNS, check, paths, untrained

from strata import store
from studies.interventions.code import suite
from studies.params import load

TEMPLATES = sorted(ROOT.glob("studies/interventions/notebooks/*.ipynb"))


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run(request, tmp_path_factory):
    made = untrained(request.param, tmp_path_factory.mktemp("run"))
    few = load(ROOT).interventions.model_copy(update={"draws": 2, "swaps": 1})
    weights = store.read_weights(made["weights"], request.param)
    made["interventions"] = made["weights"].with_name("interventions")
    store.write_json(made["interventions"], suite.intervene(request.param, weights, few, 0.5))
    return request.param, made


@pytest.mark.parametrize("template", TEMPLATES, ids=[x.stem for x in TEMPLATES])
def test_every_figure_is_drawn_for_any_run_even_untrained(template, run, tmp_path, monkeypatch):
    of, inputs = run
    given = {"run": str(of)} | {name: str(inputs[name]) for name in paths(template)}
    check(template, given, tmp_path, monkeypatch)
