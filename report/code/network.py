"""The network on one pair, as trained and with one prime cut out: a still of the live drawing."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from strata.plots import base

Json = dict[str, Any]
SIZE = (12, 6.3)  # inches; at 100 dots an inch what sites that show a link ask for
GOOD, BAD, RING = "#00795A", "#B00020", "#C9D0D8"


def still(told: Json, n: int) -> Figure:
    """The residues of a, b and ab modulo each prime power of n, and how probable the network finds
    each; ``told`` is what ``report.hero`` wrote. Below, without the axis of one prime."""
    rows = [("as trained", told["example"]["logits"])]
    if told["cut"]:
        rows.append((f"without the axis of {told['cut']['prime']}", told["cut"]["logits"]))
    fig = Figure(figsize=SIZE, layout=ConstrainedLayoutEngine(w_pad=0.25, h_pad=0.2), dpi=100)
    fig.suptitle(f"How does a network multiply modulo {n}?", x=0.022, ha="left", size=24)
    columns = len(told["powers"])
    shape = {"width_ratios": [1.3] + [1] * columns}
    axes = fig.subplots(len(rows), 1 + columns, squeeze=False, gridspec_kw=shape)
    for (what, logits), (first, *others) in zip(rows, axes, strict=True):
        said(first, what, told["example"]["pair"], np.array(logits))
        for ax, power in zip(others, told["powers"], strict=True):
            circle(ax, power, told["example"]["pair"], np.array(logits))
    return fig


def said(ax: Axes, what: str, pair: list[int], logits: np.ndarray) -> None:
    """The question, the answer, and whether it is right."""
    (a, b), answer = pair, int(logits.argmax())
    right = answer == a * b % len(logits)
    ax.set_axis_off()
    ax.text(0, 0.66, what, size=15, color=base.GREY, transform=ax.transAxes)
    ax.text(0, 0.44, f"{a} × {b} = {answer}", size=24, transform=ax.transAxes)
    verdict = "right" if right else f"wrong, it is {a * b % len(logits)}"
    color = GOOD if right else BAD
    ax.text(0, 0.26, verdict, size=15, color=color, weight="bold", transform=ax.transAxes)


def circle(ax: Axes, power: Json, pair: list[int], logits: np.ndarray) -> None:
    """The residues modulo one prime power; a dot's area is the probability of its residue."""
    q, (a, b) = power["q"], pair
    right, got = a * b % q, int(logits.argmax()) % q
    x, y = ground(ax, power)
    weight = np.exp(logits - logits.max())
    mass = np.bincount(np.arange(len(logits)) % q, weight / weight.sum(), q)
    color = GOOD if right == got else BAD
    colors = [color if r == got else base.COLORS[0] for r in range(q)]
    ax.scatter(x, y, s=900 * mass, color=colors, zorder=3)
    ax.scatter(x[right], y[right], s=1250, facecolors="none", edgecolors=GOOD, lw=2, zorder=3)
    says = "" if right == got else f", not {got}"
    ax.set_title(f"modulo {q}: {a % q} · {b % q} = {right}{says}", size=14, color=color)


def ground(ax: Axes, power: Json) -> np.ndarray:
    """The rings, the places of the residues, and their names where there is room; the places."""
    ring, turn = np.array(power["places"]).T
    places = ring / power["rings"] * [np.sin(2 * np.pi * turn), np.cos(2 * np.pi * turn)]
    t = np.linspace(0, 2 * np.pi, 200)
    for radius in {r / power["rings"] for r in ring if r}:
        ax.plot(radius * np.sin(t), radius * np.cos(t), color=RING, lw=1)
    ax.scatter(*places, s=14, color=RING, zorder=2)
    for r, (x, y) in enumerate(places.T):
        if power["q"] <= 16:
            at = (1.42 * x, 1.42 * y) if x or y else (0, -0.32)
            ax.text(*at, str(r), size=12, ha="center", va="center")
    ax.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal")
    ax.set_axis_off()
    return places


def save(fig: Figure, path: Path) -> None:
    """As PNG, 1200 × 630, the same bytes for the same figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, metadata={"Software": None})
