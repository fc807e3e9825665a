"""The true network run again with something changed, over all pairs: losses, answers, margins.

The transformer is symmetric in its operands, so each unordered pair is one row; the MLP-only model
has a row for every ordered pair. Nothing here keeps the logits of all pairs at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from sympy.ntheory import factorint

from strata.analysis import activations
from strata.analysis.activations import ROWS, attended, downstream, hidden, mixed
from strata.interventions.outcomes import Outcome, joined, outcome, short
from strata.monoid import classes
from strata.store import Arrays

Measures = dict[str, Any]


class State(NamedTuple):
    """The residual stream before the MLP, what the MLP writes, and the attention, row by row."""

    residual: Float[np.ndarray, "rows d_model"]
    written: Float[np.ndarray, "rows d_model"]
    attention: Float[np.ndarray, "rows n_heads 3"]


def chunks(rows: Int[np.ndarray, " rows"]) -> Iterator[Int[np.ndarray, " chunk"]]:
    for start in range(0, max(len(rows), 1), ROWS):  # no rows are one chunk of none
        yield rows[start : start + ROWS]


def forward(weights: Arrays, a: np.ndarray, b: np.ndarray, label: np.ndarray) -> Outcome:
    """The network on pairs of tokens, which may be more than n, with their labels."""
    return joined(
        [
            outcome(activations.forward(weights, a[rows], b[rows]).logits, label[rows])
            for rows in chunks(np.arange(len(a)))
        ]
    )


def unembed(weights: Arrays, out: np.ndarray, label: np.ndarray) -> Outcome:
    """From the residual stream after the MLP on."""
    return joined(
        [
            outcome(out[rows] @ weights["W_U"] + weights["b_U"], label[rows])
            for rows in chunks(np.arange(len(label)))
        ]
    )


def written(weights: Arrays, residual: np.ndarray) -> Float[np.ndarray, "rows d_model"]:
    """What the MLP adds to this residual stream."""
    return hidden(weights, residual @ weights["W_in"]) @ weights["W_out"] + weights["b_out"]


@dataclass(frozen=True)
class Rig:
    """A model set up to be changed and run again. ``row_of`` gives the row of every ordered pair,
    a-major; ``base`` is the outcome of the unchanged model."""

    n: int
    weights: Arrays
    a: Int[np.ndarray, " rows"]
    b: Int[np.ndarray, " rows"]
    row_of: Int[np.ndarray, " pairs"]
    base: Outcome

    @property
    def attends(self) -> bool:
        """Whether the model is the transformer."""
        return "W_Q" in self.weights

    @cached_property
    def label(self) -> Int[np.ndarray, " rows"]:
        """ab mod n."""
        return self.a * self.b % self.n

    @property
    def every(self) -> Bool[np.ndarray, " rows"]:
        """All rows."""
        return np.ones(len(self.a), dtype=bool)

    @cached_property
    def count(self) -> Int[np.ndarray, " rows"]:
        """The ordered pairs that each row stands for."""
        return np.bincount(self.row_of)

    @cached_property
    def chance(self) -> Float[np.ndarray, " rows"]:
        """1 / |J_ab|: how often a random element of the right class is right."""
        sizes = {J.d: len(J) for J in classes(self.n)}
        return np.array([1 / sizes[d] for d in np.gcd(self.label, self.n).tolist()])

    def operand_in(self, d: int) -> Bool[np.ndarray, " rows"]:
        """The rows with an operand in J_d."""
        return (np.gcd(self.a, self.n) == d) | (np.gcd(self.b, self.n) == d)

    def product_in(self, d: int) -> Bool[np.ndarray, " rows"]:
        """The rows with their product in J_d."""
        return np.gcd(self.label, self.n) == d

    def with_weights(self, changed: Arrays, rows: np.ndarray | None = None) -> Outcome:
        """The outcome with some weights replaced. ``rows``: the only ones that this can change."""
        rows = np.flatnonzero(self.every if rows is None else rows)
        a, b = self.a[rows], self.b[rows]
        return self.put(rows, forward(self.weights | changed, a, b, self.label[rows]))

    def with_stream(self, out: np.ndarray, rows: np.ndarray) -> Outcome:
        """The outcome with the residual stream after the MLP replaced in the rows of a mask."""
        rows = np.flatnonzero(rows)
        return self.put(rows, unembed(self.weights, out[rows], self.label[rows]))

    def with_heads(self, heads: np.ndarray) -> Outcome:
        """The outcome with what the heads mixed replaced, in every row."""
        parts = []
        for rows in chunks(np.arange(len(self.a))):
            residual = downstream(self.weights, heads[rows])
            out = residual + written(self.weights, residual)
            parts.append(unembed(self.weights, out, self.label[rows]))
        return joined(parts)

    def put(self, rows: Int[np.ndarray, " some"], found: Outcome) -> Outcome:
        """The outcome of the unchanged model, but for these rows."""
        columns = [x.copy() for x in self.base]
        for column, values in zip(columns, found, strict=True):
            column[rows] = values
        return Outcome(*columns)

    def mixed(self, pattern: Float[np.ndarray, "rows n_heads 3"]) -> np.ndarray:
        """What each head mixes in every row under a pattern."""
        return mixed(attended(self.weights).values, self.a, self.b, pattern)

    def state(self) -> State:
        """The activations of the unchanged model."""
        parts, w = [], self.weights
        for rows in chunks(np.arange(len(self.a))):
            a, b = self.a[rows], self.b[rows]
            found = activations.forward(w, a, b)
            adds = found.mlp @ w["W_out"] + w["b_out"]
            stays = np.zeros_like(adds)
            if self.attends:
                stays = downstream(w, mixed(attended(w).values, a, b, found.attention))
            parts.append(State(stays, adds, found.attention))
        return State(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def square(self, values: np.ndarray) -> Float[np.ndarray, "n n"]:
        """A number for each row as one for each ordered pair."""
        return values[self.row_of].reshape(self.n, self.n).astype(np.float64)


def rig(weights: Arrays, n: int) -> Rig:
    """Set a model up and run it once."""
    if "W_Q" in weights:
        a, b = np.triu_indices(n)
        place = np.zeros((n, n), dtype=np.int64)
        place[a, b] = place[b, a] = np.arange(len(a))
    else:
        a, b = np.divmod(np.arange(n * n), n)
        place = np.arange(n * n).reshape(n, n)
    base = forward(weights, a, b, a * b % n)
    return Rig(n, weights, a, b, place.ravel(), base)


def blocks(x: Float[np.ndarray, "n n"], n: int) -> Float[np.ndarray, "count count"]:
    """Sums over the pairs of each (class of a, class of b)."""
    member = np.stack([np.gcd(np.arange(n), n) == J.d for J in classes(n)]).astype(float)
    return member @ x @ member.T


def brief(
    rig: Rig,
    found: Outcome,
    rows: Bool[np.ndarray, " rows"] | None = None,
    chance: Float[np.ndarray, " rows"] | None = None,
) -> dict[str, float | None] | None:
    """Mean loss, accuracy, margin and skill over the ordered pairs of these rows, or of all.

    Skill is (accuracy − chance) / (1 − chance); None where chance is always right. None where there
    is no pair.
    """
    weight = rig.count if rows is None else rig.count * rows
    if not weight.any():
        return None
    values = {"loss": found.loss, "accuracy": found.answer == rig.label, "margin": found.margin}
    means = {name: np.average(x, weights=weight) for name, x in values.items()}
    level = np.average(rig.chance if chance is None else chance, weights=weight)
    skill = short((means["accuracy"] - level) / (1 - level)) if level < 1 else None
    return {**{name: short(x) for name, x in means.items()}, "skill": skill}


def measures(rig: Rig, found: Outcome) -> Measures:
    """Loss, accuracy and margin over all pairs and by target class; the first two also by pair of
    operand classes.

    Beside them how often the answer lies in the right class, and agrees with ab modulo each prime
    power of n.
    """
    n, label = rig.n, rig.label
    right = {"loss": found.loss, "accuracy": found.answer == label, "margin": found.margin}
    sizes = blocks(np.ones((n, n)), n)
    sums = {name: blocks(rig.square(x), n) for name, x in right.items()}
    divisors = np.array([J.d for J in classes(n)])
    target = np.gcd(np.outer(divisors, divisors), n)  # d, d' decide the class of ab for every n
    in_class = np.gcd(found.answer, n) == np.gcd(label, n)
    powers = [p**k for p, k in sorted(factorint(n).items())]
    return {
        **(brief(rig, found) or {}),
        "class_accuracy": short(rig.square(in_class).mean()),
        "modulo": {
            str(q): short(rig.square((found.answer - label) % q == 0).mean()) for q in powers
        },
        "by_target": {
            str(d): {
                name: short(x[target == d].sum() / sizes[target == d].sum())
                for name, x in sums.items()
            }
            for d in divisors.tolist()
        },
        "by_operands": {
            name: [[short(y, 4) for y in row] for row in sums[name] / sizes]
            for name in ("loss", "accuracy")
        },
    }
