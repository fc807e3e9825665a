"""Draw measures of many runs beside those of one that is marked."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from strata.plots.base import FAINT, GREY, Axes, Number, style


def strip(
    ax: Axes,
    names: Sequence[str],
    runs: Sequence[Float[np.ndarray, " _"]],
    marked: Sequence[Number],
    label: str,
) -> None:
    """Draw a row for each measure, from the top, with a dot for each run and a diamond for the
    marked one."""
    y = -np.arange(len(names))
    dot = {"linestyle": "none", "marker": "o", "color": GREY, "alpha": 0.6}
    for height, values in zip(y, runs, strict=True):
        ax.plot(values, np.full(len(values), height), markersize=3, **dot)
    ax.plot([], [], label="our runs", markersize=3, **dot)
    look = style(1) | {"linestyle": "none", "marker": "D", "markersize": 5}
    ax.plot(marked, y, label=label, markeredgecolor="white", markeredgewidth=0.4, **look)
    ax.set_yticks(y, names)
    ax.grid(axis="y", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
