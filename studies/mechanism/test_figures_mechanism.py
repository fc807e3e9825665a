"""The figure of the two accounts, for any run."""

import pytest
from drawing import ROOT, RUNS, check, paths, untrained

from strata import results, store
from studies.mechanism.code import logits, measures, tables_accounts
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.tables_accounts import Case
from studies.params import LogitsSettings, load


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_two_accounts_are_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch):
    made, accounts = untrained(run, tmp_path), load(ROOT).accounts
    settings = LogitsSettings(**accounts.logits.model_dump(), key_threshold=0.5)
    found = logits.measure(run, store.read_weights(made["weights"], run), settings)
    about = {"run": str(run), "n": run.n, "architecture": found.architecture}
    case = Case(found, Embedding(**about, finite=True), generalised=False)
    rows = tables_accounts.measures({str(run): case}, accounts.levels)
    store.write_text(tmp_path / "decisions.csv", rows.to_csv(index=False))
    template = ROOT / "studies/mechanism/notebooks/two-accounts.ipynb"
    check(template, {"decisions": str(tmp_path / "decisions.csv")}, tmp_path, monkeypatch)


MECHANISM = [ROOT / f"studies/mechanism/notebooks/{x}.ipynb" for x in
             ("three-votes", "mechanism-verdicts")]  # fmt: skip


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_mechanism_is_drawn_for_any_run_even_untrained(run, tmp_path, monkeypatch, settings):
    made = untrained(run, tmp_path)
    weights = store.read_weights(made["weights"], run)
    rows = [x._replace(run=str(run)) for x in measures.measure(weights, run.n, settings)]
    results.write_rows(tmp_path / "mechanism", rows)
    made["mechanism"] = tmp_path / "mechanism"
    for template in MECHANISM:
        given = {"run": str(run)} | {name: str(made[name]) for name in paths(template)}
        check(template, given, tmp_path, monkeypatch)
