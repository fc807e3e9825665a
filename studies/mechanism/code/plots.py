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
BINS = 6  # of angles
OUTLINE = withStroke(linewidth=1.1, foreground=palette.HOLDS[0])


def ballot(
    ax: Axes, scores: Float[np.ndarray, " n"], p: int, colour: str, most: float, answer: int
) -> None:
    """Draw the candidates as a grid: in the row of each remainder modulo p, in the column of that
    modulo n/p; darker is more, nothing below 0. The answer is framed."""
    n, c = len(scores), np.arange(len(scores))
    cells = np.zeros((p, n // p))
    cells[c % p, c % (n // p)] = np.clip(scores / (most or 1), 0, 1)
    shades = LinearSegmentedColormap.from_list("votes", ("#f5f6f7", colour))
    ax.pcolormesh(cells, cmap=shades, vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    corner = answer % (n // p), answer % p
    ax.add_patch(
        Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=1.2, clip_on=False)
    )
    ax.set(ylim=(p, 0), aspect="equal", xticks=[], yticks=[], xlabel=f"column: c mod {n // p}")
    ax.spines[:].set_visible(False)


def votes_by_angle(rows: pd.DataFrame, least: int) -> pd.DataFrame:
    """Return the votes of all networks in a long table by the angle between the operands, in the
    columns that ``hole`` draws, of the primes from ``least`` on."""
    columns = ["run", "degrees", "at_mean", "unchanged"]
    text = rows.astype({"run": object, "id": object, "measure": object})
    votes = text[text["id"].isin(["vote", "vote at mean"])]
    if votes.empty:
        return pd.DataFrame(columns=columns)
    votes = votes.pivot_table("value", ["run", "measure"], "id").reset_index()
    numbers = votes["measure"].str.extract(r"(?P<p>\d+):(?P<k>\d+) (?P<delta>\d+)").astype(int)
    half_turns = numbers["k"] * numbers["delta"] / (numbers["p"] - 1)  # kδ/2 is half the angle
    votes["degrees"] = 180 - (360 * half_turns % 360 - 180).abs()
    votes = votes.rename(columns={"vote at mean": "at_mean", "vote": "unchanged"})
    characters = [votes["run"], numbers["p"], numbers["k"]]
    for name in ("at_mean", "unchanged"):
        equal = votes[name].where(numbers["delta"] == 0)
        votes[name] /= equal.groupby(characters).transform("max")
    return votes.loc[numbers["p"] >= least, columns]


def hole(ax: Axes, votes: pd.DataFrame) -> None:
    """Draw how votes depend on the angle between the operands, a dot for each network and range of
    angles, and the medians: hollow with attention at its mean, full with attention. ``votes`` has
    the columns run, degrees, at_mean and unchanged, each over the vote for equal angles."""
    edges = np.linspace(0, 180, BINS + 1)
    votes = votes.assign(bin=np.digitize(votes["degrees"], edges[1:-1]))
    columns = ["degrees", "at_mean", "unchanged"]
    by_network = votes.groupby(["run", "bin"])[columns].agg("mean")
    medians, angle = by_network.groupby("bin").agg("median"), np.linspace(0, 180)
    ax.plot(angle, np.cos(np.radians(angle) / 2), ":", color="black", linewidth=1)
    for name, colour, face in (
        ("at_mean", palette.FAILS[0], "white"),
        ("unchanged", palette.PRIMES[11][0], palette.PRIMES[11][0]),
    ):
        style = {"mfc": face, "mec": colour, "ms": 2, "mew": 0.4, "alpha": 0.5}
        ax.plot(by_network["degrees"], by_network[name], "o", **style)
        ax.plot(medians["degrees"], medians[name], "-o", ms=5, lw=1.4, mfc=face, color=colour)
    ax.text(3, 1.75, "with attention as it is: flat", color=palette.PRIMES[11][0])
    text = "attention fixed at its mean: falls\nalong cos(angle/2), the dotted curve"
    ax.text(3, -0.62, text, color=palette.FAILS[0])
    ax.axhline(0, color="black", linewidth=0.6)
    ax.set(xlim=(-4, 184), xticks=[0, 45, 90, 135, 180], ylim=(-0.75, 2.4))
    ax.set(xlabel="angle between the two numbers, degrees", ylabel="vote / vote for equal angles")


def two_adders(ax: Axes, p: int, root: int, steps: tuple[int, int]) -> None:
    """Draw both sums of two powers of a root modulo p, on a circle in the order of its powers: the
    arrows added, and their difference, which is parallel to the line from 1 to the product."""
    ends = np.exp(1j * (np.pi / 2 - 2 * np.pi * np.arange(p - 1) / (p - 1)))
    numbers = [pow(root, k, p) for k in range(p - 1)]
    used = (*steps, sum(steps) % (p - 1))
    (a, b, c), (first, second, product) = ends[[*used]], (numbers[k] for k in used)
    angles = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(angles), np.sin(angles), color="lightgray")
    for k, end in enumerate(ends):
        x, y, colour = 1.17 * end.real, 1.17 * end.imag, "black" if k in (0, *used) else "gray"
        ax.text(x, y, str(numbers[k]), color=colour, ha="center", va="center")
    red, green = palette.FAILS[0], palette.PRIMES[11][0]
    for end, colour in ((a, "black"), (b, "black"), (a + b, red)):
        arrow = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (end.real, end.imag), (0, 0), arrowprops=arrow)
    for line, dashes in (([a, b], "-"), ([ends[0], c], "--")):
        ax.plot(np.real(line), np.imag(line), dashes, color=green)
    texts = (
        ("sum: short", red), (f"difference: {second} to {first}", green),
        (f"dashed: 1 to {product}, parallel", green),
    )  # fmt: skip
    for row, (text, colour) in enumerate(texts):
        ax.text(1.5, 0.35 - 0.35 * row, text, color=colour, va="center")
    ax.set(xlim=(-1.3, 3.5), ylim=(-1.3, 1.3), aspect="equal")
    ax.set_title(f"{first} · {second} = {product} modulo {p}", loc="left")
    ax.set_axis_off()


def verdicts(
    ax: Axes,
    sentences: Sequence[str],
    by_run: pd.DataFrame,
    group: pd.Series,
    parts: Mapping[str, Sequence[str]],
) -> None:
    """Draw a bar for each statement, a column of `by_run`, in each group of models. The bar shows
    for what share of the models with a verdict the statement holds, is undecided, or does not hold;
    its number says for how many it holds. Groups stand part by part."""
    names, y = [], np.arange(len(sentences))
    for place, name in enumerate(name for part in parts.values() for name in part):
        in_group = by_run[group == name]
        decided, edge = (in_group != "").sum().to_numpy(), np.full(len(sentences), place - 0.44)
        for verdict, colour in VERDICTS.items():
            count = (in_group == verdict).sum().to_numpy()
            width = 0.88 * count / np.maximum(decided, 1)
            ax.barh(y, width, 0.7, edge, color=colour, label="" if place else verdict)
            edge = edge + width
        for row, (holds, n) in enumerate(zip((in_group == HOLDS).sum(), decided, strict=True)):
            if n:  # an outline, as the end of a bar may lie below
                text = ax.text(place, row, f"{holds}/{n}", ha="center", va="center", color="white")
                text.set_path_effects([OUTLINE])
        names.append(f"{name} ({len(in_group)})")
    start = -0.5
    for part, names_of_part in parts.items():
        if start > -0.5 and names_of_part:
            ax.axvline(start, color="black", linewidth=1)
        if names_of_part:
            ax.text(start + len(names_of_part) / 2, len(y) - 0.45, part, ha="center", va="top")
        start += len(names_of_part)
    ax.set_yticks(y, sentences)
    ax.set_xticks(range(len(names)), names, rotation=30, ha="left", rotation_mode="anchor")
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(sentences) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)
