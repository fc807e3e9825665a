"""Two accounts side by side: every run has its dot at its own height."""

import numpy as np

from strata.plots import accounts, base


def test_every_run_has_a_dot_at_its_value_around_its_kind():
    fig, (ax,) = base.figure()
    kinds = [np.array([0.2, 0.4, 0.6]), np.array([0.5])]
    hollow = [np.array([False, True, False]), np.array([False])]
    accounts.dots(ax, kinds, hollow, "S", look=0, shift=0.2)
    accounts.ceilings(ax, [0.9, 0.8])
    accounts.kinds(ax, ["165", "154"])
    filled, empty = (np.array(line.get_xydata()) for line in ax.lines)
    assert filled[:, 1].tolist() == [0.2, 0.6, 0.5] and empty[:, 1].tolist() == [0.4]
    x = np.append(filled[:2, 0], empty[:, 0])
    assert np.isclose(x.mean(), 0.2) and np.isclose(filled[2, 0], 1.2)
    assert len(set(x.tolist())) == 3
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["165", "154"]
    fig.draw_without_rendering()
