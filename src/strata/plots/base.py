"""Define what every figure has in common: sizes, looks, saving, maps and legends.

Every function of this package draws on the Axes it is given; nothing else knows matplotlib.

Widths are those of a two-column page; type is that of a paper set in Times, at least 8 points. The
eight class colours differ for colour-blind readers too. Markers and line styles differ as well, so
no figure needs colour to be read. Maps are perceptually uniform, or diverging where the sign
matters.
"""

from collections.abc import Sequence
from os import replace
from pathlib import Path
from typing import Any, Literal

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox
from PIL import Image

from strata.plots import palette

Number = int | float
Limits = tuple[Number | None, Number | None]

PAGE, COLUMN = 6.75, 3.25  # inches
DPI = 224  # a page has 1512 pixels, to be shown at half of that
COLORS = palette.CLASSES
MARKERS = "os^DvPX<>"  # 8 colours and 9 markers: 72 classes before a pair of them repeats
LINES = ("-", "--", ":", "-.")
GREY, RED, FAINT = "#777777", "#E00000", "#DDDDDD"
STYLE: Any = {
    "font.family": ["STIXGeneral", "DejaVu Sans"], "mathtext.fontset": "stix",
    "font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9,
    "xtick.labelsize": 8, "ytick.labelsize": 8, "legend.fontsize": 8, "legend.frameon": False,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "xtick.major.size": 2.5, "ytick.major.size": 2.5, "axes.labelpad": 2, "axes.titlepad": 4,
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.2,
    "lines.markersize": 3.5, "pdf.fonttype": 42, "svg.hashsalt": "strata",
}  # fmt: skip
matplotlib.rcdefaults()  # a user's matplotlibrc must change nothing
matplotlib.rcParams.update(STYLE)


def figure(
    rows: int = 1, columns: int = 1, size: tuple[Number, Number] = (PAGE, 2), **options: Any
) -> tuple[Figure, list[Axes]]:
    """Make a figure, and return it with its Axes row by row; options are those of
    ``Figure.subplots``."""
    fig = Figure(figsize=size, dpi=DPI, layout=ConstrainedLayoutEngine(w_pad=0.02, wspace=0.01))
    return fig, list(np.ravel(fig.subplots(rows, columns, squeeze=False, **options)))


def save(fig: Figure, stem: str) -> Path:
    """Write stem.pdf, stem.svg and stem.png, the same bytes for the same figure, and return the
    path of the PNG.

    In the PDF and the SVG a matrix has a pixel for each entry, which is exact and a tenth of the
    size. In the PNG each entry takes a whole number of pixels.
    """
    layout = fig.get_layout_engine()
    assert layout
    layout.execute(fig)
    # One layout serves all files; with an engine each save would draw twice.
    fig.set_layout_engine(None)
    for ax in fig.axes:
        ax.apply_aspect()
    for ax in fig.axes:
        _fit_to_pixels(ax)
    for suffix, metadata in (
        (".pdf", {"CreationDate": None}),
        (".svg", {"Date": None}),
        (".png", {}),
    ):
        for image in fig.findobj(AxesImage):
            image.set_interpolation("nearest" if suffix == ".png" else "none")
        part = f"{stem}.part{suffix}"
        fig.savefig(part, dpi=DPI, metadata=metadata)
        if suffix == ".png":
            _reduce_colors(part)
        if suffix == ".svg":
            svg = Path(part).read_text("utf-8")
            Path(part).write_text(svg.replace("</defs>", f"{palette.DARK}</defs>", 1), "utf-8")
        replace(part, stem + suffix)
    return Path(f"{stem}.png")


def _reduce_colors(path: str) -> None:
    """Reduce a picture to 256 colours, each at most some steps of 255 off, and so to a third of its
    size."""
    with Image.open(path) as picture:
        reduced = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
    reduced.save(path)


