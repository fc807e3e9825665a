"""Models on which statements 6 to 9 must hold, or must not: criteria-3.md."""

from collections.abc import Mapping
from math import isnan
from typing import NamedTuple

import numpy as np

from strata.api import by_hand, second_adder
from strata.results import Row, by_levels
from strata.store import Arrays
from strata.task import Task, task_of
from studies.mechanism.code import adding_measures, classes_first
from studies.mechanism.code.adding_decide import STATEMENTS
from studies.mechanism.code.measures import unlevelled
from studies.mechanism.code.votes import permute_within_classes
from studies.params import AddingMeasures as Settings

RANDOM = "random functions"


class Model(NamedTuple):
    """The weights of a model, and the task whose answers are right."""

    weights: Arrays
    task: Task | int


def renamed(model: Model, rng: np.random.Generator) -> Model:
    """Return a network with its residues renamed inside their classes, and the task that it answers
    as the network did before."""
    w, n = model.weights, task_of(model.task).order
    order = permute_within_classes(n, rng)
    tokens = np.append(order, n)
    table = np.argsort(order)[np.outer(order, order) % n]
    changed = {"W_E": w["W_E"][tokens], "W_U": w["W_U"][:, order], "b_U": w["b_U"][order]}
    return Model(w | changed, Task("renamed", "renamed", table))


def written() -> dict[str, Model]:
    """Return the models that are written by hand."""
    return {
        "second adder": Model(second_adder.weights(143), 143),
        "by hand": Model(by_hand.weights(165), 165),
        "by hand, gated": Model(by_hand.weights(165, gate=(3, 11)), 165),
        "by hand, mixed": Model(by_hand.weights(165, mixed=(11, 5)), 165),
        "classes first": Model(classes_first.weights(105), 105),
    }


def models(trained: Model, settings: Settings) -> dict[str, Model]:
    """Return the models that are written by hand, and a trained one with its residues renamed."""
    rng = np.random.default_rng(settings.seed + 1)
    return {**written(), "renamed": renamed(trained, rng)}


def measure(some: Mapping[str, Model], settings: Settings) -> list[Row]:
    """Return all rows of each model, with its name."""
    return [
        row._replace(run=name)
        for name, model in some.items()
        for row in adding_measures.measure(*model, settings)
        if row.verdict or not (row.value is None or isnan(row.value))
    ]


def random_functions(trained: Model, settings: Settings) -> list[Row]:
    """Return what statement 8 says of random functions in the formulas of a trained network: by the
    right answers alone, as the control with permuted residues is not of them."""
    rows = adding_measures.measure(*trained, settings)
    numbers = {(row.id, row.measure): row.value for row in rows}
    right = numbers["adding", RANDOM]
    assert right is not None
    verdict = by_levels(right, *settings.levels.right)
    answered = [
        Row("", "adding", STATEMENTS["adding"], verdict=verdict),
        Row("", "adding-right", "with random functions", "", "accuracy", right, verdict),
        *unlevelled("whole", "all pairs", "accuracy", {"right": numbers["whole", "right"] or 0.0}),
    ]
    return [row._replace(run=RANDOM) for row in answered]
