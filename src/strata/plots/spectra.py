"""Draw spectra of the classes: amplitudes over the frequencies of one or two axes, shares of
energy."""

from collections.abc import Sequence
from math import prod

import numpy as np
from jaxtyping import Bool, Float, Shaped

from strata.plots.base import COLORS, GREY, Axes, AxesImage, Number, heat

Arrays = Sequence[np.ndarray]


def unfolded(
    spectrum: np.ndarray, primes: Sequence[int], across: int, down: int
) -> Shaped[np.ndarray, "blocks rows columns"]:
    """Return an array over the axes of a class, each named by its prime, with that of ``across``
    last, that of ``down`` before it, and all others as blocks."""
    rank = {across: 2, down: 1}
    order = np.argsort([rank.get(p, 0) for p in primes], kind="stable")
    sides = [[spectrum.shape[i] for i in order if rank.get(primes[i], 0) == k] for k in (0, 1, 2)]
    return spectrum.transpose(order).reshape([prod(side) for side in sides])


def blocks_spectrum(
    ax: Axes,
    amplitude: Float[np.ndarray, "blocks rows columns"],
    stars: Bool[np.ndarray, "blocks rows columns"],
    title: str,
    symbols: tuple[str, str, str],
) -> AxesImage:
    """Draw amplitudes relative to the largest, block beside block, without the constant, and mark
    stars.

    Symbols name the frequencies of blocks, rows and columns.
    """
    relative = amplitude / amplitude.max()
    relative[0, 0, 0] = np.nan
    count, rows, columns = amplitude.shape
    starts = [k * (columns + 1) for k in range(count)]
    for block, start in zip(relative, starts, strict=True):
        extent = (start - 0.5, start + columns - 0.5, rows - 0.5, -0.5)
        drawn = heat(ax, block, (0, 1), aspect="equal", extent=extent)
    k, i, j = np.nonzero(stars)
    size = min(45.0, 2e4 / (count * columns + rows) ** 2)
    ax.scatter(j + np.array(starts)[k], i, s=size, marker="*", c="white", edgecolors="black",
               linewidths=0.5)  # fmt: skip
    ax.set_title(title, loc="left", pad=14 if count > 1 else 4)
    _frequencies(ax, amplitude.shape, starts, symbols)
    return drawn


def _frequencies(
    ax: Axes, shape: tuple[int, int, int], starts: Sequence[int], symbols: tuple[str, str, str]
) -> None:
    """Label the axes of blocks with frequencies: of columns below, of rows at the left, of blocks
    above."""
    _, rows, columns = shape
    ax.set(xlim=(-0.5, max(starts[-1] + columns, 3) - 0.5), ylim=(rows - 0.5, -0.5), anchor="NW")
    ax.spines[:].set_visible(False)
    ticks = [(start + x, x) for start in starts for x in range(0, columns, -(-columns // 12))]
    ax.set_xticks([at for at, _ in ticks], [str(x) if columns > 1 else "" for _, x in ticks])
    ax.set_yticks(range(0, rows, -(-rows // 12)) if rows > 1 else [])
    ax.set(xlabel=symbols[2] if columns > 1 else "", ylabel=symbols[1] if rows > 1 else "")
    for k, start in enumerate(starts if len(starts) > 1 else ()):
        text, at = f"{symbols[0]} = {k}" if columns > 1 else str(k), start + (columns - 1) / 2
        ax.annotate(text, (at, -0.5), (0, 2), textcoords="offset points", ha="center", fontsize=8)


def places(sizes: Sequence[int], minimum: Number = 0.03) -> list[int]:
    """Return where each of the blocks of these sizes starts side by side, with a gap between them.

    >>> places([4, 2, 4]), places([79, 39, 19, 7, 9, 3, 1])
    ([0, 5, 8], [0, 81, 122, 143, 152, 163, 170])
    """
    widths = [max(size, round(minimum * sum(sizes))) + 1 + sum(sizes) // 80 for size in sizes]
    return [sum(widths[:i]) for i in range(len(widths))]


def strip(ax: Axes, blocks: Arrays, starts: Sequence[int], low: Number) -> AxesImage:
    """Draw spectra of the classes side by side as log10 amplitude; d_model down, frequencies
    across."""
    drawn = []
    for block, start in zip(blocks, starts, strict=True):
        extent = (start - 0.5, start + block.shape[1] - 0.5, block.shape[0] - 0.5, -0.5)
        drawn.append(heat(ax, block, (low, 0), "magma", extent=extent))
    ax.autoscale()
    return drawn[-1]


def shares(ax: Axes, energies: Arrays, keys: Arrays, starts: Sequence[int], low: Number) -> None:
    """Draw energy shares as stems on a log scale, key ones in colour, and the uniform share as a
    line."""
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
