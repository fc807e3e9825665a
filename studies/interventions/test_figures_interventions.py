"""The figures of the interventions, for any run."""

from math import gcd

import numpy as np
import pytest
from drawing import RUNS, check, paths, untrained
from small import ROOT

from strata import monoid, store
from studies.interventions.code import plots, suite
from studies.params import InterventionsSettings

NOTEBOOKS = ROOT / "studies/interventions/notebooks"
FIRST = {NOTEBOOKS / "attention-runs.ipynb", NOTEBOOKS / "interchange.ipynb"}  # as published


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_figure_is_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch):
    inputs = untrained(run, tmp_path) | {"interventions": tmp_path / "interventions"}
    settings = InterventionsSettings(draws=2, seed=0, key_threshold=0.5)
    weights = store.read_weights(inputs["weights"], run)
    store.write_json(inputs["interventions"], suite.intervene(run, weights, settings))
    for template in sorted({*NOTEBOOKS.glob("*.ipynb")} - FIRST):
        parameters = {"run": str(run)} | {name: str(inputs[name]) for name in paths(template)}
        check(template, parameters, tmp_path, monkeypatch)


@pytest.mark.parametrize("n", [2, 12, 30, 49, 180])
@pytest.mark.parametrize("axis", [None, 2, 3, 7])
def test_room_above_chance_is_counted_on_the_products_themselves(n, axis):
    d = [J.d for J in monoid.classes(n)]
    room = plots.room_above_chance(n, d, axis)
    for i, j in np.ndindex(room.shape):
        J = monoid.JClass(n, gcd(d[i] * d[j], n))
        quotients = {a // J.d for a in J.elements.tolist()}
        power = max(p for p in (axis**k for k in range(9)) if J.m % p == 0) if axis else J.m
        chance = 1 / len({u % power for u in quotients})
        assert room[i, j] == pytest.approx(1 - chance if chance < 1 else 1)
