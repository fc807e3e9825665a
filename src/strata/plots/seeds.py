"""Draw small multiples: a panel for each run, on the scales that all panels share."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from strata.measure.metrics import Metrics
from strata.monoid import classes
from strata.plots.base import RED, Axes, AxesImage, Number, heat, name, note
from strata.plots.borders import class_axis
from strata.plots.embedding import oblique, scatter
from strata.plots.spectra import places, strip
from strata.run import Run


def start_panel(ax: Axes, run: Run, measured: Metrics) -> bool:
    """Write the title of a run's panel, and return whether there is something to draw, which is not
    so where its weights are not finite.

    The title of a run that did not generalise says so, with its accuracy on the validation pairs.
    """
    title = run.caption.replace("n", "$n$", 1)
    ax.set_title(title)
    if not measured.finite:
        note(ax, "diverged")
    elif measured.generalised is False:
        share = measured.accuracy.validation
        ax.set_title(f"{title}\nnot generalised: {share:.0%} right", color=RED, fontsize=8)
    return measured.finite


def class_map(
    ax: Axes,
    values: Float[np.ndarray, "n n"],
    cmap: str = "viridis",
    down: bool = True,
    across: bool = True,
) -> AxesImage:
    """Draw a map over (a, b) in algebraic order, from 0 to 1, with its class borders; ``down``
    names the classes of a and ``across`` those of b."""
    image, J_classes = heat(ax, values, (0, 1), cmap, aspect="equal"), classes(len(values))
    d, sizes = [J.d for J in J_classes], [len(J) for J in J_classes]
    class_axis(ax, d, sizes, "x", named=across)
    class_axis(ax, d, sizes, "y", named=down)
    return image


def spectra(
    ax: Axes, blocks: Mapping[int, Float[np.ndarray, "d_model total"]], low: Number
) -> AxesImage:
    """Draw the spectrum of each class d side by side, log10 amplitude, and name the largest
    classes."""
    sizes = [x.shape[1] for x in blocks.values()]
    starts = places(sizes)
    image = strip(ax, list(blocks.values()), starts, low)
    named = [i for i, size in enumerate(sizes) if size >= sum(sizes) / 10]
    middles = [starts[i] + (sizes[i] - 1) / 2 for i in named]
    ax.set_xticks(middles, [name(list(blocks)[i]) for i in named])
    ax.tick_params(axis="x", length=0, pad=1)
    ax.set(yticks=[])
    return image


def cloud(ax: Axes, points: Float[np.ndarray, "n 3"], elevation: Number, azimuth: Number) -> Axes:
    """Draw residues in three dimensions in the looks of their classes; the largest coordinate is 1.

    Returns the Axes with three dimensions that take the place of these.
    """
    solid, n = oblique(ax, elevation, azimuth), len(points)
    relative = points / max(float(np.abs(points).max()), 1e-30)
    scatter(solid, relative, {J.d: J.elements for J in classes(n)})
    for line in solid.lines:
        line.set(markersize=2.4, markeredgewidth=0.15)
    solid.set_box_aspect((1, 1, 1), zoom=1.2)  # pyright: ignore
    solid.set(xlabel="", ylabel="", zlabel="", xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    return solid


def legend(ax: Axes, panel: Axes) -> None:
    """Draw the looks of the classes that other Axes show, on Axes of their own."""
    lines, labels = panel.get_legend_handles_labels()
    look = {"loc": "center right", "borderaxespad": 0, "handletextpad": 0.2, "columnspacing": 0.8}
    entries = ax.legend(lines, labels, ncols=-(-len(lines) // 10), **look)
    entries.set_in_layout(False)  # many classes take more room than the panels of their row
