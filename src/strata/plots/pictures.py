"""Draw what users look at: the votes on one product, and a training."""

from io import BytesIO

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from strata.api.votes import Votes
from strata.picture import Picture
from strata.plots.base import COLORS, GREY, PAGE, figure, integer_ticks
from strata.plots.dynamics import progress


def ballots(votes: Votes, product: int, pair: str) -> Picture:
    """Draw a panel for each factor and one for the sum of their votes, with what each candidate has
    whatever the product. The right answer is in colour."""
    rows = {
        f"{q}: {remainder[product]}": votes.by_factor[q][remainder[product]]
        for q, remainder in votes.remainders.items()
    }
    rows["sum"] = sum(rows.values(), votes.bias)
    fig, axes = figure(len(rows), 1, (PAGE, 0.9 * len(rows) + 0.4), sharex=True)
    for ax, (name, heights) in zip(axes, rows.items(), strict=True):
        colors = np.where(np.arange(len(heights)) == product, COLORS[1], GREY)
        ax.bar(np.arange(len(heights)), heights, color=colors, width=0.9)
        ax.axhline(0, color="black", linewidth=0.5)
        ax.set_ylabel(name)
    axes[0].set_title(
        f"votes on {pair}: modulo each factor, its remainder; the answer is {product}"
    )
    axes[-1].xaxis.set_major_locator(integer_ticks())
    axes[-1].set_xlabel("candidate")
    return as_picture(fig)


def training(history: pd.DataFrame) -> Picture:
    """Draw loss and accuracies over the epochs."""
    fig, (left, right) = figure(1, 2, (PAGE, 2.2))
    columns = {str(k): x.to_numpy() for k, x in history.items()}
    epoch = history.index.to_numpy()
    progress(left, epoch, {"training": columns.pop("loss")}, log=True)
    left.set(xlabel="epoch", ylabel="training loss (nats)")
    names = {k.removesuffix("_accuracy").replace("_", "-"): x for k, x in columns.items()}
    progress(right, epoch, {k: x for k, x in names.items() if (x == x).any()}, log=False)
    right.set(xlabel="epoch", ylabel="accuracy", ylim=(-0.03, 1.03))
    return as_picture(fig)


def as_picture(fig: Figure) -> Picture:
    """Return a figure as a PNG."""
    buffer = BytesIO()
    fig.savefig(buffer, format="png", dpi=160)
    return Picture(buffer.getvalue())
