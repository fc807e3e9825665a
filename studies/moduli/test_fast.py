"""Networks that are trained in minutes are counted beside full ones of their modulus."""

import pandas as pd
import pytest

from strata.results import FAILS, HOLDS, UNDECIDED, Row
from studies.moduli.code import fast


def rows(verdicts: dict[str, tuple[float, str]]) -> pd.DataFrame:
    """Return the measures of networks with these accuracies and verdicts on votes."""
    lines = []
    for run, (right, verdict) in verdicts.items():
        lines += [
            Row(run, "whole", "", "right", "accuracy", right),
            Row(run, "votes", "", "", "truth", float("nan"), verdict),
            Row(run, "votes-share", "", "", "share", right / 2, HOLDS),
        ]
    return pd.DataFrame(lines, columns=Row._fields)


def test_only_networks_that_generalise_are_asked_for_votes():
    quickly = rows({
        "fast-n15-s1": (1.0, HOLDS), "fast-n15-s2": (0.98, HOLDS), "fast-n15-s3": (0.99, FAILS),
        "fast-n33-s1": (0.5, HOLDS),
    })  # fmt: skip
    full = rows({
        "n15-s1": (1.0, HOLDS), "n15-s2": (1.0, UNDECIDED), "mlp-n15-s1": (1.0, HOLDS),
        "n35-s1": (1.0, HOLDS), "untrained": (1.0, HOLDS),
    })  # fmt: skip
    epochs = dict(zip(quickly["run"].unique(), (900, 1100, 1500, 4000), strict=True))
    frame = fast.table(quickly, epochs, full, 0.99).frame
    of_15, of_33, total = frame.to_dict("records")
    assert (of_15["n"], of_33["n"]) == (15, 33) and pd.isna(total["n"])
    assert [of_15[f"fast {x}"] for x in fast.COUNTED] == [3, 2, 1]
    assert [of_15[f"full {x}"] for x in fast.COUNTED] == [2, 2, 1]
    assert [of_33[f"fast {x}"] for x in fast.COUNTED] == [1, 0, 0]
    assert [total[f"fast {x}"] for x in fast.COUNTED] == [4, 2, 1]
    assert of_15["epochs"] == 1100 and total["epochs"] == 1300
    assert of_15["fast share"] == pytest.approx((0.5 + 0.495) / 2) and pd.isna(of_33["fast share"])
