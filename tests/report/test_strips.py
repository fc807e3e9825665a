"""The chart of a table over runs has each value where it belongs."""

import re

import pandas as pd
import pytest

from report.code import strips


def spread(values, **about):
    """A row of a table over runs."""
    row = {"unit": "share", "mean": sum(values) / len(values), "low": min(values)}
    return about | row | {"high": max(values), "values": " ".join(map(str, values))}


def numbers(pattern, text):
    return [tuple(map(float, found)) for found in re.findall(pattern, text)]


def dots(drawn):
    return numbers(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)


def test_rows_of_one_measure_share_a_scale_from_zero():
    rows = [spread([0.1, 0.2, 0.4], n=165, d=3, measure="FVE")]
    rows += [spread([0.0, 0.3], n=154, d=3, measure="FVE"), spread([1.0], n=1, d=3, measure="x")]
    drawn = strips.chart(pd.DataFrame(rows))
    (x1, y), (x2, _), (x4, same), (x0, below), (x3, _), other = dots(drawn)
    assert (same, below) == (y, y + strips.ROW) and other[0] > x4
    steps = [(x4 - x0) * k / 4 for k in (1, 2, 3, 4)]
    assert [x - x0 for x in (x1, x2, x3, x4)] == pytest.approx(steps, abs=0.2)
    assert ">n = 165, J₃</text>" in drawn and ">40.0 %</text>" in drawn
    assert 'class="paper"' not in drawn


def test_a_claim_has_a_scale_of_its_own_with_the_papers_number_on_it():
    rows = [spread([8.0, 9.0], claim="key"), spread([100.0, 300.0], claim="epoch")]
    drawn = strips.chart(pd.DataFrame(rows).assign(unit="count", paper=[10.0, None]))
    low, high, *second = dots(drawn)
    [(x, y)] = numbers(r'class="paper" x1="([\d.]+)" y1="([\d.]+)"', drawn)
    assert x - low[0] == pytest.approx(2 * (high[0] - low[0]), abs=0.2) and y < low[1]
    assert [at for at, _ in second] == [low[0], x]


def test_words_of_a_table_stay_words():
    drawn = strips.chart(pd.DataFrame([spread([1.0, 2.0], claim="a <b> & c")]))
    assert "a &lt;b&gt; &amp; c" in drawn and "<b>" not in drawn


@pytest.mark.parametrize("frame", [pd.DataFrame({"n": [165]}), pd.DataFrame({"values": [None]})])
def test_a_table_without_values_of_single_runs_has_no_chart(frame):
    assert strips.chart(frame) == ""
