"""Two accounts side by side: a dot for each run, modulus by modulus."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from strata.plots.base import FAINT, GREY, Axes, Number, style

WIDTH = 0.36  # of the dots of one kind, where kinds are 1 apart


def dots(
    ax: Axes,
    kinds: Sequence[Float[np.ndarray, " _"]],
    hollow: Sequence[Bool[np.ndarray, " _"]],
    label: str,
    look: int,
    shift: Number = 0.0,
) -> None:
    """The values of each kind of run around its place on the axis, in the order of the runs. Those
    of ``hollow`` are not filled."""
    at = [
        place + shift + WIDTH * (np.arange(len(x)) - (len(x) - 1) / 2) / max(len(x), 8)
        for place, x in enumerate(kinds)
    ]
    x, y, empty = map(np.concatenate, (at, kinds, hollow))
    line = style(look) | {"linestyle": "none", "markersize": 3.5}
    ax.plot(x[~empty], y[~empty], label=label, markeredgecolor="white", markeredgewidth=0.3, **line)
    ax.plot(x[empty], y[empty], markerfacecolor="white", markeredgewidth=0.8, **line)


def ceilings(ax: Axes, levels: Sequence[Number]) -> None:
    """A line over the place of each kind of run."""
    x = np.arange(len(levels))
    ax.hlines(levels, x - 0.42, x + 0.42, color="black", linewidth=1, label="ceiling")


def reference(ax: Axes, level: Number, text: str) -> None:
    """A line over all kinds, named at its right end."""
    ax.axhline(level, color=FAINT, linewidth=1, zorder=0)
    ax.annotate(
        text, (1, level), (3, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
        va="center", color=GREY, fontsize=8,
    )  # fmt: skip


def kinds(ax: Axes, names: Sequence[str]) -> None:
    """Name the kinds of run along the axis."""
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.tick_params(axis="x", length=0)


def strip(
    ax: Axes,
    names: Sequence[str],
    runs: Sequence[Float[np.ndarray, " _"]],
    marked: Sequence[Number],
    label: str,
) -> None:
    """A row for each measure, from the top: a dot for each run, a diamond for the one that is
    marked."""
    y = -np.arange(len(names))
    dot = {"linestyle": "none", "marker": "o", "color": GREY, "alpha": 0.6}
    for place, values in zip(y, runs, strict=True):
        ax.plot(values, np.full(len(values), place), markersize=3, **dot)
    ax.plot([], [], label="our runs", markersize=3, **dot)
    look = style(1) | {"linestyle": "none", "marker": "D", "markersize": 5}
    ax.plot(marked, y, label=label, markeredgecolor="white", markeredgewidth=0.4, **look)
    ax.set_yticks(y, names)
    ax.grid(axis="y", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
