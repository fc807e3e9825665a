"""The figures of the mechanism, for any run."""

import pytest
from drawing import ROOT, RUNS, check, paths, untrained

from strata import store
from studies.mechanism.code import logits, measures, tables_accounts
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.tables_accounts import Case
from studies.mechanism.planted_logits import ACCOUNTS, SETTINGS


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_figure_is_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch, settings):
    made = untrained(run, tmp_path) | {x: tmp_path / x for x in ("mechanism", "decisions")}
    weights = store.read_weights(made["weights"], run)
    measures.write(str(made["mechanism"]), str(run), measures.measure(weights, run.n, settings))
    found = logits.measure(run, weights, SETTINGS)
    about = {"run": str(run), "n": run.n, "architecture": found.architecture}
    case = Case(found, Embedding(**about, finite=True), generalised=False)
    decisions = tables_accounts.measures({str(run): case}, ACCOUNTS.levels)
    store.write_text(made["decisions"], decisions.to_csv(index=False))
    for template in sorted((ROOT / "studies/mechanism/notebooks").glob("*.ipynb")):
        given = {"run": str(run)} | {name: str(made[name]) for name in paths(template)}
        check(template, given, tmp_path, monkeypatch)
