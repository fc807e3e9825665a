"""Published weights beside our runs, and the results of them that are shipped."""

import hashlib
import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade import run_metrics
from planted_logits import (
    ACCOUNTS,
    prime_table,
    prime_waves,
    profiles,
    recorded,
    scaled,
    shared_keys,
)

from ops import files
from strata import params, store
from strata.measure.metrics import Metrics
from strata.run import InputError, read_yaml
from strata.statistics import t_interval
from strata.tables import claims, headline
from strata.tables.printed import Printed
from studies.interventions.code.records import Interventions
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.study import Case, Choice
from studies.published.code.origin import Origin
from studies.seeds.code import beside_seeds
from studies.seeds.code.beside_seeds import Studied

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "paper" / "published"
PARAMS = params.load(ROOT / "params.yaml")
CHOICE = Choice(ACCOUNTS.levels, 0.99)
PRINTED = store.read_model(ROOT / "paper" / "printed_values.json", Printed)
ORIGIN = store.read_model(KEPT / "receipt.json", Origin)


def studied(seed: int, n: int = 35, validation: float = 1.0) -> Studied:
    """A run whose logits are those of primes; its metrics are made by hand."""
    rng, name = np.random.default_rng(seed), f"n{n}-s{seed}"
    about: Any = {"run": name, "n": n, "seed": seed, "architecture": "transformer"}
    y = scaled(prime_table(n, rng), prime_waves(n, rng))
    metrics = run_metrics(165, seed)
    right = metrics.accuracy.model_copy(update={"validation": validation})
    metrics = metrics.model_copy(update={"accuracy": right})
    case = Case(
        recorded(profiles(y), shared_keys(n), name), Embedding(**about, finite=True), metrics
    )
    return Studied(case, Interventions(**about, draws=1, classes=(1, 5, 7, 35), finite=False))


@pytest.fixture(scope="module")
def frame():
    runs = [studied(1), studied(2), studied(3), studied(4, validation=0.98), studied(5, n=15)]
    made = beside_seeds.tables(studied(9), runs, CHOICE, PARAMS)
    return {table.name: table.frame for table in made}


def test_beside_stand_the_runs_of_that_modulus_that_generalise(frame):
    accounts = frame["published-accounts"].set_index("measure")
    after = list(accounts.columns).index("among") + 1
    assert accounts.columns[after:].tolist() == ["n35-s1", "n35-s2", "n35-s3"]
    assert accounts.loc["verdict on the logits", "published"] == "primes"
    assert accounts.loc["verdict on the logits", "among"] == "3 primes"


def test_a_number_stands_beside_the_spread_of_ours(frame):
    accounts = frame["published-accounts"].set_index("measure")
    row: Any = accounts.loc["R² of S (strata)"]
    single = [row[f"n35-s{seed}"] for seed in (1, 2, 3)]
    assert len(set(single)) == 3 and np.isclose(row["mean"], np.mean(single))
    assert np.allclose([row["low"], row["high"]], t_interval(single, 0.95) or ())
    inside = min(single) - 5e-4 <= row["published"] <= max(single) + 5e-4
    assert (row["among"] == "within the seeds") == inside
    assert np.isclose(accounts.loc["gating γ", "published"], 1)


def test_no_measure_has_a_comma_for_the_figure_splits_there(frame):
    for name in ("published-accounts", "published-heads"):
        assert '"' not in frame[name].to_csv(index=False)


def test_the_numbers_of_the_paper_keep_their_rows_where_ours_are_of_another_modulus():
    theirs = studied(1)
    text = claims.of_text(theirs.case.metrics, PRINTED, PARAMS)
    classes = headline.class_claims(theirs.case.metrics, PRINTED)
    ours = {"runs": 10, "mean": 0.5, "low": 0.4, "high": 0.6, "min": 0.3, "max": 0.7}
    over = text.iloc[:1].assign(**ours), classes.assign(**ours)
    made = beside_seeds.numbers(theirs, over, PRINTED, PARAMS)
    assert [len(table.frame) for table in made] == [len(text), len(classes)]
    assert len(made[0].frame.dropna(subset="mean")) == 1
    known = made[1].frame.dropna(subset="paper")
    assert len(known) and np.allclose(
        known["published_difference"], known["published"] - known["paper"]
    )


def test_shipped_results_are_those_that_the_receipt_names():
    assert ORIGIN.results.keys() == {x.name for x in KEPT.iterdir()} - {"receipt.json"}
    for name, sha256 in ORIGIN.results.items():
        assert hashlib.sha256((KEPT / name).read_bytes()).hexdigest() == sha256
    steps = read_yaml(ROOT / "published" / "dvc.yaml")["stages"]
    for name, step in ORIGIN.steps.items():
        script = steps[name]["cmd"].partition(" python ")[2]
        assert step.cmd.endswith(script) and len(step.code) == 32
    runs = {json.loads((KEPT / x).read_text())["run"] for x in ORIGIN.results if x.endswith("json")}
    assert runs == {ORIGIN.run}


def test_a_result_that_is_not_the_receipt_s_is_refused(tmp_path):
    weights = runpy.run_path(str(ROOT / "studies" / "published" / "stages" / "published.py"))[
        "weights"
    ]
    folder = tmp_path / "results"
    assert weights(folder) == ""
    shutil.copytree(KEPT, folder)
    assert ORIGIN.sha256 in weights(folder)
    (folder / "logits.json").write_text("{}")
    with pytest.raises(InputError, match=r"logits\.json: is not what receipt\.json names"):
        weights(folder)


def test_the_weights_are_not_here_and_no_stage_at_the_top_asks_for_them():
    for stage in files.stages(ROOT).values():
        assert "checkpoint.pt" not in str(stage) and ORIGIN.file not in str(stage)
        assert not any(dep.startswith("published") for dep in stage["deps"])


def test_the_digits_of_tables_2_and_3_come_back_from_the_paper_s_weights():
    metrics = store.read_model(KEPT / "metrics.json", Metrics)
    frame = headline.class_claims(metrics, PRINTED).dropna(subset="paper")
    assert len(frame) == 17
    digits = np.where(frame["unit"] == "share", 3, 0)
    for row, decimals in zip(frame.to_dict("records"), digits, strict=True):
        assert np.isclose(round(row["ours"], decimals), row["paper"], atol=1e-9), row["claim"]
