"""The chart of a table over runs has each value where it belongs."""

import re

import pandas as pd
import pytest

from report.code import strips
from strata.tables import seeds

RUNS = {165: [0.1, 0.2, 0.4], 154: [0.0, 0.3]}


def spread(values, **about):
    """A row of a table over runs."""
    row = {"unit": "share", "mean": sum(values) / len(values), "low": min(values)}
    return about | row | {"high": max(values), "values": seeds.listed(values)}


def numbers(pattern, text):
    return [tuple(map(float, found)) for found in re.findall(pattern, text)]


@pytest.fixture
def table():
    rows = [spread(x, n=n, d=3, measure="FVE") for n, x in RUNS.items()]
    return pd.DataFrame([*rows, spread([0.4, 0.4], n=165, d=3, measure="a share of J_1")])


def test_each_run_is_a_dot_in_its_row_and_its_column_on_a_scale_from_zero(table):
    drawn = strips.chart(table)
    dots = numbers(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert len(dots) == 7
    (x1, y), (x2, _), (x4, _), (x0, below), (x3, _), *other = dots
    assert below == y + strips.ROW and {row for _, row in other} == {y}
    assert [x - x0 for x in (x1, x2, x3, x4)] == pytest.approx(
        [(x4 - x0) * k / 4 for k in (1, 2, 3, 4)], abs=0.2
    )
    assert min(x for x, _ in other) > x4
    assert ">n = 165, J₃</text>" in drawn and ">40.0 %</text>" in drawn
    assert 'class="paper"' not in drawn and "paper" not in drawn


def test_a_claim_has_a_scale_of_its_own_with_the_papers_number_on_it():
    rows = [spread([8.0, 9.0], claim="key"), spread([100.0, 300.0], claim="epoch")]
    table = pd.DataFrame(rows).assign(unit="count", paper=[10.0, None])
    drawn = strips.chart(table)
    low, high, *second = numbers(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)
    [(x, y)] = numbers(r'class="paper" x1="([\d.]+)" y1="([\d.]+)"', drawn)
    assert x - low[0] == pytest.approx(2 * (high[0] - low[0]), abs=0.2) and y < low[1]
    assert [at for at, _ in second] == [low[0], x]
    assert [f">{end}</text>" in drawn for end in (8, 10, 100, 300)] == [True] * 4


def test_words_of_a_table_stay_words():
    drawn = strips.chart(pd.DataFrame([spread([1.0, 2.0], claim="a <b> & c")]))
    assert "a &lt;b&gt; &amp; c" in drawn and "<b>" not in drawn


@pytest.mark.parametrize("frame", [pd.DataFrame({"n": [165]}), pd.DataFrame({"values": [None]})])
def test_a_table_without_values_of_single_runs_has_no_chart(frame):
    assert strips.chart(frame) == ""


def test_a_scale_with_both_signs_has_a_line_at_zero(table):
    assert 'class="axis" x1' in strips.chart(table)
    upright = r'class="axis" x1="([\d.]+)" y1="([\d.]+)" x2="\1" y2="([\d.]+)"'
    assert not numbers(upright, strips.chart(table))
    rows = [spread([-1.0, 0.0, 3.0], scope=scope, measure="R²") for scope in ("J3", "all residues")]
    drawn = strips.chart(pd.DataFrame(rows).assign(unit="index"))
    [(x, first, last)] = numbers(upright, drawn)
    dots = numbers(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)
    assert [at for at, _ in dots].count(x) == 2
    assert first < min(y for _, y in dots) < max(y for _, y in dots) < last
    assert ">J₃</text>" in drawn and ">all residues</text>" in drawn
