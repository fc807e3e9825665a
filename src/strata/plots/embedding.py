"""Draw classes in the embedding: its dimensions, its angles to a head, clouds of its elements."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped
from matplotlib.ticker import NullLocator

from strata.plots.base import COLORS, FAINT, GREY, Axes, Number, integer_ticks, name, owner, style


def components(
    ax: Axes, names: Sequence[str], counts: Sequence[int], random: Sequence[tuple[Number, Number]]
) -> None:
    """Draw the components that each class needs, solid, and those of random sets of its size,
    dashed, mean ± std."""
    x, (mean, std) = np.arange(len(names)), np.array(random).T
    look = {"color": GREY, "linestyle": "--", "marker": "s", "capsize": 2}
    ax.errorbar(x, mean, std, label="as many random elements, ± std", **look)
    ax.plot(x, counts, color=COLORS[0], marker="o", label="the class", zorder=3)
    ax.set_xticks(x, names)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(integer_ticks())
    ax.legend()


def cosines(
    ax: Axes, lines: Mapping[int, Sequence[Number]], key: Mapping[int, int], threshold: Number
) -> None:
    """Draw the cosines of the principal angles of each class, largest first, against the threshold.

    A ring on the line of a class marks its key[d]-th direction.
    """
    for i, (d, values) in enumerate(lines.items()):
        text, look = f"{name(d)} ({key[d]})", style(i)
        ax.plot(np.arange(1, len(values) + 1), values, label=text, **look)
        if 0 < key[d] <= len(values):
            ax.plot(key[d], values[key[d] - 1], "o", ms=8, mfc="none", mec=look["color"])
    ax.axhline(threshold, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
    across = ax.get_yaxis_transform()
    ax.text(0.99, threshold, "aligned from here up", transform=across, ha="right", va="bottom")
    ax.set_ylim(-0.03, 1.05)
    ax.xaxis.set_major_locator(integer_ticks())


def by_size(
    ax: Axes,
    size: np.ndarray,
    value: np.ndarray,
    chance: np.ndarray,
    kinds: Mapping[str, np.ndarray],
    hollow: np.ndarray,
) -> None:
    """Draw one mark a class against its number of elements, kind by kind, joined to that of chance.

    Marks of ``hollow`` are not filled. Classes of one size stand side by side.
    """
    size = dodge(size)
    ax.vlines(size, chance, value, color=FAINT, linewidth=0.8, zorder=0)
    ax.plot(size, chance, "_", color=GREY, markersize=5, label="chance")
    for i, (label, members) in enumerate(kinds.items()):
        look = style(i) | {"linestyle": "none"}
        edge: Any = {"markeredgecolor": "white", "markeredgewidth": 0.3}
        ax.plot(size[members & ~hollow], value[members & ~hollow], label=label, **look | edge)
        edge = {"markerfacecolor": "white", "markeredgewidth": 0.8}
        ax.plot(size[members & hollow], value[members & hollow], **look | edge)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())


def dodge(size: Shaped[np.ndarray, " classes"]) -> Float[np.ndarray, " classes"]:
    """Return sizes for a logarithmic axis, with equal ones a little apart, around their value.

    >>> dodge(np.array([4, 30, 4, 4, 30])).round(2).tolist()
    [3.88, 29.55, 4.0, 4.12, 30.45]
    """
    positions = size.astype(float)
    for x in np.unique(size):
        equal = np.flatnonzero(size == x)
        steps = np.arange(len(equal)) - (len(equal) - 1) / 2
        positions[equal] *= np.exp(min(0.03, 0.3 / len(equal)) * steps)
    return positions


def oblique(ax: Axes, elevation: Number, azimuth: Number) -> Axes:
    """Put Axes with three dimensions, seen from an angle, in the place of these."""
    fig, subplot = owner(ax), ax.get_subplotspec()
    ax.remove()
    solid = fig.add_subplot(subplot, projection="3d", elev=elevation, azim=azimuth)
    solid.set_box_aspect((1, 1, 0.8), zoom=0.88)  # pyright: ignore
    for i, axis in enumerate("xyz", 1):
        solid.set(**{f"{axis}ticklabels": []})
        getattr(solid, f"set_{axis}label")(f"PC {i}", labelpad=-10)
    return solid


def scatter(ax: Axes, points: np.ndarray, members: Mapping[int, np.ndarray]) -> None:
    """Draw rows of points in two or three dimensions, those of each class d in its colour and
    marker."""
    for i, (d, rows) in enumerate(members.items()):
        look = style(i) | {"linestyle": "none", "markersize": 3.8, "label": name(d)}
        ax.plot(*points[rows].T, markeredgecolor="white", markeredgewidth=0.3, **look)
