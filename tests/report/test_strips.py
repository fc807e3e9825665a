"""The chart of a table over runs has each value where it belongs."""

import pandas as pd
import pytest

from report.code import strips


def spread(values, **about):
    """A row of a table over runs."""
    row = {"unit": "share", "mean": sum(values) / len(values), "low": min(values)}
    return about | row | {"high": max(values), "values": " ".join(map(str, values))}


def test_rows_of_one_measure_share_a_scale_from_zero():
    rows = [spread([0.1, 0.2, 0.4], n=165, d=3, measure="FVE")]
    rows += [spread([0.0, 0.3], n=154, d=3, measure="FVE"), spread([1.0], n=1, d=3, measure="x")]
    found = strips.chart(pd.DataFrame(rows))
    assert found and found["measures"] == {"FVE": ("0.0 %", "40.0 %"), "x": ("0.0 %", "100.0 %")}
    first, second, third = found["rows"].values()
    assert next(iter(found["rows"])) == "n = 165, J₃" and "FVE" not in third
    assert (first["FVE"]["runs"], second["FVE"]["runs"]) == ([25, 50, 100], [0, 75])
    assert (first["FVE"]["low"], first["FVE"]["high"], first["FVE"]["paper"]) == (25, 100, [])
    assert first["FVE"]["mean"] == pytest.approx(100 * 0.7 / 3 / 0.4, abs=0.01)


def test_a_claim_has_a_scale_of_its_own_with_the_papers_number_on_it():
    rows = [spread([8.0, 9.0], claim="key"), spread([100.0, 300.0], claim="epoch")]
    found = strips.chart(pd.DataFrame(rows).assign(unit="count", paper=[10.0, None]))
    assert found
    key, epoch = (own[""] for own in found["rows"].values())
    assert (key["runs"], key["paper"], key["ends"]) == ([0, 50], [100], ("8", "10"))
    assert (epoch["runs"], epoch["paper"], epoch["ends"]) == ([0, 100], [], ("100", "300"))


@pytest.mark.parametrize("frame", [pd.DataFrame({"n": [165]}), pd.DataFrame({"values": [None]})])
def test_a_table_without_values_of_single_runs_has_no_chart(frame):
    assert strips.chart(frame) is None
