"""A network over all pairs: run once and kept, or run again with something changed.

A model that is symmetric in its operands has a row for each unordered pair, another one for every
ordered pair. What is run again gives losses, answers and margins, and never keeps all logits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from strata.architecture import architecture_of
from strata.measure import activations
from strata.measure.activations import (
    ROWS,
    answers,
    attended,
    before_mlp,
    distinct,
    preactivations,
    residual_from_heads,
    weighted_values,
    written,
)
from strata.store import Arrays
from strata.task import Task, task_of


class Outcome(NamedTuple):
    """What each row gave: cross-entropy, the answer, logit(correct) − the best wrong logit."""

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


def joined(parts: Iterable[Outcome]) -> Outcome:
    """The rows of all parts, one after the other."""
    return Outcome(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class State(NamedTuple):
    """The residual stream before the MLP, what the MLP writes, and the attention, row by row."""

    residual: Float[np.ndarray, "rows d_model"]
    written: Float[np.ndarray, "rows d_model"]
    attention: Float[np.ndarray, "rows n_heads 3"]


def chunks(rows: Int[np.ndarray, " rows"]) -> Iterator[Int[np.ndarray, " chunk"]]:
    for start in range(0, max(len(rows), 1), ROWS):  # no rows are one chunk of none
        yield rows[start : start + ROWS]


def outcomes(weights: Arrays, a: np.ndarray, b: np.ndarray, label: np.ndarray) -> Outcome:
    """The network on pairs of tokens, which may be more than n, with their labels."""
    return joined(
        outcome(activations.forward(weights, a[rows], b[rows]).logits, label[rows])
        for rows in chunks(np.arange(len(a)))
    )


def unembed(weights: Arrays, out: np.ndarray, label: np.ndarray) -> Outcome:
    """From the residual stream after the MLP on."""
    return joined(
        outcome(out[rows] @ weights["W_U"] + weights["b_U"], label[rows])
        for rows in chunks(np.arange(len(label)))
    )


@dataclass(frozen=True)
class Pairs:
    """A model and the pairs that it tells apart: ``row`` says which each ordered pair is."""

    task: Task
    weights: Arrays
    a: Int[np.ndarray, " rows"]
    b: Int[np.ndarray, " rows"]
    row: Int[np.ndarray, "n n"]

    @property
    def n(self) -> int:
        """How many tokens may be a or b."""
        return self.task.order

    @cached_property
    def label(self) -> Int[np.ndarray, " rows"]:
        """ab."""
        return self.task.product(self.a, self.b)

    @cached_property
    def count(self) -> Float[np.ndarray, " rows"]:
        """The ordered pairs that each row stands for."""
        return np.bincount(self.row.ravel()).astype(np.float64)

    def by_product(self, values: Float[np.ndarray, "rows width"]) -> Float[np.ndarray, "n width"]:
        """The mean of rows over the ordered pairs with each product, taken in float64."""
        where = (self.label, np.arange(len(values)))
        one = csr_array((self.count, where), shape=(self.n, len(values)))
        means = one @ values.astype(np.float64, copy=False) / one.sum(axis=1)[:, None]
        return means.astype(values.dtype, copy=False)

    def square(self, values: np.ndarray) -> Float[np.ndarray, "n n"]:
        """A number for each row as one for each ordered pair."""
        return values[self.row].astype(np.float64)


@dataclass(frozen=True)
class Passed(Pairs):
    """One pass over all pairs, kept. ``stays`` is the residual stream that passes the MLP by, 0 in
    a model without one, ``before`` what the neurons read."""

    stays: Float[np.ndarray, "rows d_model"]
    before: Float[np.ndarray, "rows d_mlp"]

    @cached_property
    def residual(self) -> Float[np.ndarray, "rows d_model"]:
        """The last residual stream at `=`."""
        return self.after(np.maximum(self.before, 0))

    def after(self, hidden: Float[np.ndarray, "rows d_mlp"]) -> Float[np.ndarray, "rows d_model"]:
        """The last residual stream if these were the activations of the neurons."""
        return self.stays + hidden @ self.weights["W_out"] + self.weights["b_out"]

    def logits(self, residual: Float[np.ndarray, "rows d_model"]) -> Float[np.ndarray, "rows n"]:
        """The logits of a residual stream."""
        return residual @ self.weights["W_U"] + self.weights["b_U"]

    def right(self, logits: Float[np.ndarray, "rows n"]) -> float:
        """The share of all ordered pairs that logits answer rightly."""
        return float(self.count @ (answers(logits) == self.label)) / self.n**2

    @property
    def accuracy(self) -> float:
        """The share of all ordered pairs that the network answers rightly."""
        return self.right(self.logits(self.residual))


@dataclass(frozen=True)
class Rig(Pairs):
    """A model set up to be changed and run again; ``base`` is the outcome of the unchanged one."""

    base: Outcome

    @property
    def attends(self) -> bool:
        """Whether heads attend from `=` to a and b."""
        return architecture_of(self.weights).attends

    @property
    def every(self) -> Bool[np.ndarray, " rows"]:
        """All rows."""
        return np.ones(len(self.a), dtype=bool)

    @cached_property
    def chance(self) -> Float[np.ndarray, " rows"]:
        """1 / |J_ab|: how often a random element of the right class is right."""
        sizes = {J.d: len(J) for J in self.task.classes}
        return np.array([1 / sizes[d] for d in self.task.labels[self.label].tolist()])

    def operand_in(self, d: int) -> Bool[np.ndarray, " rows"]:
        """The rows with an operand in J_d."""
        return (self.task.labels[self.a] == d) | (self.task.labels[self.b] == d)

    def product_in(self, d: int) -> Bool[np.ndarray, " rows"]:
        """The rows with their product in J_d."""
        return self.task.labels[self.label] == d

    def with_weights(self, changed: Arrays, rows: np.ndarray | None = None) -> Outcome:
        """The outcome with some weights replaced. ``rows``: the only ones that this can change."""
        rows = np.flatnonzero(self.every if rows is None else rows)
        a, b = self.a[rows], self.b[rows]
        return self.put(rows, outcomes(self.weights | changed, a, b, self.label[rows]))

    def with_stream(self, out: np.ndarray, rows: np.ndarray) -> Outcome:
        """The outcome with the residual stream after the MLP replaced in the rows of a mask."""
        rows = np.flatnonzero(rows)
        return self.put(rows, unembed(self.weights, out[rows], self.label[rows]))

    def with_heads(self, heads: np.ndarray) -> Outcome:
        """The outcome with the weighted values of the heads replaced, in every row."""
        parts = []
        for rows in chunks(np.arange(len(self.a))):
            residual = residual_from_heads(self.weights, heads[rows])
            out = residual + written(self.weights, preactivations(self.weights, residual))
            parts.append(unembed(self.weights, out, self.label[rows]))
        return joined(parts)

    def put(self, rows: Int[np.ndarray, " some"], changed: Outcome) -> Outcome:
        """The outcome of the unchanged model, but for these rows."""
        columns = [x.copy() for x in self.base]
        for column, values in zip(columns, changed, strict=True):
            column[rows] = values
        return Outcome(*columns)

    def weighted_values(self, pattern: Float[np.ndarray, "rows n_heads 3"]) -> np.ndarray:
        """The mean of the values of a, b and `=` under a pattern, in every row."""
        return weighted_values(attended(self.weights).values, self.a, self.b, pattern)

    def state(self) -> State:
        """The activations of the unchanged model."""
        parts = (self._state(rows) for rows in chunks(np.arange(len(self.a))))
        return State(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _state(self, rows: Int[np.ndarray, " chunk"]) -> State:
        before = before_mlp(self.weights, self.a[rows], self.b[rows])
        adds = written(self.weights, before.preactivations)
        return State(before.residual, adds, before.attention)


def rig(weights: Arrays, n: Task | int) -> Rig:
    """Set a model up and run it once."""
    task = task_of(n)
    a, b, row = distinct(weights, task.order)
    return Rig(task, weights, a, b, row, outcomes(weights, a, b, task.product(a, b)))


def passed(weights: Arrays, n: Task | int) -> Passed:
    """Run a model once over all its pairs, in float64."""
    weights, task = {name: x.astype(np.float64) for name, x in weights.items()}, task_of(n)
    a, b, row = distinct(weights, task.order)
    before = before_mlp(weights, a, b)
    return Passed(task, weights, a, b, row, before.residual, before.preactivations)
