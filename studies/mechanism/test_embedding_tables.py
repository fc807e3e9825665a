"""Tables of the embedding: what they count, over which runs, and what other levels change."""

from functools import cache

import numpy as np
import pytest
from small import history_of, measured, split_of, weights_of

from strata import params
from strata.run import Run
from strata.statistics import t_interval
from strata.tables import format
from strata.tables.headline import Table
from studies.mechanism.code import tables_embedding as embedding
from studies.mechanism.code.embedding import measure
from studies.mechanism.code.embedding_levels import Choice, Measured
from studies.mechanism.code.records import Change, Embedding, MainEffects

PARAMS = params.load("params.yaml").accounts.embedding.model_copy(
    update={"draws": 1, "gradients": 2}
)
CHOICE = Choice(PARAMS.levels, 0.99)
RUNS = [Run(6, 1), Run(6, 2), Run(6, 3), Run(6, 1, "mlp"), Run(9, 1)]


@cache
def metrics():
    run = Run(6, 1)
    return measured(run, weights_of(run), split_of(6), history_of([1.0]))


def with_accuracy(run: Embedding, validation: float) -> Measured:
    right = metrics().accuracy.model_copy(update={"validation": validation})
    known = {"finite": True, "generalised": validation >= 0.99, "accuracy": right}
    return Measured(run, metrics().model_copy(update=known))


@pytest.fixture(scope="module")
def runs():
    return [measure(run, weights_of(run), PARAMS, 0.5) for run in RUNS]


def made(runs: list[Embedding], generalised: set[str]) -> dict[str, Table]:
    both = [with_accuracy(x, 1.0 if x.run in generalised else 0.5) for x in runs]
    tables = embedding.tables(both, {"untrained": runs[0]}, CHOICE, 0.95)
    for table in tables:
        assert format.markdown(table) and format.latex(table) and format.csv(table)
        assert {*table.frame} - {"unit"} == {*format.read(table.frame)}
    return {table.name: table for table in tables}


def test_of_prime_powers_nothing_but_the_literature_is_summarised(runs):
    nine = [runs[4], runs[4].model_copy(update={"run": "n9-s2", "seed": 2})]
    rows = made(nine, {"n9-s1", "n9-s2"})["embedding-seeds"].frame
    shown = dict(zip(rows["measure"], rows["n9"], strict=True))
    assert shown["kept"] == shown["share of W_E in main effects"] == ""
    assert shown["simple neurons, skill"] != ""


def effects_of(run: Embedding) -> MainEffects:
    assert run.main_effects
    return run.main_effects


def test_means_are_over_the_transformers_that_generalise_and_have_the_number(runs):
    rows = made(runs, {"n6-s1", "n6-s3", "mlp-n6-s1", "n9-s1"})["embedding-seeds"].frame
    rows = rows.set_index("measure")
    assert rows.columns.tolist() == ["n6"] and rows.loc["runs", "n6"] == "2"
    values = [x.main_effects.share for x in (runs[0], runs[2])]
    low, high = t_interval(values, 0.95) or (0, 0)
    expected = f"{100 * np.mean(values):.1f} % ({100 * low:.1f} to {100 * high:.1f})"
    assert rows.loc["share of W_E in main effects", "n6"] == expected.replace("-", "−")


def test_every_run_has_a_row_and_so_has_a_control_but_prime_powers_have_no_change(runs):
    tables = made(runs, {"n6-s1"})
    rows = tables["embedding-changes"].frame
    assert rows["run"].tolist() == ["n6-s1", "n6-s2", "n6-s3", "mlp-n6-s1", "untrained"]
    assert rows["generalised"].tolist() == [True, False, False, False, False]
    assert len(tables["literature-runs"].frame) == 6
    assert tables["embedding-seeds"].frame.columns.tolist() == ["measure"]


def test_one_removed_is_shown_by_its_worst_case(runs):
    row = made(runs, set())["embedding-keep"].frame.iloc[0]
    one_removed = effects_of(runs[0]).remove_one.items()
    scales = [(Q, x) for Q, one in one_removed for x in (one.modulo, one.modulo_zero)]
    skills = [(q == Q, skill) for Q, x in scales for q, skill in x.items() if skill is not None]
    own, others = ([x for is_own, x in skills if is_own == y] for y in (True, False))
    assert (row["one_own"], row["one_others"]) == (max(own), min(others))


def test_a_run_that_diverged_has_a_row_without_numbers(runs):
    lost = Embedding(run="n6-s4", n=6, seed=4, architecture="transformer", finite=False)
    rows = made([*runs, lost], set())["literature-runs"].frame.set_index("run")
    assert rows.loc["n6-s4"].drop("generalised").isna().all()


def like(run: Embedding, seed: int, success: float, kept: float) -> Embedding:
    """A run with these successes of changes, all of them kept apart from their controls."""
    effects = effects_of(run)
    skill = effects.keep_permuted.skill.model_copy(update={"high": 0.0})
    keep = effects.keep.model_copy(update={"skill": 1.0, "kept": kept, "ties": {}})
    drawn = effects.keep_permuted.model_copy(update={"skill": skill, "ties": {}})
    change = Change(
        kinds=1, trials=1, success=success, least=0.0, chance=0.1, random=0.0, exchanged=0.0,
        ties={1e-6: {"success": 0.5}},
    )  # fmt: skip
    known = {"keep": keep, "keep_permuted": drawn}
    more = {"E": "primes", "within": change, "crossing": change, "seed": seed}
    more |= {"run": f"n6-s{seed}", "main_effects": effects.model_copy(update=known)}
    return run.model_copy(update=more)


def test_what_a_level_changes_is_named_with_its_value(runs):
    ten = [with_accuracy(like(runs[0], seed, 0.93, 0.55), 1.0) for seed in range(5)]
    ten.append(with_accuracy(like(runs[0], 6, 0.1, 0.1), 0.97))  # does not generalise
    (row,) = embedding.thresholds(ten, CHOICE).to_dict("records")
    assert row["default"] == "primes (5 primes)"
    changed = dict(x.split(": ") for x in row["changed"].split("; "))
    less, more = "not decided (5 between)", "not decided (5 primes, 1 neither)"
    assert changed == {
        "crossing, within 0.95, 0.1": less, "kept 0.6, 0.9": less, "tie 1e-06": less,
        "generalises 0.95": more, "all levels lenient end": more, "all levels strict end": less,
    }  # fmt: skip
    assert embedding.thresholds(ten[:4], CHOICE).empty
