"""What was measured on the way and what the training itself wrote down of the same epochs: two
records, of which neither can be changed alone."""

import numpy as np
import pandas as pd

from studies.dynamics.code.table import curve

# The training sums its loss in float32, the measure in float64. Of four runs the two are at most
# 14 % apart, where a checkpoint and the one after it are 60 % apart at the median.
LOSS, ROUNDING, SHARE = 1.3, 5e-8, 1e-3


def fault(frame: pd.DataFrame, history: pd.DataFrame) -> str:
    """In what the measures of a run and its history differ; empty where they do not. A history has
    the loss and the training accuracy before an epoch's step, the other accuracies after it."""
    for measure, column, later in (
        ("train_loss", "loss", 1),
        ("train_accuracy", "train_accuracy", 1),
        ("validation_accuracy", "validation_accuracy", 0),
        ("mirror_free_accuracy", "mirror_free_accuracy", 0),
    ):
        measured = curve(frame, measure)
        written = history.set_index("epoch")[column].reindex(measured.index + later).to_numpy()
        if column == "loss":
            apart = np.abs(np.log((measured + ROUNDING) / (written + ROUNDING))) > np.log(LOSS)
        else:
            apart = np.abs(measured - written) > SHARE  # not where there was no validation
        if apart.any():
            i = int(np.argmax(apart))
            found = (
                f"{measure} {measured.iloc[i]:.4g} was measured, its history has {written[i]:.4g}"
            )
            return f"after {measured.index[i]} epochs {found}"
    return ""
