"""Run a network over all pairs: once, with its activations kept, or again with something changed.

A model that is symmetric in its operands has a row for each unordered pair, another model one for
every ordered pair. What is run again gives losses, answers and margins, and never keeps all logits.
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
    attention_scores,
    before_mlp,
    distinct,
    mlp_output,
    preactivations,
    residual_from_heads,
    weighted_values,
)
from strata.store import Arrays
from strata.task import Task, task_of


class Outcome(NamedTuple):
    """An ``Outcome`` is what each row gave: cross-entropy, the answer, logit(correct) − the best
    wrong logit."""

    loss: Float[np.ndarray, " rows"]
    answer: Int[np.ndarray, " rows"]
    margin: Float[np.ndarray, " rows"]


def outcome(logits: Float[np.ndarray, "rows n"], label: Int[np.ndarray, " rows"]) -> Outcome:
    """Return loss, answer and margin; a loss far below float32's 1 keeps its digits."""
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
    """Join the rows of all parts, one after the other."""
    return Outcome(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def chunks(rows: Int[np.ndarray, " rows"]) -> Iterator[Int[np.ndarray, " chunk"]]:
    """Yield the rows in parts of ``ROWS``, the last of which may be shorter."""
    for start in range(0, max(len(rows), 1), ROWS):  # no rows make one empty chunk
        yield rows[start : start + ROWS]


def outcomes(weights: Arrays, a: np.ndarray, b: np.ndarray, label: np.ndarray) -> Outcome:
    """Run the network on pairs of tokens, which may be more than n, with their labels."""
    return joined(
        outcome(activations.forward(weights, a[rows], b[rows]).logits, label[rows])
        for rows in chunks(np.arange(len(a)))
    )


def unembed(weights: Arrays, out: np.ndarray, label: np.ndarray) -> Outcome:
    """Return the outcome of the residual stream after the MLP."""
    return joined(
        outcome(out[rows] @ weights["W_U"] + weights["b_U"], label[rows])
        for rows in chunks(np.arange(len(label)))
    )


@dataclass(frozen=True)
class Pairs:
    """``Pairs`` are a model and the pairs that it tells apart: ``row`` says which of them each
    ordered pair is."""

    task: Task
    weights: Arrays
    a: Int[np.ndarray, " rows"]
    b: Int[np.ndarray, " rows"]
    row: Int[np.ndarray, "n n"]

    @property
    def n(self) -> int:
        """Return how many tokens may be a or b."""
        return self.task.order

    @cached_property
    def label(self) -> Int[np.ndarray, " rows"]:
        """Return ab in every row."""
        return self.task.product(self.a, self.b)

    @cached_property
    def count(self) -> Float[np.ndarray, " rows"]:
        """Return the number of ordered pairs that each row stands for."""
        return np.bincount(self.row.ravel()).astype(np.float64)

    def by_product(self, values: Float[np.ndarray, "rows width"]) -> Float[np.ndarray, "n width"]:
        """Return the mean of rows over the ordered pairs with each product, computed in float64."""
        cells = (self.label, np.arange(len(values)))
        weighting = csr_array((self.count, cells), shape=(self.n, len(values)))
        means = weighting @ values.astype(np.float64, copy=False) / weighting.sum(axis=1)[:, None]
        return means.astype(values.dtype, copy=False)

    def square(self, values: np.ndarray) -> Float[np.ndarray, "n n"]:
        """Return a number for each row as one for each ordered pair."""
        return values[self.row].astype(np.float64)


@dataclass(frozen=True)
class ForwardPass(Pairs):
    """A ``ForwardPass`` is one forward pass over all pairs, kept. ``stream_before_mlp`` passes the
    MLP by and is 0 in a model without one; ``preactivations`` are what the neurons read."""

    stream_before_mlp: Float[np.ndarray, "rows d_model"]
    preactivations: Float[np.ndarray, "rows d_mlp"]

    @cached_property
    def residual(self) -> Float[np.ndarray, "rows d_model"]:
        """Return the last residual stream at `=`."""
        return self.after(np.maximum(self.preactivations, 0))

    def after(self, hidden: Float[np.ndarray, "rows d_mlp"]) -> Float[np.ndarray, "rows d_model"]:
        """Return the last residual stream if ``hidden`` were the activations of the neurons."""
        return self.stream_before_mlp + hidden @ self.weights["W_out"] + self.weights["b_out"]

    def logits(self, residual: Float[np.ndarray, "rows d_model"]) -> Float[np.ndarray, "rows n"]:
        """Return the logits of a residual stream."""
        return residual @ self.weights["W_U"] + self.weights["b_U"]

    def right(self, logits: Float[np.ndarray, "rows n"]) -> float:
        """Return the share of all ordered pairs for which logits give the right answer."""
        return float(self.count @ (answers(logits) == self.label)) / self.n**2

    @property
    def accuracy(self) -> float:
        """Return the share of all ordered pairs for which the network gives the right answer."""
        return self.right(self.logits(self.residual))


@dataclass(frozen=True)
class Bench(Pairs):
    """A ``Bench`` is a model to be changed and run again; ``base`` is its outcome unchanged."""

    base: Outcome

    @property
    def attends(self) -> bool:
        """Whether heads attend from `=` to a and b."""
        return architecture_of(self.weights).attends

    @cached_property
    def attention(self) -> Float[np.ndarray, "rows n_heads 3"]:
        """Return the attention patterns of the unchanged model."""
        parts = [
            before_mlp(self.weights, self.a[x], self.b[x]) for x in chunks(np.arange(len(self.a)))
        ]
        return np.concatenate([x.attention for x in parts])

    @cached_property
    def chance(self) -> Float[np.ndarray, " rows"]:
        """Return 1 / |J_ab|, which is how often a random element of the right class is right."""
        sizes = {J.d: len(J) for J in self.task.classes}
        return np.array([1 / sizes[d] for d in self.task.labels[self.label].tolist()])

    def operand_in(self, d: int) -> Bool[np.ndarray, " rows"]:
        """Return a mask of the rows with an operand in J_d."""
        return (self.task.labels[self.a] == d) | (self.task.labels[self.b] == d)

    def with_weights(self, changed: Arrays) -> Outcome:
        """Return the outcome with some weights replaced."""
        return outcomes(self.weights | changed, self.a, self.b, self.label)

    def with_heads(self, heads: np.ndarray) -> Outcome:
        """Return the outcome with the weighted values of the heads replaced, in every row."""
        parts = []
        for rows in chunks(np.arange(len(self.a))):
            residual = residual_from_heads(self.weights, heads[rows])
            out = residual + mlp_output(self.weights, preactivations(self.weights, residual))
            parts.append(unembed(self.weights, out, self.label[rows]))
        return joined(parts)

    def weighted_values(self, pattern: Float[np.ndarray, "rows n_heads 3"]) -> np.ndarray:
        """Return the mean of the values of a, b and `=` under a pattern, in every row."""
        return weighted_values(attention_scores(self.weights).values, self.a, self.b, pattern)


def rig(weights: Arrays, n: Task | int) -> Bench:
    """Set a model up and run it once."""
    task = task_of(n)
    a, b, row = distinct(weights, task.order)
    return Bench(task, weights, a, b, row, outcomes(weights, a, b, task.product(a, b)))


def forward_pass(weights: Arrays, n: Task | int) -> ForwardPass:
    """Run a model once over all its pairs, in float64."""
    weights, task = {name: x.astype(np.float64) for name, x in weights.items()}, task_of(n)
    a, b, row = distinct(weights, task.order)
    before = before_mlp(weights, a, b)
    return ForwardPass(task, weights, a, b, row, before.residual, before.preactivations)
