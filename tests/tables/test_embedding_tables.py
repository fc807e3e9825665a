"""Tables of the embedding: what they count, and over which runs."""

import numpy as np
import pytest
from small import weights_of

from strata import params
from strata.accounts.embedding import measure
from strata.run import Run
from strata.schema import Embedding
from strata.statistics import t_interval
from strata.tables import embedding, format

PARAMS = params.load("params.yaml").accounts.embedding.model_copy(
    update={"draws": 1, "gradients": 2}
)
RUNS = [Run(6, 1), Run(6, 2), Run(6, 3), Run(6, 1, "mlp"), Run(9, 1)]


@pytest.fixture(scope="module")
def runs():
    return [measure(run, weights_of(run), PARAMS, 0.5) for run in RUNS]


def made(runs: list[Embedding], generalised: set[str]) -> dict[str, embedding.Table]:
    tables = embedding.tables(runs, {"untrained": runs[0]}, generalised, 0.95)
    for table in tables:
        assert format.markdown(table) and format.latex(table) and format.csv(table)
        assert {*table.frame} - {"unit"} == {*format.read(table.frame)}
    return {table.name: table for table in tables}


def test_means_are_over_the_transformers_that_generalise_and_have_the_number(runs):
    tables = made(runs, {"n6-s1", "n6-s3", "mlp-n6-s1", "n9-s1"})
    rows = tables["embedding-seeds"].frame.set_index("measure")
    assert set(rows["n"]) == {6} and set(rows["runs"]) == {2}
    values = [x.main_effects.share for x in (runs[0], runs[2])]
    row = rows.loc["share of W_E in main effects"]
    assert row["mean"] == pytest.approx(np.mean(values))
    assert (row["low"], row["high"]) == pytest.approx(t_interval(values, 0.95))


def test_every_run_has_a_row_and_so_has_a_control_but_prime_powers_have_no_change(runs):
    tables = made(runs, {"n6-s1"})
    rows = tables["embedding-changes"].frame
    assert rows["run"].tolist() == ["n6-s1", "n6-s2", "n6-s3", "mlp-n6-s1", "untrained"]
    assert rows["generalised"].tolist() == [True, False, False, False, False]
    assert len(tables["literature-runs"].frame) == 6
    assert tables["embedding-seeds"].frame.empty


def test_one_removed_is_shown_by_its_worst_case(runs):
    row = made(runs, set())["embedding-keep"].frame.iloc[0]
    effects = runs[0].main_effects
    scales = [
        (Q, x) for Q, one in effects.remove_one.items() for x in (one.modulo, one.modulo_zero)
    ]
    own = [x[Q] for Q, x in scales if x[Q] is not None]
    others = [x[q] for Q, x in scales for q in x if q != Q and x[q] is not None]
    assert (row["one_own"], row["one_others"]) == (max(own), min(others))


def test_a_run_that_diverged_has_a_row_without_numbers(runs):
    lost = Embedding(run="n6-s4", n=6, seed=4, architecture="transformer", finite=False)
    rows = made([*runs, lost], set())["literature-runs"].frame.set_index("run")
    assert rows.loc["n6-s4"].drop("generalised").isna().all()
