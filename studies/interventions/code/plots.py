"""Panels of the interventions, each drawn on the Axes it is given."""

from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from strata.monoid import JClass, axis_size
from strata.plots.base import COLORS, GREY, RED, Axes, AxesImage, Number, heat


def numbers(
    ax: Axes, values: Float[np.ndarray, "rows columns"], rows: Sequence[str], columns: Sequence[str]
) -> AxesImage:
    """Draw a table of shares, each number on its colour; NaN stays empty."""
    drawn = heat(ax, values, (0, 1), "viridis")
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_xticks(range(len(columns)), list(columns))
    ax.tick_params(length=0)
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            color = "white" if value < 0.6 else "black"
            text = f"{100 * value:.0f}".replace("-0", "0").replace("-", "−")
            ax.text(j, i, text, ha="center", va="center", fontsize=8, color=color)
    return drawn


def damage(
    ax: Axes,
    lost: Float[np.ndarray, "count count"],
    title: str,
    framed: int | None = None,
    predicted: Bool[np.ndarray, "count count"] | None = None,
) -> AxesImage:
    """Draw what is lost, 0 to 1, by (class of a, class of b); class ``framed`` has a frame, dots
    stand where loss is ``predicted``."""
    drawn = heat(ax, lost, (0, 1), "magma_r", aspect="equal")
    ax.set(xticks=[], yticks=[])
    ax.set_title(title)
    if framed is not None:
        for line in (ax.axhline, ax.axvline):
            for edge in (framed - 0.5, framed + 0.5):
                line(edge, color=RED, linewidth=1)
    if predicted is not None:
        y, x = np.nonzero(predicted)
        ax.plot(x, y, "o", color="white", markeredgecolor="black", markersize=3, linestyle="none")
    return drawn


def room_above_chance(
    n: int, d: Sequence[int], axis: int | None
) -> Float[np.ndarray, "count count"]:
    """Return 1 − chance, by (class of a, class of b); 1 where chance is always right.

    Chance is a random element of the class of ab or, for the axis of a prime, a random place on it.
    It is always right where there is one element, or the product has no such axis.
    """

    def places(x: int, y: int) -> int:
        J = JClass(n, gcd(x * y, n))
        return len(J) if axis is None else axis_size(J.m, axis)

    count = np.array([[places(x, y) for y in d] for x in d])
    return np.where(count > 1, 1 - 1 / count, 1.0)


def bars(
    ax: Axes, names: Sequence[str], values: Mapping[str, Sequence[Number]], level: Number
) -> None:
    """Draw shares in percent side by side, from the top down; NaN has no bar."""
    height = 0.8 / len(values)
    for i, (label, shares) in enumerate(values.items()):
        color = (COLORS[0], GREY)[i]
        y = np.arange(len(names)) + height * (i - (len(values) - 1) / 2)
        ax.barh(y, 100 * np.array(shares), height, color=color, label=label)
    ax.axvline(
        100 * level,
        color=GREY,
        linestyle=":",
        linewidth=0.8,
        label=f"asked for: {100 * level:.0f} %",
    )
    ax.set_yticks(range(len(names)), list(names))
    ax.set(xlim=(0, 100), ylim=(len(names) - 0.5, -0.5))


def square(
    trials: Sequence[Mapping[str, Any]], d: Sequence[int]
) -> Float[np.ndarray, "count count"]:
    """Return the success by (class of a, class that it is to act as); NaN where no trial is."""
    success = np.full((len(d), len(d)), np.nan)
    for x in trials:
        success[d.index(x["source"]), d.index(x["target"])] = x["success"]
    return success
