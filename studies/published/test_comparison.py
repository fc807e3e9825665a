"""Published weights beside our runs, and the results of them that are shipped."""

import json
from math import nan
from typing import Any

import numpy as np
import pytest
from handmade import long_table, studied
from small import ALL, PRINTED, ROOT

from strata import store
from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS, Row
from strata.run import read_yaml
from strata.statistics import t_interval
from strata.tables import claims, headline
from studies.published.code import comparison

SHIPPED = ROOT / "paper" / "published"
RECEIPT = store.read_json(SHIPPED / "receipt.json")
GATING = {"published": 1.0, "n35-s1": 0.9, "n35-s2": 1.1, "n35-s3": 0.95}


@pytest.fixture(scope="module")
def frame():
    keys = [(35, seed, "transformer") for seed in (1, 2, 3)]
    runs = [studied(key, gating=GATING[f"n35-s{key[1]}"]) for key in keys]
    failed = studied((35, 4, "transformer"), validation=0.98)
    all_runs = [*runs, failed, studied((15, 5, "transformer")), studied((35, 1, "mlp"))]
    theirs = studied((35, 9, "transformer"))
    ours = comparison.comparable_runs(theirs.metrics, [x.metrics for x in all_runs])
    rows = [x._replace(run="published") for x in theirs.rows]
    mechanism = long_table([*all_runs, theirs._replace(rows=rows)])
    routes = [Row(x, "lost-head-0", "head 0: skill lost", "", "share", 0.5) for x in GATING]
    for name in GATING:
        routes.append(Row(name, "routes-head-0", "head 0: routes by classes", verdict="no"))
        criterion, verdict = (name, "a-b", "a: b"), FAILS if name == "n35-s3" else HOLDS
        routes.append(Row(*criterion, "", "share", 0.5, verdict))
        numbers = (("against", nan), ("cases", 2), ("held", 1))
        routes += [Row(*criterion, measure, "count", x) for measure, x in numbers]
    interventions = long_table([theirs._replace(rows=routes)])
    tables = comparison.tables(theirs.metrics, ours, mechanism, interventions, ALL.grid)
    return {table.name: table.frame for table in tables}


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


def test_the_numbers_of_the_paper_keep_their_rows_where_ours_are_of_another_modulus():
    theirs = studied((165, 1, "transformer")).metrics
    text = claims.text_claims(theirs, PRINTED, ALL)
    classes = headline.class_claims(theirs, PRINTED)
    ours = {"runs": 10, "mean": 0.5, "low": 0.4, "high": 0.6, "min": 0.3, "max": 0.7}
    ours |= {"claim": "the same in other words"}
    over = text.iloc[:1].assign(**ours), classes.assign(**ours)
    tables = comparison.numbers(theirs, over, PRINTED, ALL)
    assert [len(table.frame) for table in tables] == [len(text), len(classes)]
    assert [len(table.frame.dropna(subset="mean")) for table in tables] == [1, len(classes)]
    printed = tables[1].frame.dropna(subset="paper")
    difference = printed["published"] - printed["paper"]
    assert len(printed) and np.allclose(printed["published_difference"], difference)


def test_shipped_results_are_of_the_run_and_the_commands_that_the_receipt_names():
    assert RECEIPT["results"].keys() == {x.name for x in SHIPPED.iterdir()} - {"receipt.json"}
    written = read_yaml(ROOT / "studies/published/weights/dvc.yaml")["stages"]["measure"]["cmd"]
    for ran, command in zip(RECEIPT["commands"], written, strict=True):
        assert command.partition("} ")[2].split()[0] in ran
    runs = {
        json.loads((SHIPPED / x).read_text())["run"]
        for x in RECEIPT["results"]
        if x.endswith("json")
    }
    assert runs == {RECEIPT["run"]}


def test_the_digits_of_tables_2_and_3_come_back_from_the_paper_s_weights():
    metrics = store.read_model(SHIPPED / "metrics.json", Metrics)
    frame = headline.class_claims(metrics, PRINTED).dropna(subset="paper")
    assert len(frame) == 17
    digits = np.where(frame["unit"] == "share", 3, 0)
    for row, decimals in zip(frame.to_dict("records"), digits, strict=True):
        assert np.isclose(round(row["ours"], decimals), row["paper"], atol=1e-9), row["id"]
