"""Measures and history of one training agree; neither can be changed alone."""

import numpy as np
import pandas as pd
import pytest

from studies.dynamics.code.held import fault

EPOCHS = np.arange(1, 101)
HISTORY = pd.DataFrame(
    {
        "epoch": EPOCHS,
        "loss": 5 * np.exp(-(EPOCHS - 1) / 10),
        "train_accuracy": (EPOCHS - 1) / 100,
        "validation_accuracy": np.where(EPOCHS % 20 == 0, EPOCHS / 200, np.nan),
        "mirror_free_accuracy": np.where(EPOCHS % 20 == 0, EPOCHS / 400, np.nan),
    }
)
AFTER = [0, 7, 20, 33, 60, 80, 100]


def measured(moved: int = 0) -> pd.DataFrame:
    """The measures of the same training, and under which epoch they stand."""
    rows = [
        (epoch, measure, "", value)
        for epoch, real in ((x, max(x - moved, 0)) for x in AFTER)
        for measure, value in (
            ("train_loss", 5 * np.exp(-real / 10)),
            ("train_accuracy", real / 100),
            ("validation_accuracy", real / 200),
            ("mirror_free_accuracy", real / 400),
        )
    ]
    return pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])


def test_two_records_of_one_training_agree():
    assert fault(measured(), HISTORY) == ""


def test_measures_that_were_moved_are_found():
    assert fault(measured(moved=5), HISTORY).startswith("after 7 epochs train_loss ")


@pytest.mark.parametrize("column", ["loss", "train_accuracy", "validation_accuracy"])
def test_a_history_that_was_moved_is_found(column):
    moved = HISTORY[column].where(EPOCHS < 40, HISTORY[column].shift(20))
    assert fault(measured(), HISTORY.assign(**{column: moved}))
