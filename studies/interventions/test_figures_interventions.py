"""The figures of the interventions, for any run."""

from math import gcd

import numpy as np
import pandas as pd
import pytest
from drawing import ROOT, RUNS, check, paths, untrained

from strata import monoid, store
from studies.interventions.code import plots, suite
from studies.params import InterventionsSettings

NOTEBOOKS = ROOT / "studies/interventions/notebooks"
OVER_RUNS = NOTEBOOKS / "attention-runs.ipynb"
TEMPLATES = sorted({*NOTEBOOKS.glob("*.ipynb")} - {OVER_RUNS})


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run(request, tmp_path_factory):
    made = untrained(request.param, tmp_path_factory.mktemp("run"))
    few = InterventionsSettings(draws=2, swaps=1, seed=0, key_threshold=0.5)
    weights = store.read_weights(made["weights"], request.param)
    made["interventions"] = made["weights"].with_name("interventions")
    store.write_json(made["interventions"], suite.intervene(request.param, weights, few))
    return request.param, made


@pytest.mark.parametrize("template", TEMPLATES, ids=[x.stem for x in TEMPLATES])
def test_every_figure_is_drawn_for_any_run_even_untrained(template, run, tmp_path, monkeypatch):
    of, inputs = run
    given = {"run": str(of)} | {name: str(inputs[name]) for name in paths(template)}
    check(template, given, tmp_path, monkeypatch)


def test_runs_are_drawn_where_some_do_not_use_a_pattern_or_have_one_prime(tmp_path, monkeypatch):
    columns = ["n", "heads", "runs", "used", "class_yes", "class_part", "residue_yes"]
    columns += ["residue_part", "over_shuffled_mean", "over_residues_mean"]
    rows = [
        (6, "head 0", 4, 3, 0, 1, 2, 1, 0.1, -0.2),
        (6, "all heads", 4, 0, 0, 0, 0, 0, None, None),
    ]
    rows += [(7, heads, 2, 1, 0, 0, 0, 0, 0.1, None) for heads in ("head 0", "all heads")]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "routing.csv", index=False)
    check(OVER_RUNS, {"routing": str(tmp_path / "routing.csv")}, tmp_path, monkeypatch)


@pytest.mark.parametrize("n", [2, 12, 30, 49, 180])
@pytest.mark.parametrize("axis", [None, 2, 3, 7])
def test_room_above_chance_is_counted_on_the_products_themselves(n, axis):
    d = [J.d for J in monoid.classes(n)]
    found = plots.room_above_chance(n, d, axis)
    for i, j in np.ndindex(found.shape):
        J = monoid.JClass(n, gcd(d[i] * d[j], n))
        quotients = {a // J.d for a in J.elements.tolist()}
        power = max(p for p in (axis**k for k in range(9)) if J.m % p == 0) if axis else J.m
        chance = 1 / len({u % power for u in quotients})
        assert found[i, j] == pytest.approx(1 - chance if chance < 1 else 1)
