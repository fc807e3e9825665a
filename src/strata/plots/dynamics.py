"""Measures over the epochs of a training."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.ticker import NullLocator

from strata.plots.base import COLORS, FAINT, GREY, MARKERS, Axes, Number, name, whole


def thousands(epoch: float) -> str:
    """An epoch in a few characters.

    >>> thousands(500.0), thousands(12500.0)
    ('500', '12.5k')
    """
    return f"{epoch / 1000:g}k" if epoch >= 1000 else f"{epoch:g}"


def evenly(ax: Axes, last: Number) -> None:
    """Epochs from 0 to the last, evenly spaced."""
    ax.set_xlim(0, last)
    ax.xaxis.set_major_locator(whole())
    ax.xaxis.set_major_formatter(lambda x, _: thousands(float(x)))


def progress(ax: Axes, epoch: np.ndarray, lines: Mapping[str, np.ndarray], log: bool) -> None:
    """Named lines over the epochs; an epoch where one is not measured (NaN) is passed over."""
    looks = ((GREY, "-"), (COLORS[0], "-"), (COLORS[1], "--"))
    for (label, values), (color, line) in zip(lines.items(), looks, strict=False):
        seen = np.isfinite(values) & ((values > 0) | (not log))
        marker = "o" if seen.sum() < 3 else None
        ax.plot(epoch[seen], values[seen], line, color=color, marker=marker, label=label, lw=1)
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
    if len(lines) > 1:
        ax.legend(loc="lower right")


def arrivals(
    ax: Axes,
    d: Sequence[int],
    made_of: Sequence[str],
    times: Mapping[str, Float[np.ndarray, " classes"]],
) -> None:
    """A row for each class with a mark at the epoch of each measure; rows of composite classes are
    shaded and say what they are made of. A measure without an epoch (NaN) has no mark."""
    y = np.arange(len(d))
    for row, factors in zip(y.tolist(), made_of, strict=True):
        if factors:
            ax.axhspan(row - 0.5, row + 0.5, color=FAINT, linewidth=0, zorder=0)
            side = ax.get_yaxis_transform()
            ax.text(0.02, row, factors, transform=side, va="center", fontsize=7, zorder=1)
    for i, (label, at) in enumerate(times.items()):
        lift = 0.22 * (i - (len(times) - 1) / 2)
        look: Any = {"color": COLORS[i], "marker": MARKERS[i], "markeredgecolor": "white"}
        ax.plot(at, y + lift, linestyle="none", markeredgewidth=0.3, label=label, **look)
    for row in y[1:]:
        ax.axhline(row - 0.5, color=GREY, linewidth=0.2, zorder=0)
    ax.set_yticks(y, [name(i) for i in d])
    ax.set_ylim(len(d) - 0.5, -0.5)
    latest = max((x for at in times.values() for x in at[np.isfinite(at)].tolist()), default=0)
    evenly(ax, 1.06 * latest or 1)
