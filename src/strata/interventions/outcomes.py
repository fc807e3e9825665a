"""What a network gave for each pair, and how such numbers are put together."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.analysis.activations import answers


class Outcome(NamedTuple):
    """What each row gave: cross-entropy, the answer, and logit(correct) − the best wrong logit."""

    loss: Float[np.ndarray, " rows"]
    answer: Int[np.ndarray, " rows"]
    margin: Float[np.ndarray, " rows"]


def outcome(logits: Float[np.ndarray, "rows n"], label: Int[np.ndarray, " rows"]) -> Outcome:
    """Loss, answer and margin; written so that a loss far below float32's 1 keeps its digits."""
    rows = np.arange(len(label))
    correct = logits[rows, label]
    wrong = logits.copy()
    wrong[rows, label] = -np.inf
    best = wrong.max(axis=1)
    wrong -= best[:, None]
    others = np.log(np.exp(wrong, out=wrong).sum(axis=1)) + best
    loss = np.logaddexp(0, (others - correct).astype(np.float64))
    return Outcome(loss, answers(logits), correct - best)


def joined(parts: list[Outcome]) -> Outcome:
    """The rows of all parts, one after the other."""
    return Outcome(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def interval(
    draws: list[dict[str, float | None] | None],
) -> dict[str, dict[str, float | None]] | None:
    """Mean, least and largest over draws of each number; None where a draw has none."""
    known = [draw for draw in draws if draw]
    if not known:
        return None
    found: dict[str, dict[str, float | None]] = {}
    for name in known[0]:
        x = [value for draw in known if (value := draw[name]) is not None]
        whole = {"mean": short(np.mean(x)), "low": min(x), "high": max(x)} if x else {}
        found[name] = {"mean": None, "low": None, "high": None} | whole
    return found


def short(x: Any, digits: int = 6) -> float:
    """A few digits: more would be rounding."""
    return float(f"{float(x):.{digits}g}")
