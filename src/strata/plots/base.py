"""Every figure is drawn here, each function on the Axes it is given; nothing else knows matplotlib.

Widths are those of a two-column page, type is at least 7 points, class colours are Okabe and Ito's
(Color Universal Design, 2008) with a marker and a line style of their own, so that no figure needs
colour to be read. Maps are perceptually uniform, or diverging where the sign matters.
"""

from collections.abc import Mapping, Sequence
from os import replace
from pathlib import Path
from typing import Any, Literal

import matplotlib
import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import MaxNLocator, NullLocator

Arrays = Sequence[np.ndarray]
Number = int | float
Limits = tuple[Number | None, Number | None]

PAGE, COLUMN = 6.75, 3.25  # inches
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^DvPX<>"  # 7 colours and 9 markers: 63 classes before a pair of them repeats
LINES = ("-", "--", ":", "-.")
GREY, RED, FAINT = "#777777", "#E00000", "#DDDDDD"
STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7, "legend.frameon": False,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "xtick.major.size": 2.5, "ytick.major.size": 2.5, "axes.labelpad": 2, "axes.titlepad": 4,
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.2,
    "lines.markersize": 3.5, "pdf.fonttype": 42,
}  # fmt: skip
matplotlib.rcParams.update(STYLE)


def figure(
    rows: int = 1, columns: int = 1, size: tuple[Number, Number] = (PAGE, 2), **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure and its Axes row by row; options are those of ``Figure.subplots``."""
    fig = Figure(figsize=size, layout="constrained")
    return fig, list(np.ravel(fig.subplots(rows, columns, squeeze=False, **options)))


def save(fig: Figure, stem: str) -> Path:
    """Write stem.pdf and stem.png, the same bytes for the same figure; return the latter's path.

    In the PDF a matrix has a pixel for each entry: exact, and a tenth of the size.
    """
    for suffix, pixels, undated in ((".pdf", "none", {"CreationDate": None}), (".png", None, {})):
        for image in fig.findobj(AxesImage):
            image.set_interpolation(pixels)
        part = f"{stem}.part{suffix}"
        fig.savefig(part, dpi=200, metadata=undated)
        replace(part, stem + suffix)
        fig.set_layout_engine("none")  # found once, it serves both
    return Path(f"{stem}.png")


def name(d: int) -> str:
    """J_d, typeset."""
    return f"$J_{{{d}}}$"


def style(i: int) -> dict[str, Any]:
    """Colour, marker and line of the i-th class."""
    line = LINES[i // len(COLORS) % len(LINES)]
    return {"color": COLORS[i % 7], "marker": MARKERS[i % 9], "linestyle": line}


def whole() -> MaxNLocator:
    """Ticks at whole numbers."""
    return MaxNLocator("auto", integer=True, steps=(1, 2, 5, 10), min_n_ticks=1)


def owner(ax: Axes) -> Figure:
    """The figure these Axes are in."""
    fig = ax.get_figure()
    assert isinstance(fig, Figure)
    return fig


def note(ax: Axes, text: str) -> None:
    """A sentence where there is nothing to draw."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes)


def heat(
    ax: Axes,
    image: np.ndarray,
    limits: Limits = (None, None),
    cmap: str = "viridis",
    **options: Any,
) -> AxesImage:
    """A matrix as colours, row 0 on top; NaN is grey. Returns what a colour bar needs."""
    options = {"aspect": "auto", "vmin": limits[0], "vmax": limits[1], **options}
    colors = matplotlib.colormaps[cmap].with_extremes(bad=FAINT)
    drawn = ax.imshow(np.ma.masked_invalid(image), cmap=colors, **options)
    ax.spines[:].set_visible(True)
    ax.xaxis.set_major_locator(whole())
    ax.yaxis.set_major_locator(whole())
    return drawn


def bar(drawn: ScalarMappable, axes: Sequence[Axes], label: str) -> None:
    """One colour bar that says what the colours of all these Axes mean."""
    colors = owner(axes[0]).colorbar(drawn, ax=axes, label=label, pad=0.015, panchor=False)
    colors.outline.set_linewidth(0.6)  # pyright: ignore


def class_axis(
    ax: Axes, d: Sequence[int], sizes: Sequence[int], axis: Literal["x", "y"], gap: Number = 0.07
) -> None:
    """Dashed red lines where classes meet, thinner for many, and the name of each at its middle.

    Large classes are named first; a name closer than gap (a share of the axis) to one is left out.
    """
    ends = np.cumsum(sizes)
    middles = ends - (np.array(sizes) + 1) / 2
    named: list[int] = []
    for i in np.argsort(sizes, kind="stable")[::-1]:
        if all(abs(middles[i] - middles[j]) >= gap * ends[-1] for j in named):
            named.append(int(i))
    which = ax.yaxis if axis == "y" else ax.xaxis
    which.set_ticks(middles[named], [name(d[i]) for i in named])
    line, width = ax.axhline if axis == "y" else ax.axvline, min(0.6, 7 / len(sizes))
    for end in ends[:-1]:
        line(end - 0.5, color=RED, linestyle="--", linewidth=width)


def grid_spectrum(
    ax: Axes,
    amplitude: Float[np.ndarray, "q1 q2"],
    stars: Bool[np.ndarray, "q1 q2"],
    d: int,
    primes: tuple[int, int],
) -> AxesImage:
    """Amplitudes over C_q1 × C_q2 relative to the largest, the constant left out, stars marked.

    The axes are named after their primes.
    """
    relative = amplitude.copy()
    relative[0, 0] = np.nan
    drawn = heat(ax, relative / np.nanmax(relative), (0, 1), aspect="equal")
    rows, columns = np.nonzero(stars)
    size = min(60.0, 3e4 / max(amplitude.shape) ** 2)
    ax.scatter(columns, rows, s=size, marker="*", c=RED, edgecolors="white", linewidths=0.4)
    (q1, q2), (p1, p2) = amplitude.shape, primes
    ax.set_title(name(d))
    ax.set_xlabel(f"$k_2$ on $C_{{{q2}}}$\n(prime {p2})")
    ax.set_ylabel(f"$k_1$ on $C_{{{q1}}}$\n(prime {p1})")
    ax.set_xticks(range(0, q2, -(-q2 // 12)))
    ax.set_yticks(range(0, q1, -(-q1 // 12)))
    ax.set_anchor("N")
    return drawn


def components(
    ax: Axes, names: Sequence[str], counts: Sequence[int], random: Sequence[tuple[Number, Number]]
) -> None:
    """Components that each class needs, solid, and random sets of its size, dashed, mean ± std."""
    x, (mean, std) = np.arange(len(names)), np.array(random).T
    look = {"color": GREY, "linestyle": "--", "marker": "s", "capsize": 2}
    ax.errorbar(x, mean, std, label="random residues, ± std", **look)
    ax.plot(x, counts, color=COLORS[0], marker="o", label="the class", zorder=3)
    ax.set_xticks(x, names)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(whole())
    ax.legend()


def by_size(
    ax: Axes,
    size: np.ndarray,
    value: np.ndarray,
    chance: np.ndarray,
    kinds: Mapping[str, np.ndarray],
    hollow: np.ndarray,
) -> None:
    """One mark a class against its number of elements, kind by kind, joined to that of chance.

    Those of ``hollow`` are not filled.
    """
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


def cosines(
    ax: Axes, lines: Mapping[int, Sequence[Number]], key: Mapping[int, int], threshold: Number
) -> None:
    """Cosines of the principal angles of each class, largest first, against the threshold.

    A ring on the line of a class marks its key[d]-th direction.
    """
    for i, (d, values) in enumerate(lines.items()):
        text, look = f"{name(d)} ({key[d]})", style(i)
        ax.plot(np.arange(1, len(values) + 1), values, label=text, **look)
        if 0 < key[d] <= len(values):
            ax.plot(key[d], values[key[d] - 1], "o", ms=8, mfc="none", mec=look["color"])
    ax.axhline(threshold, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
    ax.set_ylim(-0.03, 1.05)
    ax.xaxis.set_major_locator(whole())


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


def places(sizes: Sequence[int], least: Number = 0.03) -> list[int]:
    """Where each of the blocks of these sizes starts side by side, with a gap between them."""
    room = [max(size, round(least * sum(sizes))) + 1 + sum(sizes) // 80 for size in sizes]
    return [sum(room[:i]) for i in range(len(room))]


def strip(ax: Axes, blocks: Arrays, starts: Sequence[int], low: Number) -> AxesImage:
    """Spectra of the classes side by side as log10 amplitude; d_model down, frequencies across."""
    drawn = []
    for block, start in zip(blocks, starts, strict=True):
        extent = (start - 0.5, start + block.shape[1] - 0.5, block.shape[0] - 0.5, -0.5)
        drawn.append(heat(ax, block, (low, 0), "magma", extent=extent))
    ax.autoscale()
    return drawn[-1]


def shares(ax: Axes, energies: Arrays, keys: Arrays, starts: Sequence[int], low: Number) -> None:
    """Energy shares as stems on a log scale, key ones in colour, the uniform share as a line."""
    for share, key, start in zip(energies, keys, starts, strict=True):
        x, height = start + np.arange(len(share)), np.maximum(share, low)
        for mask, color, mark, label in ((key, COLORS[1], "o", "key"), (~key, GREY, ".", "other")):
            ax.vlines(x[mask], low, height[mask], color=color, linewidth=0.8)
            ax.plot(x[mask], height[mask], mark, color=color, markersize=3, label=label)
        edges, level = (x[0] - 0.5, x[-1] + 0.5), 1 / len(share)
        ax.plot(edges, (level, level), color=COLORS[0], linewidth=1, label="uniform")
    ax.set_yscale("log")
    ax.set_ylim(low, 1.5)
    entries = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    ax.legend(entries.values(), entries, loc="lower right", bbox_to_anchor=(1, 0.98), ncols=3)


def oblique(ax: Axes, elevation: Number, azimuth: Number) -> Axes:
    """Put Axes with three dimensions, seen from an angle, in the place of these."""
    fig, place = owner(ax), ax.get_subplotspec()
    ax.remove()
    solid = fig.add_subplot(place, projection="3d", elev=elevation, azim=azimuth)
    solid.set_box_aspect((1, 1, 0.8), zoom=0.88)  # pyright: ignore
    for i, axis in enumerate("xyz", 1):
        solid.set(**{f"{axis}ticklabels": []})
        getattr(solid, f"set_{axis}label")(f"PC {i}", labelpad=-10)
    return solid


def scatter(ax: Axes, points: np.ndarray, members: Mapping[int, np.ndarray]) -> None:
    """Rows of points in two or three dimensions, those of each class d in its colour and marker."""
    for i, (d, rows) in enumerate(members.items()):
        look = style(i) | {"linestyle": "none", "markersize": 3.8, "label": name(d)}
        ax.plot(*points[rows].T, markeredgecolor="white", markeredgewidth=0.3, **look)


def density(ax: Axes, counts: Float[np.ndarray, "actual predicted"], reach: Number) -> AxesImage:
    """Points counted in squares from −reach to reach, relative to the fullest; line of equality."""
    span = (-reach, reach)
    filled = np.where(counts > 0, counts / max(counts.max(), 1), np.nan)
    extent, norm = (*span, *span), LogNorm(1e-4, 1)
    drawn = ax.imshow(filled, "viridis_r", norm, origin="lower", extent=extent, aspect="equal")
    ax.axline((0, 0), slope=1, color=RED, linestyle="--", linewidth=0.7)
    return drawn


def legend(ax: Axes, title: str) -> None:
    """The legend of these Axes, at the right edge of their figure."""
    lines, labels = ax.get_legend_handles_labels()
    owner(ax).legend(lines, labels, title=title, loc="outside right center")


def legend_below(ax: Axes, columns: int) -> None:
    """The legend of these Axes, in a row under their figure."""
    lines, labels = ax.get_legend_handles_labels()
    owner(ax).legend(lines, labels, ncols=columns, loc="outside lower center")


def box(ax: Axes, place: tuple[Number, Number, Number, Number], text: str, color: str) -> None:
    """A rounded box at place = (x, y, width, height) with its text inside."""
    x, y, width, height = place
    shape = FancyBboxPatch((x, y), width, height, "round,pad=0,rounding_size=0.25")
    ax.add_patch(shape).set(facecolor=color, edgecolor=GREY, linewidth=0.6)
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=7)


def arrow(ax: Axes, start: tuple[Number, Number], end: tuple[Number, Number]) -> None:
    """An arrow from start to end."""
    look = {"arrowstyle": "-|>", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
    ax.annotate("", end, start, arrowprops=look | {"facecolor": "black"})
