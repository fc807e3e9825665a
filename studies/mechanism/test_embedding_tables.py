"""Tables of the embedding: what they count, and over which runs."""

from functools import cache

import numpy as np
import pytest
from small import history_of, measured, split_of, weights_of

from strata.run import Run
from strata.statistics import t_interval
from strata.tables import format
from strata.tables.table import Table
from studies.mechanism.code import tables_embedding as embedding
from studies.mechanism.code.embedding import measure
from studies.mechanism.code.records import Embedding, Logits, MainEffects
from studies.mechanism.code.study import Case
from studies.params import load

ACCOUNTS = load().accounts
PARAMS = ACCOUNTS.embedding.model_copy(update={"draws": 1})
RUNS = [Run(6, 1), Run(6, 2), Run(6, 3), Run(6, 1, "mlp"), Run(9, 1)]


@cache
def metrics():
    run = Run(6, 1)
    return measured(run, weights_of(run), split_of(6), history_of([1.0]))


def with_accuracy(run: Embedding, validation: float) -> Case:
    right = metrics().accuracy.model_copy(update={"validation": validation})
    known = {"finite": True, "generalised": validation >= 0.99, "accuracy": right}
    logits = Logits(
        run=run.run, n=run.n, architecture=run.architecture, finite=False, accuracy=None,
        ceiling=None, accuracy_classes={}, at=None,
    )  # fmt: skip
    return Case(logits, run, metrics().model_copy(update=known))


@pytest.fixture(scope="module")
def runs():
    return [measure(run, weights_of(run), PARAMS, 0.5) for run in RUNS]


def made(runs: list[Embedding], generalised: set[str]) -> dict[str, Table]:
    both = [with_accuracy(x, 1.0 if x.run in generalised else 0.5) for x in runs]
    tables = embedding.tables(both, {"untrained": runs[0]}, 0.95)
    for table in tables:
        assert format.markdown(table) and format.latex(table) and format.csv(table)
    return {table.name: table for table in tables}


def test_of_prime_powers_nothing_is_summarised(runs):
    nine = [runs[4], runs[4].model_copy(update={"run": "n9-s2", "seed": 2})]
    rows = made(nine, {"n9-s1", "n9-s2"})["embedding-seeds"].frame
    assert rows["mean"].notna().tolist() == [True] + [False] * (len(rows) - 1)


def effects_of(run: Embedding) -> MainEffects:
    assert run.main_effects
    return run.main_effects


def test_means_are_over_the_transformers_that_generalise_and_have_the_number(runs):
    rows = made(runs, {"n6-s1", "n6-s3", "mlp-n6-s1", "n9-s1"})["embedding-seeds"].frame
    assert {*rows["n"]} == {6}
    rows = rows.set_index("measure")
    assert rows.loc["runs", "mean"] == 2
    values = [effects_of(x).share or 0 for x in (runs[0], runs[2])]
    row = rows.loc["share of W_E in main effects"]
    assert np.allclose([row["low"], row["high"]], t_interval(values, 0.95, share=True) or ())
    assert np.isclose(row["mean"], np.mean(values))


def test_every_run_has_a_row_and_so_has_a_control_but_prime_powers_have_no_change(runs):
    tables = made(runs, {"n6-s1"})
    rows = tables["embedding-changes"].frame
    assert rows["run"].tolist() == ["n6-s1", "n6-s2", "n6-s3", "mlp-n6-s1", "untrained"]
    assert rows["generalised"].tolist() == [True, False, False, False, False]
    assert tables["embedding-seeds"].frame.empty


def test_one_removed_is_shown_by_its_worst_case(runs):
    row = made(runs, set())["embedding-keep"].frame.iloc[0]
    one_removed = effects_of(runs[0]).remove_one.items()
    scales = [(Q, x) for Q, one in one_removed for x in (one.modulo, one.modulo_zero)]
    skills = [(q == Q, skill) for Q, x in scales for q, skill in x.items() if skill is not None]
    own, others = ([x for is_own, x in skills if is_own == y] for y in (True, False))
    assert (row["one_own"], row["one_others"]) == (max(own), min(others))


def test_a_run_that_diverged_has_no_row(runs):
    lost = Embedding(run="n6-s4", n=6, seed=4, architecture="transformer", finite=False)
    assert "n6-s4" not in made([*runs, lost], set())["embedding-keep"].frame["run"].tolist()
