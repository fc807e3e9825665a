"""Draw where classes meet along an axis, and name them."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.patheffects import Normal, Stroke
from matplotlib.transforms import ScaledTranslation
from scipy.optimize import isotonic_regression

from strata.plots.base import Axes, Number, name, owner


def edge(ax: Axes, at: Number, axis: Literal["x", "y"], width: Number = 0.6) -> None:
    """Draw a line of white dashes over black across the panel, to be seen on every colour."""
    solid = Stroke(foreground="black", dashes={"dash_offset": 0, "dash_list": None})
    line = ax.axhline if axis == "y" else ax.axvline
    look: Any = {"color": "white", "linestyle": (0, (4, 4)), "linewidth": width}
    line(at, path_effects=[solid, Normal()], **look)


def class_axis(
    ax: Axes,
    d: Sequence[int],
    sizes: Sequence[int],
    axis: Literal["x", "y"],
    gap: Number = 0.085,
    named: bool = True,
) -> None:
    """Draw dashed lines where classes meet, thinner for many, and the name of each class outside,
    with a line to its middle.

    Names are at least gap (a share of the axis) apart; where that leaves no room for all, the
    smallest classes have none.
    """
    ends = np.cumsum(sizes).tolist()
    for end in ends[:-1]:
        edge(ax, end - 0.5, axis, min(0.6, 7 / len(sizes)))
    (ax.yaxis if axis == "y" else ax.xaxis).set_ticks([])
    labelled = np.sort(np.argsort(sizes, kind="stable")[::-1][: int(1 / gap)]) if named else []
    middles = [ends[i] - (sizes[i] + 1) / 2 for i in labelled]
    for i, at, label_at in zip(
        labelled, middles, spread_out(middles, gap * ends[-1], ends[-1]), strict=True
    ):
        _write_outside(ax, name(d[i]), at, label_at, axis)


def spread_out(positions: Sequence[Number], gap: Number, end: Number) -> list[float]:
    """Return the places nearest to these, in their order, at least gap apart, from −0.5 to end −
    0.5.

    >>> spread_out([3, 20, 40], 5, 50), spread_out([10, 20, 21, 22], 2, 50)
    ([3.0, 20.0, 40.0], [10.0, 19.0, 21.0, 23.0])
    >>> spread_out([10, 48, 49], 4, 50), spread_out([], 4, 50)
    ([10.0, 45.5, 49.5], [])
    """
    steps = gap * np.arange(len(positions))
    if not len(positions):
        return []
    fitted = isotonic_regression(np.array(positions) - steps).x
    return (np.clip(fitted, -0.5, max(end - 0.5 - steps[-1], -0.5)) + steps).tolist()


def _write_outside(
    ax: Axes, text: str, at: Number, label_at: Number, axis: Literal["x", "y"]
) -> None:
    """Write a word outside the Axes, left or below, with a line from ``label_at`` to ``at`` on
    the axis."""
    down, inch = axis == "x", owner(ax).dpi_scale_trans
    across = ax.get_xaxis_transform() if down else ax.get_yaxis_transform()
    away = ScaledTranslation(*((0, -0.1) if down else (-0.1, 0)), inch)
    ax.annotate(
        text, (at, 0) if down else (0, at), (label_at, 0) if down else (0, label_at),
        xycoords=across, textcoords=across + away, fontsize=8, rotation=90 if down else 0,
        ha="center" if down else "right", va="top" if down else "center",
        arrowprops={"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0, "relpos":
            (0.5, 1) if down else (1, 0.5)},
    )  # fmt: skip
    (ax.xaxis if down else ax.yaxis).labelpad = 24
