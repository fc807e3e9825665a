"""Turn an outcome into numbers: means over pairs, and their ranges over random draws."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from strata.patch.patching import Bench, Outcome
from strata.result import Result
from strata.statistics import above_chance
from strata.task import Task, task_of

Grid = tuple[tuple[float, ...], ...]


class Scores(Result):
    """``Scores`` are means over some ordered pairs."""

    loss: float
    """Cross-entropy."""
    accuracy: float
    margin: float
    """logit(correct) − the best wrong logit."""
    skill: float | None
    """(accuracy − chance) / (1 − chance); None where chance is always right."""


class Range(Result):
    """A ``Range`` is over random draws; its numbers are None where no draw has them."""

    mean: float | None
    low: float | None
    high: float | None


class ScoreRanges(Result):
    """``ScoreRanges`` hold the range over draws of each number of ``Scores``."""

    loss: Range
    accuracy: Range
    margin: Range
    skill: Range


class TargetScores(Result):
    """``TargetScores`` are means over the pairs whose product lies in one class."""

    loss: float
    accuracy: float
    margin: float


class OperandScores(Result):
    """``OperandScores`` are means by (class of a, class of b), ascending in d, of shape (classes,
    classes)."""

    loss: Grid
    accuracy: Grid


class Measures(Scores):
    """``Measures`` are means over all n² ordered pairs."""

    class_accuracy: float
    """How often the answer lies in the class of ab."""
    modulo: dict[int, float]
    """How often the answer agrees with ab modulo q, or in each direct factor."""
    by_target: dict[int, TargetScores]
    by_operands: OperandScores


def round_digits(x: Any, digits: int = 6) -> float:
    """Round to a few digits, as more would be rounding error."""
    return float(f"{float(x):.{digits}g}")


def scores(
    rig: Bench,
    outcome: Outcome,
    rows: Bool[np.ndarray, " rows"] | None = None,
    chance: Float[np.ndarray, " rows"] | None = None,
) -> Scores:
    """Return means over the ordered pairs of these rows, or of all; there must be one.

    ``chance`` says how often each row is right by chance, for its skill; it is 1 / |J_ab| if not
    given.
    """
    weight = rig.count if rows is None else rig.count * rows

    def mean(values: np.ndarray) -> float:
        return np.average(values, weights=weight)

    accuracy = mean(outcome.answer == rig.label)
    skill = above_chance(accuracy, mean(rig.chance if chance is None else chance))
    return Scores(
        loss=round_digits(mean(outcome.loss)),
        accuracy=round_digits(accuracy),
        margin=round_digits(mean(outcome.margin)),
        skill=None if skill is None else round_digits(skill),
    )


def ranges(draws: Sequence[Scores]) -> ScoreRanges:
    """Return the range of each number over draws."""
    return ScoreRanges(
        loss=draw_range(x.loss for x in draws),
        accuracy=draw_range(x.accuracy for x in draws),
        margin=draw_range(x.margin for x in draws),
        skill=draw_range(x.skill for x in draws),
    )


def draw_range(values: Iterable[float | None]) -> Range:
    """Return mean, least and highest of the values that are known."""
    numbers = [x for x in values if x is not None]
    if not numbers:
        return Range(mean=None, low=None, high=None)
    return Range(mean=round_digits(np.mean(numbers)), low=min(numbers), high=max(numbers))


def measures(rig: Bench, outcome: Outcome) -> Measures:
    """Return scores over all ordered pairs, by target class and by pair of operand classes.

    They also say how often the answer lies in the right class, and agrees with ab in each direct
    factor, such as modulo each prime power of n.
    """
    labels, answer, right = rig.task.labels, outcome.answer, rig.label
    in_class = labels[answer] == labels[right]
    factors = rig.task.factors.items()
    by_target, by_operands = _by_class(rig, outcome)
    return Measures(
        **scores(rig, outcome).model_dump(),
        class_accuracy=round_digits(rig.square(in_class).mean()),
        modulo={Q: round_digits(rig.square(x[answer] == x[right]).mean()) for Q, x in factors},
        by_target=by_target,
        by_operands=by_operands,
    )


def _by_class(rig: Bench, outcome: Outcome) -> tuple[dict[int, TargetScores], OperandScores]:
    """Return means by the class of ab, and by the classes of a and b."""
    n, divisors = rig.n, np.array([J.d for J in rig.task.classes])
    values = (outcome.loss, outcome.answer == rig.label, outcome.margin)
    loss, right, margin = (block_sums(rig.square(x), rig.task) for x in values)
    pairs = block_sums(np.ones((n, n)), rig.task)
    first = np.array([J.elements[0] for J in rig.task.classes])
    target = rig.task.labels[rig.task.product(first[:, None], first)]  # classes decide that of ab

    def class_mean(sums: np.ndarray, d: int) -> float:
        return round_digits(sums[target == d].sum() / pairs[target == d].sum())

    by_target = {
        d: TargetScores(
            loss=class_mean(loss, d), accuracy=class_mean(right, d), margin=class_mean(margin, d)
        )
        for d in divisors.tolist()
    }
    return by_target, OperandScores(loss=_grid(loss / pairs), accuracy=_grid(right / pairs))


def _grid(means: Float[np.ndarray, "count count"]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round_digits(x, 4) for x in row) for row in means)


def block_sums(x: Float[np.ndarray, "n n"], n: Task | int) -> Float[np.ndarray, "count count"]:
    """Sum over the pairs of each (class of a, class of b)."""
    labels, classes = task_of(n).labels, task_of(n).classes
    member = np.stack([labels == J.d for J in classes]).astype(float)
    return member @ x @ member.T
