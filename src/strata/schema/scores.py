"""What an outcome of the network is in numbers, as the results of the interventions hold it.

Shares are fractions, losses in nats, margins in logits. Keys of mappings are d of a class J_d, or a
prime power q of n.
"""

from typing import Any, TypeVar

from pydantic import Field

from strata.schema.base import Result

Grid = tuple[tuple[float, ...], ...]


R = TypeVar("R", bound="AtTies")


class AtTies(Result):
    """Results of which parts rest on which logits count as equal."""

    def at_tie(self: R, level: float) -> R:
        """The same where logits count as equal up to another level."""

        def moved(x: Any) -> Any:
            if isinstance(x, list):
                return [moved(y) for y in x]
            if not isinstance(x, dict):
                return x
            own = {name: moved(y) for name, y in x.items() if name != "ties"}
            return own | x.get("ties", {}).get(str(level), {})

        return self.model_validate(moved(self.model_dump(mode="json")))


class Tied(AtTies):
    """Numbers that rest on which logits count as equal; they are those at ``activations.TIE``."""

    ties: dict[float, dict[str, Any]] = Field(default_factory=dict)
    """By another level: the fields that differ there, and their numbers."""


class Scores(Tied):
    """Means over some ordered pairs."""

    loss: float
    """Cross-entropy."""
    accuracy: float
    margin: float
    """logit(correct) − the best wrong logit."""
    skill: float | None
    """(accuracy − chance) / (1 − chance); None where chance is always right."""


class Range(Result):
    """Over random draws; None where no draw has the number."""

    mean: float | None
    low: float | None
    high: float | None


class ScoreRanges(Tied):
    """The range over draws of each number of ``Scores``."""

    loss: Range
    accuracy: Range
    margin: Range
    skill: Range


class TargetScores(Result):
    """Means over the pairs whose product lies in one class."""

    loss: float
    accuracy: float
    margin: float


class OperandScores(Result):
    """Means by (class of a, class of b), ascending in d; shape (classes, classes)."""

    loss: Grid
    accuracy: Grid


class Measures(Scores):
    """Means over all n² ordered pairs."""

    class_accuracy: float
    """How often the answer lies in the class of ab."""
    modulo: dict[int, float]
    """How often the answer agrees with ab modulo q."""
    by_target: dict[int, TargetScores]
    by_operands: OperandScores
