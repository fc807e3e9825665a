"""Draw measures over the epochs of a training."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.ticker import NullLocator

from strata.plots.base import COLORS, FAINT, GREY, MARKERS, Axes, Number, integer_ticks, name


def thousands(epoch: float) -> str:
    """Return an epoch in a few characters.

    >>> thousands(500.0), thousands(12500.0)
    ('500', '12.5k')
    """
    return f"{epoch / 1000:g}k" if epoch >= 1000 else f"{epoch:g}"


def epoch_axis(ax: Axes, last: Number) -> None:
    """Show epochs from 0 to the last, evenly spaced."""
    ax.set_xlim(0, last)
    ax.xaxis.set_major_locator(integer_ticks())
    ax.xaxis.set_major_formatter(lambda x, _: thousands(float(x)))


def progress(ax: Axes, epoch: np.ndarray, lines: Mapping[str, np.ndarray], log: bool) -> None:
    """Draw named lines over the epochs, and skip an epoch where one is not measured (NaN)."""
    looks = ((GREY, "-"), (COLORS[0], "-"), (COLORS[1], "--"))
    for (label, values), (color, line) in zip(lines.items(), looks, strict=False):
        drawn = np.isfinite(values) & ((values > 0) | (not log))
        marker = "o" if drawn.sum() < 3 else None
        ax.plot(epoch[drawn], values[drawn], line, color=color, marker=marker, label=label, lw=1)
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
    if len(lines) > 1:
        ax.legend(loc="lower right")


def arrivals(
    ax: Axes,
    d: Sequence[int],
    compositions: Sequence[str],
    times: Mapping[str, Float[np.ndarray, " classes"]],
) -> None:
    """Draw a row for each class with a mark at the epoch of each measure. Rows of composite classes
    are shaded and say what they are made of. A measure without an epoch (NaN) has no mark."""
    y = np.arange(len(d))
    for row, factors in zip(y.tolist(), compositions, strict=True):
        if factors:
            ax.axhspan(row - 0.5, row + 0.5, color=FAINT, linewidth=0, zorder=0)
            side = ax.get_yaxis_transform()
            ax.text(0.02, row, factors, transform=side, va="center", fontsize=7, zorder=1)
    for i, (label, epochs) in enumerate(times.items()):
        lift = 0.22 * (i - (len(times) - 1) / 2)
        look: Any = {"color": COLORS[i], "marker": MARKERS[i], "markeredgecolor": "white"}
        ax.plot(epochs, y + lift, linestyle="none", markeredgewidth=0.3, label=label, **look)
    for row in y[1:]:
        ax.axhline(row - 0.5, color=GREY, linewidth=0.2, zorder=0)
    ax.set_yticks(y, [name(i) for i in d])
    ax.set_ylim(len(d) - 0.5, -0.5)
    marked = (epochs[np.isfinite(epochs)].tolist() for epochs in times.values())
    latest = max(chain.from_iterable(marked), default=0)
    epoch_axis(ax, 1.06 * latest or 1)
