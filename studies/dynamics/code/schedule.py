"""The checkpoints of a training: epochs chosen from its history, dense where things change."""

import numpy as np
import pandas as pd
from jaxtyping import Float

# Rounding moves the same event by as much between machines (n = 165: epoch 5,800 on one, 6,700 on
# another), so what the history shows at an epoch may come that much earlier or later.
SHIFTS = np.geomspace(1 / 1.2, 1.2, 25)


def checkpoints(history: pd.DataFrame, count: int) -> list[int]:
    """At most `count` epochs, ascending, with 0, the initial weights, and the last among them.

    They lie evenly on ``clock``: epoch i is the first at which the clock shows i / (count − 1).
    Where a single epoch passes more than one such mark there are fewer.
    """
    marks = np.arange(count) / (count - 1)
    reached = np.searchsorted(clock(history), marks[:-1])
    return np.unique(np.append(reached, len(history))).tolist()


def clock(history: pd.DataFrame) -> Float[np.ndarray, " states"]:
    """From 0 at epoch 0 to 1 at the last epoch, strictly rising, faster where a run learns.

    One entry for each state: after 0, 1, … epochs. It is the mean of the share of epochs gone and,
    where they move at all, the shares of their way that three curves have gone: the highest
    accuracy so far in training, the highest mirror-free one (linear between validations), and the
    logarithm of the lowest loss so far. The leaps of full-batch AdamW out of its minimum are no
    progress, hence highest and lowest. Each curve is averaged over SHIFTS of its epochs.
    """
    epochs = np.arange(len(history) + 1)
    shares = [epochs / epochs[-1]]
    for curve in progress(history).values():
        smooth = np.mean([np.interp(epochs * s, epochs, curve) for s in SHIFTS], axis=0)
        way = np.maximum.accumulate(smooth - smooth[0])  # rounding of the mean may step back
        if way[-1] > 0:
            shares.append(way / way[-1])
    return np.mean(shares, axis=0)


def progress(history: pd.DataFrame) -> dict[str, Float[np.ndarray, " states"]]:
    """The three curves after 0, 1, … epochs; none falls. Loss and training accuracy of a row are
    those before its step, the last row's stand for the last weights too."""
    epochs = np.arange(len(history) + 1)
    known = history.dropna(subset="mirror_free_accuracy")
    before = np.append(epochs[:-1], len(history) - 1)
    lowest = np.fmin.accumulate(np.fmax(history["loss"].to_numpy(float), 1e-9))
    curves = {"train_accuracy": history["train_accuracy"].to_numpy()[before]}
    curves["loss"] = -np.log(lowest)[before]
    if len(known):
        at, value = known["epoch"].to_numpy(), known["mirror_free_accuracy"].to_numpy()
        curves["mirror_free_accuracy"] = np.interp(epochs, np.append(0, at), np.append(0, value))
    return {name: np.fmax.accumulate(curve) for name, curve in curves.items()}
