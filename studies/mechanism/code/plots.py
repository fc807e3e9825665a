"""Figures of the mechanism, drawn on the Axes that they are given."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from strata.plots.base import COLORS, FAINT, GREY, RED, Axes
from studies.mechanism.code import codewords, residual
from studies.mechanism.code.dictionary import Dictionary
from studies.mechanism.code.pairs import Pairs, profile

DOTS = 700  # pairs that are drawn
LOOKS = {
    "characters": ("o", COLORS[0]),
    "characters and bias": ("s", COLORS[5]),
    "nearest code": ("*", COLORS[1]),
    "free candidates": ("D", COLORS[2]),
    "bias and terms": ("", COLORS[4]),
    "best of its rank": ("", GREY),
}
VERDICTS = {
    1.0: (COLORS[2], "holds"),
    0.5: (COLORS[4], "undecided"),
    0.0: (COLORS[1], "does not hold"),
}


class Picture(NamedTuple):
    """Where the residual stream has each pair, by the functions of the code; one of the pairs; and
    half the square of the distance of its point to every codeword."""

    points: Float[np.ndarray, "pairs k"]
    pair: int
    distance: Float[np.ndarray, " n"]


def picture(of: Pairs, use: Dictionary, a: int, b: int) -> Picture:
    """The points of all pairs, and the pair (a, b)."""
    x = residual.stream(of, use)
    points = (of.residual - x.mean) @ np.linalg.pinv(x.mu) + of.N @ use.values / of.N.sum()
    pair = int(np.flatnonzero((of.a == min(a, b)) & (of.b == max(a, b)))[0])
    M = codewords.nearest(profile(of), use.values)
    apart = points[pair] - use.values
    return Picture(points, pair, ((apart @ M) * apart).sum(axis=1) / 2)


def functions(Q: int, use: Dictionary) -> list[int]:
    """The character of this prime that tells most residues apart; where it is real, or there is
    none, the zero of the prime beside it."""
    known = [j for j, primes in enumerate(use.primes) if len(primes) == 1 and Q % primes[0] == 0]
    zero = next(j for j in known if use.character[j] < 0)
    of = {i: [j for j in known if use.character[j] == i] for i in {use.character[j] for j in known}}
    chosen = [own for i, own in of.items() if i >= 0] or [[zero]]
    best = max(chosen, key=lambda own: len(np.unique(use.values[:, own].round(6), axis=0)))
    return [*best, zero][:2]


def code(ax: Axes, of: Pairs, use: Dictionary, shown: Picture, Q: int) -> None:
    """The points of some pairs along the two functions that are drawn, coloured by their product
    modulo Q; the codewords as rings, named by their residues; and the one pair as a star."""
    best, q = functions(Q, use), of.q
    points, words = shown.points[:, best], use.values[:, best].round(6)
    some = np.linspace(0, len(q) - 1, min(DOTS, len(q))).astype(int)
    circle = 2 * np.pi * np.linspace(0, 1, 200)
    ax.plot(np.cos(circle), np.sin(circle), color=FAINT, linewidth=0.8, zorder=0)
    colours = np.array(COLORS)[q[some] % Q % len(COLORS)]
    ax.scatter(*points[some].T, s=4, c=colours, alpha=0.35, linewidths=0, clip_on=False)
    for word in np.unique(words, axis=0):
        own = np.unique(np.flatnonzero((words == word).all(axis=1)) % Q)
        ax.plot(*word, "o", markersize=9, markerfacecolor="none", markeredgecolor="black")
        far = word * 1.45 if np.hypot(*word) > 0.1 else np.array([0.0, -0.4])
        ax.text(far[0], far[1], ", ".join(map(str, own[:4])), ha="center", va="center", fontsize=9)
    ax.plot(*points[shown.pair], "*", color=RED, markersize=13, markeredgecolor="white", zorder=5)
    ax.set(title=f"modulo {Q}: {q[shown.pair] % Q}", aspect="equal")
    ax.set(xlim=(-1.8, 1.8), ylim=(-1.8, 1.8))
    ax.set_axis_off()


def distances(ax: Axes, shown: Picture) -> None:
    """Half the squared distance to every codeword; the nearest one is the answer."""
    nearest = int(shown.distance.argmin())
    at = nearest, shown.distance[nearest]
    ax.vlines(np.arange(len(shown.distance)), 0, shown.distance, color=FAINT, linewidth=0.8)
    ax.plot(shown.distance, ".", color=GREY, markersize=3)
    ax.plot(*at, "*", color=RED, markersize=13, markeredgecolor="white", clip_on=False, zorder=5)
    ax.annotate(
        f"nearest: {nearest}", at, (9, 3), textcoords="offset points", color=RED, fontsize=10,
        fontweight="bold", bbox={"color": "white", "pad": 1},
    )  # fmt: skip
    ax.set(title="distance to each codeword", xlabel="candidate $c$", ylim=(0, None))
    ax.set(ylabel=r"½‖point − $w(c)$‖²")


def verdicts(
    ax: Axes,
    rows: Sequence[str],
    found: Float[np.ndarray, "rows models"],
    groups: Iterable[tuple[str, int]],
    headings: Iterable[int],
) -> None:
    """A bar for each number in each group of models: for what share of those that have it, it
    holds, is undecided, or does not hold. Models of a group stand side by side; headings are rows
    in bold."""
    names, y, start = [], np.arange(len(rows)), 0
    for column, (name, size) in enumerate(groups):
        own = found[:, start : start + size]
        known, left = np.isfinite(own).sum(axis=1), np.full(len(rows), column - 0.44)
        for verdict, (colour, label) in VERDICTS.items():
            width = 0.88 * (own == verdict).sum(axis=1) / np.maximum(known, 1)
            ax.barh(y, width, 0.78, left, color=colour, label="" if column else label)
            left = left + width
        names.append(f"{name} ({size})")
        start += size
    ax.set_yticks(y, rows)
    for i in headings:
        ax.get_yticklabels()[i].set_fontweight("bold")
        ax.axhline(i - 0.5, color=GREY, linewidth=0.6)
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3)


def shares(ax: Axes, curves: Mapping[str, pd.DataFrame], enough: float) -> None:
    """Share over number of numbers, a line or a mark for each description; not filled where fewer
    answers are right than is enough."""
    for name, steps in curves.items():
        marker, colour = LOOKS[name]
        look: dict[str, Any] = {"color": colour, "label": name}
        if marker:
            full = float(np.min(steps["right"])) >= enough
            look |= {"markersize": 10 if marker == "*" else 5, "linestyle": "none", "zorder": 3}
            look |= {"markerfacecolor": colour if full else "white", "clip_on": False}
        ax.plot(steps["numbers"], steps["share"], marker=marker, **look)
    ax.set(xscale="log", ylim=(0, 1))
    ax.grid(color=FAINT, linewidth=0.5)
