"""Measure what a run answers right, from which epoch on, and what its split gave it to learn
from."""

from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from jaxtyping import Bool
from pydantic import BeforeValidator, PlainSerializer

from strata.result import Result
from strata.store import Arrays
from strata.task import TRAIN, VALIDATION, Task, mirrored, task_of


def _pair(text: Any) -> Any:
    return tuple(map(int, text.split("x"))) if isinstance(text, str) else text


# (d, d') are the labels of the classes of a and b; in JSON, whose keys are text, they are "3x5".
ClassPair = Annotated[
    tuple[int, int],
    BeforeValidator(_pair),
    PlainSerializer(lambda pair: "{}x{}".format(*pair), return_type=str),
]


class Accuracy(Result):
    """``Accuracy`` holds shares of right answers."""

    all: float
    """Over all n² ordered pairs."""
    train: float | None
    """None where nothing says which pairs these are, as for ``validation``."""
    validation: float | None
    mirror_free: float | None
    """Over the validation pairs (a, b) with (b, a) not in training; None where there is none, and
    for a model that is not symmetric in its operands."""
    by_target: dict[int, float]
    """By the class of ab."""
    by_operands: dict[ClassPair, float]
    """By the classes of a and b."""


class Epochs(Result):
    """``Epochs`` holds the epoch at which each accuracy came to the level; None where it never
    did."""

    train: int | None
    validation: int | None
    mirror_free: int | None


class StayingEpochs(Epochs):
    """``StayingEpochs`` holds the epoch from which each accuracy stays at the level."""

    train_relapses: int | None
    """Epochs below the level in training after it was first reached."""


class Pairs(Result):
    """``Pairs`` holds the sizes of the split, in ordered pairs."""

    train: int
    train_distinct: int
    """Unordered pairs in training."""
    validation: int
    validation_mirrored_share: float | None
    """Share of the validation pairs with their mirror in training; None where there is no pair."""


ACCURACIES = tuple(Epochs.model_fields)


def accuracy(right: Bool[np.ndarray, " pairs"], pairs: Arrays, n: Task | int) -> Accuracy:
    """Return shares of right answers: over all pairs, by split where there is one, by the class of
    ab, and by the classes of a and b."""
    order, classes = task_of(n).order, task_of(n).classes
    split = pairs.get("split", np.full(order**2, ""))
    validation, square = split == VALIDATION, right.reshape(order, order)
    return Accuracy(
        all=float(right.mean()),
        train=_share(right[split == TRAIN]),
        validation=_share(right[validation]),
        mirror_free=_share(right[validation & ~mirrored(split, order)]),
        by_target={J.d: float(right[pairs["class_c"] == J.d].mean()) for J in classes},
        by_operands={
            (J.d, K.d): float(square[np.ix_(J.elements, K.elements)].mean())
            for J, K in product(classes, repeat=2)
        },
    )


def _share(x: Bool[np.ndarray, " some"]) -> float | None:
    return float(x.mean()) if len(x) else None


def first_epochs(history: pd.DataFrame, level: float) -> Epochs:
    """Return the first epoch at which each accuracy is at least ``level``; None where there is
    none.

    The training accuracy is known at every epoch, the others where the model was validated.
    """
    reached = {
        name: history.loc[history[f"{name}_accuracy"] >= level, "epoch"] for name in ACCURACIES
    }
    return Epochs(**{name: int(x.iloc[0]) if len(x) else None for name, x in reached.items()})


def staying_epochs(history: pd.DataFrame, level: float) -> StayingEpochs:
    """Return the first epoch from which each accuracy is at least ``level`` at every later one.

    Full-batch AdamW leaves the minimum now and then for a few epochs, so this epoch may come long
    after that of ``first_epochs``. ``train_relapses`` counts the epochs below the level in training
    after it was first reached.
    """
    epochs = {name: stays_from(history, f"{name}_accuracy", level) for name in ACCURACIES}
    below = history["train_accuracy"].to_numpy() < level
    relapses = int(below[np.argmin(below) :].sum()) if not below.all() else None
    return StayingEpochs(**epochs, train_relapses=relapses)


def stays_from(history: pd.DataFrame, column: str, level: float) -> int | None:
    """Return the first epoch from which the accuracy stays at the level; None where there is
    none."""
    measured = history.loc[history[column].notna(), ["epoch", column]]
    below = np.flatnonzero(measured[column] < level)
    first = below[-1] + 1 if len(below) else 0
    return int(measured["epoch"].iloc[first]) if first < len(measured) else None


def counts(split: Arrays, n: int) -> Pairs:
    """Return the sizes of the split, and the share of validation pairs whose mirror is a training
    pair."""
    train, validation = (split["split"] == name for name in (TRAIN, VALIDATION))
    a, b = split["a"][train], split["b"][train]
    return Pairs(
        train=int(train.sum()),
        train_distinct=len(np.unique(np.minimum(a, b) * n + np.maximum(a, b))),
        validation=int(validation.sum()),
        validation_mirrored_share=_share(split["mirror_in_train"][validation]),
    )
