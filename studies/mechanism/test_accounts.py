"""Tables of the decision, from runs with planted logits."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from strata import results
from strata.statistics import t_interval
from studies.mechanism.code import tables_accounts as accounts
from studies.mechanism.code.decision import votes
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.tables_accounts import Case
from studies.mechanism.planted_logits import ACCOUNTS, primes, profiles, recorded, shared_keys

LEVELS = ACCOUNTS.levels


def case(seed, cross=1.0, E: Any = "primes", generalised=True):
    """A run of n = 35 whose characters have this coefficient between classes."""
    rng, run = np.random.default_rng(seed), f"n35-s{seed}"
    y = primes(35, rng, cross)
    embedding = Embedding(run=run, n=35, architecture="transformer", finite=True, E=E)
    return Case(recorded(profiles(y), shared_keys(35), run), embedding, generalised)


def measures(*cases):
    return accounts.measures({x.logits.run: x for x in cases}, LEVELS)


def modulus(*cases):
    """What is said of the one modulus of these runs: counts, by id the verdict, and its runs."""
    rows = accounts.moduli(measures(*cases), LEVELS.fewest).to_dict("records")
    of = {x["id"]: (x["verdict"], x["counts"]) for x in rows}
    return {key: rows[0][key] for key in ("runs", "generalising")} | of


@pytest.fixture(scope="module")
def ten():
    return [case(seed) for seed in range(10)]


def test_a_modulus_is_called_from_its_runs_that_generalise(ten):
    row = modulus(*ten)
    assert (row["runs"], row["generalising"]) == (10, 10)
    assert row["logits"] == row["embedding"] == row["both"] == ("primes", "10 primes")
    row = modulus(*ten, case(10, cross=0.0, generalised=False))
    assert (row["runs"], row["generalising"], row["logits"][0]) == (11, 10, "primes")
    row = modulus(*ten, case(11, cross=0.0))
    assert row["logits"] == (results.UNDECIDED, "10 primes, 1 strata")
    assert modulus(*ten[:4])["logits"][0] == results.UNTESTED


def test_verdicts_that_differ_are_written_out():
    row = modulus(case(1, E="strata, own coordinates"))
    assert row["both"][1] == "1 primes in the logits, strata in the embedding"


def test_intervals_are_students_and_wider_where_they_hold_together(ten):
    frame = accounts.intervals(measures(*ten), 0.95).set_index("measure")
    values = [votes(x.logits, LEVELS).delta for x in ten]
    row: Any = frame.loc[accounts.WORDS["delta"]]
    assert np.allclose([row["low"], row["high"]], t_interval(values, 0.95) or ())
    nested = [row[x] for x in ("low_all", "low", "mean", "high", "high_all")]
    assert nested == sorted(set(nested))
    assert len(frame["high_all"].dropna()) == 2  # γ and Δ; these runs have no changes made
    assert not len(accounts.intervals(measures(ten[0]), 0.95))


def test_what_others_read_of_a_run_is_its_verdicts_and_its_numbers(ten):
    strata = case(1, E="strata, own coordinates")
    both = accounts.measures({"mine": ten[3], "x": strata}, LEVELS)
    rows = pd.DataFrame([*accounts.results(both)])
    assert results.verdicts(rows, "logits") == {"mine": "primes", "x": "primes"}
    assert results.verdicts(rows, "embedding") == {"mine": "primes", "x": "strata"}
    assert results.numbers(rows, "gating")["mine"] == votes(ten[3].logits, LEVELS).gating
    assert results.truths(rows, "mixing") == {"mine": False, "x": False}


def test_the_table_run_by_run_holds_what_was_measured(ten):
    rows = measures(*ten)
    assert np.allclose(rows["gating"].tolist(), 1) and all(rows["differ"].tolist())
    assert np.allclose(rows["tau"].tolist(), 1)


def test_a_control_that_agrees_with_an_account_is_named(ten):
    lookup = Case(recorded(profiles(np.eye(35)), shared_keys(35)), ten[0].embedding, False)
    models = accounts.measures({"trained": ten[0], "lookup": lookup}, LEVELS)
    rows = accounts.beside_controls(models, LEVELS).frame.set_index("model")
    assert rows.loc["trained", "L"] == rows.loc["trained", "E"] == "primes"
    assert "gating γ" in rows.loc["lookup", "agrees"]