def _fit_to_pixels(ax: Axes) -> None:
    """Resize Axes that show a large matrix until each entry has a whole number of pixels; without
    this, stripes appear that the matrix does not have. Small numbers of pixels are even, as screens
    show half of them."""
    if not ax.images or not all(map(_unit_cells, ax.images)):
        return
    box = ax.get_window_extent()
    spans = np.abs([ax.get_xlim()[1] - ax.get_xlim()[0], ax.get_ylim()[1] - ax.get_ylim()[0]])
    available = 1.05 * np.array([box.width, box.height])  # a little more, into the gaps
    pixels = np.where(spans < 40, available / 1.05 / spans, available // spans)
    pixels = np.where((spans >= 40) & (pixels > 1) & (pixels < 8), pixels // 2 * 2, pixels)
    pixels = np.full(2, pixels.min()) if ax.get_aspect() == 1 else pixels
    if (pixels < 1).any():
        return  # more entries than pixels
    left = box.x0 + (box.width - pixels[0] * spans[0]) / 2
    corner = np.ceil([left, box.y1 - pixels[1] * spans[1]])
    bounds = Bbox.from_bounds(*corner, *(pixels * spans))
    bounds = bounds.transformed(owner(ax).transFigure.inverted())
    ax.set_position(bounds)
    for other in ax.get_shared_x_axes().get_siblings(ax):
        if not other.images:  # a panel below keeps to the columns of the matrix
            position = other.get_position()
            other.set_position((bounds.x0, position.y0, bounds.width, position.height))


def _unit_cells(image: AxesImage) -> bool:
    """Whether each entry takes one unit of both axes."""
    left, right, bottom, top = image.get_extent()
    sides = image.get_size()
    return bool(np.allclose((abs(top - bottom), abs(right - left)), sides))


def inches(cells: int, pixels: Literal[2, 4, 8] = 2) -> float:
    """Return the inches that ``cells`` of ``pixels`` each take in a saved figure, at least one."""
    return max(1.0, (cells * pixels + 1) / DPI)


def name(d: int) -> str:
    """Return J_d, typeset."""
    return f"$J_{{{d}}}$"


def style(i: int) -> dict[str, Any]:
    """Return colour, marker and line of the i-th class."""
    line = LINES[i // len(COLORS) % len(LINES)]
    return {"color": COLORS[i % 8], "marker": MARKERS[i % 9], "linestyle": line}


def integer_ticks() -> MaxNLocator:
    """Return a locator of ticks at whole numbers."""
    return MaxNLocator("auto", integer=True, steps=(1, 2, 5, 10), min_n_ticks=1)


def owner(ax: Axes) -> Figure:
    """Return the figure that these Axes are in."""
    fig = ax.get_figure()
    assert isinstance(fig, Figure)
    return fig


def note(ax: Axes, text: str) -> None:
    """Write a sentence where there is nothing to draw."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes)


def heat(
    ax: Axes,
    image: np.ndarray,
    limits: Limits = (None, None),
    cmap: str = "viridis",
    **options: Any,
) -> AxesImage:
    """Draw a matrix as colours, row 0 on top, NaN in grey, and return what a colour bar needs."""
    options = {"aspect": "auto", "vmin": limits[0], "vmax": limits[1], **options}
    colors = matplotlib.colormaps[cmap].with_extremes(bad=FAINT)
    drawn = ax.imshow(np.ma.masked_invalid(image), cmap=colors, **options)
    ax.spines[:].set_visible(True)
    ax.xaxis.set_major_locator(integer_ticks())
    ax.yaxis.set_major_locator(integer_ticks())
    return drawn


def bar(drawn: ScalarMappable, axes: Sequence[Axes], label: str, below: bool = False) -> None:
    """Draw one colour bar that says what the colours of all these Axes mean, beside or below
    them."""
    location: Any = (
        {"location": "bottom", "aspect": 50, "shrink": 0.5} if below else {"panchor": False}
    )
    colors = owner(axes[0]).colorbar(drawn, ax=axes, label=label, pad=0.015, **location)
    colors.outline.set_linewidth(0.6)  # pyright: ignore


def density(ax: Axes, counts: Float[np.ndarray, "actual predicted"], reach: Number) -> AxesImage:
    """Draw how many points lie in each square from −reach to reach, relative to the fullest, and
    the line of equality."""
    span = (-reach, reach)
    filled = np.where(counts > 0, counts / max(counts.max(), 1), np.nan)
    extent, norm = (*span, *span), LogNorm(1e-4, 1)
    drawn = ax.imshow(filled, "viridis", norm, origin="lower", extent=extent, aspect="equal")
    ax.axline((0, 0), slope=1, color="black", linestyle="--", linewidth=0.7)
    return drawn


def legend(ax: Axes, title: str) -> None:
    """Draw the legend of these Axes at the right edge of their figure."""
    lines, labels = ax.get_legend_handles_labels()
    owner(ax).legend(lines, labels, title=title, loc="outside right center")


def legend_below(ax: Axes, columns: int) -> None:
    """Draw the legend of these Axes in a row under their figure."""
    lines, labels = ax.get_legend_handles_labels()
    owner(ax).legend(lines, labels, ncols=columns, loc="outside lower center")


def ramp(name: str, steps: int = 17) -> list[str]:
    """Return ``steps`` colours evenly along a colour map of the figures, for pages.

    >>> ramp("viridis", 2)
    ['#440154', '#fde725']
    """
    colours = matplotlib.colormaps[name](np.linspace(0, 1, steps))
    return [to_hex(colour) for colour in colours]
