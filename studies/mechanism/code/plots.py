"""Figures of the mechanism, drawn on the Axes that they are given."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from matplotlib.colors import LinearSegmentedColormap

from strata.monoid import prime_powers
from strata.plots.base import COLORS, RED, Axes
from strata.results import FAILS, HOLDS, UNDECIDED
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code import votes
from studies.mechanism.code.pairs import Profile

VERDICTS = {HOLDS: COLORS[2], UNDECIDED: COLORS[4], FAILS: COLORS[1]}


def ballots(y: Profile, q: int) -> Float[np.ndarray, "powers n"]:
    """What each prime power votes for each candidate where the product is q, less its mean over all
    pairs."""
    columns = votes.remainders(len(y.y))
    given = functions.fitted(columns, y.y, y.N)
    powers = prime_powers(len(y.y))
    ends = np.cumsum(powers)[:-1]
    both = zip(np.split(columns, ends, axis=1), np.split(given, ends), strict=True)
    every = [x @ g for x, g in both]
    return np.stack([x[q] - y.N @ x / y.N.sum() for x in every])


def grid(n: int) -> Int[np.ndarray, "rows columns"]:
    """All candidates: in a column those of one remainder modulo the largest prime power, in a row
    those that are alike modulo all others.

    >>> grid(6).tolist()
    [[0, 4, 2], [3, 1, 5]]
    """
    *others, largest = sorted(prime_powers(n))
    every = sorted(range(n), key=lambda c: (*(c % Q for Q in others), c % largest))
    return np.array(every).reshape(-1, largest)


def board(ax: Axes, values: Float[np.ndarray, " n"], answer: int, colour: str, title: str) -> None:
    """A value of every candidate on the grid, darker where it is larger, with a ring around the
    answer."""
    cells = grid(len(values))
    colours = LinearSegmentedColormap.from_list("votes", ["white", colour])
    ax.imshow(values[cells], cmap=colours, aspect="equal", vmin=np.quantile(values, 0.05))
    row, column = np.argwhere(cells == answer)[0]
    ax.plot(column, row, "o", markersize=9, markerfacecolor="none", markeredgecolor=RED)
    ax.set(title=title, xticks=[], yticks=[])


def verdicts(
    ax: Axes, sentences: Sequence[str], found: pd.DataFrame, groups: Iterable[tuple[str, int]]
) -> None:
    """A bar for each statement, a column of `found`, in each group of models, its rows: for what
    share of those with a verdict it holds, is undecided, or does not hold; with how many hold."""
    names, y, start = [], np.arange(len(sentences)), 0
    for place, (name, size) in enumerate(groups):
        own = found.iloc[start : start + size]
        known, left = (own != "").sum().to_numpy(), np.full(len(sentences), place - 0.44)
        for verdict, colour in VERDICTS.items():
            count = (own == verdict).sum().to_numpy()
            width = 0.88 * count / np.maximum(known, 1)
            ax.barh(y, width, 0.7, left, color=colour, label="" if place else verdict)
            left = left + width
        for row, (holds, of) in enumerate(zip((own == HOLDS).sum(), known, strict=True)):
            if of:
                ax.text(place, row, f"{holds}/{of}", ha="center", va="center", fontsize=8)
        names.append(f"{name} ({size})")
        start += size
    ax.set_yticks(y, sentences)
    ax.set_xticks(range(len(names)), names, rotation=30, ha="left", rotation_mode="anchor")
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(sentences) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3)
