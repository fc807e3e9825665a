"""Figures of the mechanism, drawn on the Axes that they are given."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from strata.plots import palette
from strata.plots.base import Axes
from strata.results import FAILS, HOLDS, UNDECIDED

VERDICTS = {
    HOLDS: palette.HOLDS[0],
    UNDECIDED: palette.UNDECIDED[0],
    FAILS: palette.FAILS[0],
}
OUTLINE = withStroke(linewidth=1.1, foreground=palette.HOLDS[0])


def ballot(
    ax: Axes, scores: Float[np.ndarray, " n"], p: int, colour: str, most: float, answer: int
) -> None:
    """The candidates as a grid: in the row of each remainder modulo p, in the column of that modulo
    n/p; darker is more, nothing below 0. The answer is framed."""
    n, c = len(scores), np.arange(len(scores))
    cells = np.zeros((p, n // p))
    cells[c % p, c % (n // p)] = np.clip(scores / (most or 1), 0, 1)
    shades = LinearSegmentedColormap.from_list("votes", ("#f5f6f7", colour))
    ax.pcolormesh(cells, cmap=shades, vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    at = answer % (n // p), answer % p
    ax.add_patch(Rectangle(at, 1, 1, fill=False, edgecolor="black", linewidth=1.2, clip_on=False))
    ax.set(ylim=(p, 0), aspect="equal")
    ax.set_axis_off()


def verdicts(
    ax: Axes,
    sentences: Sequence[str],
    by_run: pd.DataFrame,
    group: pd.Series,
    parts: Mapping[str, Sequence[str]],
) -> None:
    """A bar for each statement, a column of `by_run`, in each group of models, its rows: for what
    share of those with a verdict it holds, is undecided, or does not hold; with how many hold.
    Groups stand part by part."""
    names, y = [], np.arange(len(sentences))
    for place, name in enumerate(name for part in parts.values() for name in part):
        own = by_run[group == name]
        known, left = (own != "").sum().to_numpy(), np.full(len(sentences), place - 0.44)
        for verdict, colour in VERDICTS.items():
            count = (own == verdict).sum().to_numpy()
            width = 0.88 * count / np.maximum(known, 1)
            ax.barh(y, width, 0.7, left, color=colour, label="" if place else verdict)
            left = left + width
        for row, (holds, of) in enumerate(zip((own == HOLDS).sum(), known, strict=True)):
            if of:  # an outline, as the end of a bar may lie below
                text = ax.text(place, row, f"{holds}/{of}", ha="center", va="center", color="white")
                text.set_path_effects([OUTLINE])
        names.append(f"{name} ({len(own)})")
    start = -0.5
    for part, some in parts.items():
        if start > -0.5 and some:
            ax.axvline(start, color="black", linewidth=1)
        if some:
            ax.text(start + len(some) / 2, len(y) - 0.45, part, ha="center", va="top")
        start += len(some)
    ax.set_yticks(y, sentences)
    ax.set_xticks(range(len(names)), names, rotation=30, ha="left", rotation_mode="anchor")
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(sentences) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)
