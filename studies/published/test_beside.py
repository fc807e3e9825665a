"""Published weights beside our runs, and the results of them that are shipped."""

import hashlib
import json
import runpy
import shutil
from math import nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawing import check
from over_seeds import ALL, PRINTED, ROOT
from planted_runs import found, studied

from ops import files
from strata import store
from strata.inputs import InputError
from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS, Row
from strata.run import read_yaml
from strata.statistics import t_interval
from strata.tables import claims, headline
from studies.published.code import beside

KEPT = ROOT / "paper" / "published"
RECEIPT = store.read_json(KEPT / "receipt.json")
GATING = {"published": 1.0, "n35-s1": 0.9, "n35-s2": 1.1, "n35-s3": 0.95}


@pytest.fixture(scope="module")
def frame():
    keys = [(35, seed, "transformer") for seed in (1, 2, 3)]
    runs = [studied(key, gating=GATING[f"n35-s{key[1]}"]) for key in keys]
    failed = studied((35, 4, "transformer"), validation=0.98)
    every = [*runs, failed, studied((15, 5, "transformer")), studied((35, 1, "mlp"))]
    theirs = studied((35, 9, "transformer"))
    own = beside.seeds(theirs.metrics, [x.metrics for x in every])
    rows = [x._replace(run="published") for x in theirs.rows]
    mechanism = found([*every, theirs._replace(rows=rows)])
    routes = [Row(x, "lost-head-0", "head 0: skill lost", "", "share", 0.5) for x in GATING]
    for name in GATING:
        routes.append(Row(name, "routes-head-0", "head 0: routes by classes", verdict="no"))
        criterion, verdict = (name, "a-b", "a: b"), FAILS if name == "n35-s3" else HOLDS
        routes.append(Row(*criterion, "", "share", 0.5, verdict))
        numbers = (("against", nan), ("cases", 2), ("held", 1))
        routes += [Row(*criterion, measure, "count", x) for measure, x in numbers]
    changed = found([theirs._replace(rows=routes)])
    made = beside.tables(theirs.metrics, own, mechanism, changed, ALL.grid)
    return {table.name: table.frame for table in made}


def test_beside_stand_the_runs_of_that_modulus_and_kind_that_generalise(frame):
    row: Any = frame["published-accounts"].set_index("id").loc["logits"]
    assert (row["word"], row["words"], row["runs"]) == ("primes", "3 primes", 3)


def test_a_number_stands_beside_the_spread_of_ours(frame):
    row: Any = frame["published-accounts"].set_index("measure").loc["gating γ"]
    single = [0.9, 1.1, 0.95]
    assert [float(x) for x in row["values"].split()] == single
    assert np.isclose(row["mean"], np.mean(single)) and row["published"] == 1
    assert np.allclose([row["low"], row["high"]], t_interval(single, 0.95) or ())
    assert row["place"] == "within"


def test_attention_and_criteria_are_those_that_the_interventions_measured(frame):
    heads = frame["published-heads"].set_index("measure")
    assert heads.loc["head 0: routes by classes", "words"] == "3 no"
    assert heads.loc["head 0: skill lost", "mean"] == 0.5
    assert "head 0: class blocks" in heads.index
    [row] = frame["published-criteria"].to_dict("records")
    assert [row[x] for x in ("id", "held", "cases", "verdict")] == ["a-b", 1, 2, HOLDS]
    assert (row["runs"], row["passes"]) == (3, 2)


def test_the_figure_is_drawn_of_both_tables(frame, tmp_path, monkeypatch):
    given = {}
    for name in ("accounts", "heads"):
        given[name] = str(tmp_path / f"{name}.csv")
        store.write_text(given[name], frame[f"published-{name}"].to_csv(index=False))
    template = ROOT / "studies/published/notebooks/published-weights.ipynb"
    check(template, given, tmp_path, monkeypatch)


def test_the_numbers_of_the_paper_keep_their_rows_where_ours_are_of_another_modulus():
    theirs = studied((165, 1, "transformer")).metrics
    text = claims.of_text(theirs, PRINTED, ALL)
    classes = headline.class_claims(theirs, PRINTED)
    ours = {"runs": 10, "mean": 0.5, "low": 0.4, "high": 0.6, "min": 0.3, "max": 0.7}
    ours |= {"claim": "the same in other words"}
    over = text.iloc[:1].assign(**ours), classes.assign(**ours)
    made = beside.numbers(theirs, over, PRINTED, ALL)
    assert [len(table.frame) for table in made] == [len(text), len(classes)]
    assert [len(table.frame.dropna(subset="mean")) for table in made] == [1, len(classes)]
    known = made[1].frame.dropna(subset="paper")
    apart = known["published"] - known["paper"]
    assert len(known) and np.allclose(known["published_difference"], apart)


def test_shipped_results_are_those_that_the_receipt_names():
    assert RECEIPT["results"].keys() == {x.name for x in KEPT.iterdir()} - {"receipt.json"}
    for name, sha256 in RECEIPT["results"].items():
        assert hashlib.sha256((KEPT / name).read_bytes()).hexdigest() == sha256
    written = read_yaml(ROOT / "studies/published/weights/dvc.yaml")["stages"]["measure"]["cmd"]
    for ran, command in zip(RECEIPT["commands"], written, strict=True):
        assert command.partition("} ")[2].split()[0] in ran
    runs = {
        json.loads((KEPT / x).read_text())["run"] for x in RECEIPT["results"] if x.endswith("json")
    }
    assert runs == {RECEIPT["run"]}


def test_a_result_that_is_not_the_receipt_s_is_refused(tmp_path):
    script = ROOT / "studies" / "published" / "stages" / "published.py"
    weights = runpy.run_path(str(script))["weights"]
    folder = tmp_path / "results"
    assert weights(folder) == ""
    shutil.copytree(KEPT, folder)
    assert RECEIPT["sha256"] in weights(folder)
    (folder / "logits.json").write_text("{}")
    with pytest.raises(InputError, match=r"logits\.json: is not what receipt\.json names"):
        weights(folder)


def test_the_weights_are_not_here_and_no_stage_at_the_top_asks_for_them():
    for stage in files.stages(ROOT).values():
        assert "checkpoint.pt" not in str(stage) and RECEIPT["file"] not in str(stage)
        assert not any(dep.startswith("published") for dep in stage["deps"])


def test_the_digits_of_tables_2_and_3_come_back_from_the_paper_s_weights():
    metrics = store.read_model(KEPT / "metrics.json", Metrics)
    frame = headline.class_claims(metrics, PRINTED).dropna(subset="paper")
    assert len(frame) == 17
    digits = np.where(frame["unit"] == "share", 3, 0)
    for row, decimals in zip(frame.to_dict("records"), digits, strict=True):
        assert np.isclose(round(row["ours"], decimals), row["paper"], atol=1e-9), row["id"]


def test_classes_are_drawn_where_the_paper_prints_a_value_and_where_not(tmp_path, monkeypatch):
    columns = ["d", "measure", "unit", "paper", "published", "mean", "low", "high", "min", "max"]
    rows = [
        (1, "key frequencies", "count", 8, 8, 7.6, 6.8, 8.4, 6, 10),
        (5, "key frequencies", "count", None, 3, 2.5, 2.1, 2.9, 2, 3),
        (1, "R² of the character fit", "share", 0.7, 0.7, 0.8, 0.7, 0.9, 0.6, 0.9),
    ]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "classes.csv", index=False)
    given = {"classes": str(tmp_path / "classes.csv")}
    template = ROOT / "studies/published/notebooks/published-classes.ipynb"
    check(template, given, tmp_path, monkeypatch)
