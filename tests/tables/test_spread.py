"""Tables over seeds: each statistic that of the values, each run where it belongs."""

import numpy as np
import pandas as pd
import pytest
from handmade import run_metrics
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from small import ALL, PRINTED

from strata.statistics import t_interval, welch
from strata.tables import spread

GRID = ALL.grid


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_statistics_are_those_of_the_values(values):
    row, x = spread.spread(values, GRID, "count"), np.array(values)
    assert row["runs"] == len(values)
    assert (row["mean"], row["min"], row["max"]) == (x.mean(), x.min(), x.max())
    if len(values) > 1:
        assert row["std"] == pytest.approx(np.std(x, ddof=1), abs=1e-6)
        interval = (row["low"], row["high"])
        assert interval == t_interval(values, GRID.confidence)


@pytest.mark.parametrize("std", [0.0, 0.6])
def test_welchs_p_is_the_larger_of_those_with_either_divisor(std):
    ours, paper = [9, 10, 10, 11, 12, 10, 9, 13], np.array([-1.0, 1] * 5) * std + 8.0
    assert paper.std() == pytest.approx(std)
    p_value = welch(ours, 8.0, std)
    # Against values that do not vary, Welch's test is that of one sample; paper.std() divides by n.
    others = [paper, 8.0 + (paper - 8.0) * 0.9**0.5]  # the second has this std with divisor n − 1
    assert others[1].std(ddof=1) == pytest.approx(std)
    tests = [stats.ttest_ind(ours, x, equal_var=False) for x in others if std]
    tests += [stats.ttest_1samp(ours, 8.0)] * (not std)
    assert p_value == pytest.approx(max(getattr(x, "pvalue") for x in tests))  # noqa: B009
    assert welch([8, 8, 8], 8.0, 0.0) is None and welch([9], 8.0, 1.0) is None


def test_missing_values_do_not_count():
    expected = spread.spread([2.0, 4.0], GRID, "count")
    assert spread.spread([None, 2.0, None, 4.0], GRID, "count") == expected
    assert spread.spread([None], GRID, "count") == dict.fromkeys(spread.STATISTICS) | {"runs": 0}
    one = spread.spread([7.0], GRID, "count")
    assert (one["runs"], one["mean"], one["std"], one["low"]) == (1, 7.0, None, None)


def test_table_5_has_ten_seeds_of_four_moduli_beside_the_papers_numbers():
    ten = [run_metrics(n, seed) for n in (165, 143, 113, 154, 35) for seed in range(1, 11)]
    other, *rows = spread.pca(ten, PRINTED, GRID).to_dict("records")
    assert other["n"] == 35 and pd.isna(other["paper_mean"])
    assert [row["n"] for row in rows] == [113, 143, 154, 165]
    for row in rows:
        assert (row["runs"], row["of"], row["mean"]) == (10, 10, 13.5)
        assert (row["min"], row["max"]) == (9, 18)
        assert row["std"] == pytest.approx(np.std(range(9, 19), ddof=1))
        assert row["low"] < 13.5 < row["high"] and row["fve"] == pytest.approx(0.96)
        paper = PRINTED.table_pca_across_10_seeds[row["n"]]
        printed = [row[f"paper_{name}"] for name in ("mean", "std", "min", "max")]
        assert printed == [paper.mean, paper.std, paper.min, paper.max]
        assert row["paper_fve"] == pytest.approx(paper.mean_fve_percent / 100)


@pytest.mark.parametrize(
    ("relation", "paper", "values", "verdict", "agree"),
    [
        ("=", 5.0, [4, 6], "within", None),
        ("=", 4.0, [4, 6], "within", None),
        ("=", 3.0, [4, 6], "below", None),
        ("=", 7.0, [4, 6], "above", None),
        ("<", 0.5, [0.4, 0.5, 0.6], "fails", 1),
        ("<", 0.5, [0.4, 0.6], "fails", 1),
        (">", 0.5, [0.4, 0.55, 0.6], "holds", 2),
        ("", 0.5, [0.5], None, None),
        ("=", float("nan"), [0.5], None, None),
        ("=", 0.5, [float("nan")], None, None),
    ],
)
def test_verdicts(relation, paper, values, verdict, agree):
    placed = spread.place(relation, paper, np.array(values, dtype=float), "count")
    assert placed == {"verdict": verdict, "agree": agree}


def test_a_printed_share_is_no_more_exact_than_its_digits():
    ours = np.array([0.9996, 0.9998])
    assert spread.place("=", 1.0, ours, "share")["verdict"] == "within"
    assert spread.place("=", 1.0, ours, "ratio")["verdict"] == "above"
    assert spread.place("=", 1.0, ours - 0.001, "share")["verdict"] == "above"


def test_a_run_is_compared_over_seeds_or_extends_the_moduli_or_is_of_a_variant():
    names = ["n165-s3", "mlp-n113-s1", "n121-s1", "mlp-n121-s1", "d64-n165-s1", "n165-s1-w2"]
    assert [name for name in names if GRID.compares(name)] == names[:2]
    assert [name for name in names if GRID.extends(name)] == names[2:4]
