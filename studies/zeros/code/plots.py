"""How much pairs of primes mix, drawn on the Axes that are given."""

import numpy as np
import pandas as pd

from strata.plots.base import COLORS, GREY, Axes

WORDS = ("neither has\nzero divisors", "one of the two\nhas them", "both have\nzero divisors")


def mixing(ax: Axes, points: pd.DataFrame) -> None:
    """Draw a dot for each run and each two primes, hollow where the run does not generalise, in a
    column for each number of the two with zeros; and a bar at the median of those that generalise.
    """
    points = points.sort_values("over_even")
    for zeros in range(len(WORDS)):
        column = points[points["zeros"] == zeros]
        for generalises in (True, False):
            group = column[column["generalises"].astype(bool) == generalises]
            x = zeros + 0.28 * np.sin(2.4 * np.arange(len(group)))  # apart, the same each time
            face = COLORS[zeros] if generalises else "white"
            ax.plot(x, group["over_even"], "o", color=COLORS[zeros], markerfacecolor=face)
            if generalises and len(group):
                middle = float(np.median(group["over_even"]))
                ax.plot([zeros - 0.4, zeros + 0.4], [middle] * 2, color="black")
                ax.text(zeros + 0.42, middle, f"{middle:.2g}", va="center", fontsize=8)
    for level, words in ((1, "even: the primes are not told apart"), (0.5, "half of it")):
        ax.axhline(level, color=GREY, linestyle=":", linewidth=0.8, zorder=0)
        ax.text(-0.58, level, words, color=GREY, fontsize=8, va="bottom")
    ax.set(xlim=(-0.6, 2.75), ylabel="how much the two primes mix")
    ax.set_ylim(bottom=0)
    ax.set_xticks(range(len(WORDS)), WORDS)
