"""Spectra of the classes: amplitudes over the frequencies of one or two axes, shares of energy."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from strata.plots.base import COLORS, GREY, RED, Axes, AxesImage, Number, heat, name

Arrays = Sequence[np.ndarray]


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
