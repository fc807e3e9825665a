"""What is drawn of training dynamics is what was measured."""

import numpy as np
import pandas as pd

from strata.plots import base, dynamics

EPOCHS = [0, 10, 100]
FALLING = pd.Series([1.0, 0.1, 0.0], index=EPOCHS)
ZERO = pd.Series([0.0, 0.0, 0.0], index=EPOCHS)


def lines(ax) -> list[list[tuple[float, float]]]:
    """The points of each line that has a label."""
    drawn = (line for line in ax.lines if not str(line.get_label()).startswith("_"))
    return [list(zip(*(np.array(x).tolist() for x in line.get_data()), strict=True))
            for line in drawn]  # fmt: skip


def test_a_class_has_a_mark_at_each_of_its_epochs_and_none_where_it_has_none():
    _, (ax,) = base.figure()
    times = {"FVE": np.array([np.nan, 300.0]), "R²": np.array([100.0, 200.0])}
    dynamics.arrivals(ax, [15, 1], ["", "made of J_15"], times)
    marks = [[(x, round(y)) for x, y in own if np.isfinite(x)] for own in lines(ax)]
    assert marks == [[(300, 1)], [(100, 0), (200, 1)]]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first class on top
    shaded = [patch.get_extents().height for patch in ax.patches]
    assert len(shaded) == 1
    assert [(x.get_text(), x.get_position()[1]) for x in ax.texts] == [("made of J_15", 1)]
