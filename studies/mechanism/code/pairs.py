"""What every pair of a model carries to the logits, in float64: the arrays that all measures need.

In a model that is symmetric in a and b the pairs are those with a ≤ b, counted twice where a < b.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import logsumexp

from strata.measure.activations import answers, before_mlp, distinct
from strata.store import Arrays
from studies.mechanism.code.descriptions import weights_of


@dataclass(frozen=True)
class Pairs:
    """The pairs (a, b) with product q, each for `count` ordered ones; `row` says which each ordered
    pair is. `stays` is the residual stream that passes the MLP by, 0 in a model without one,
    `before` what the neurons read."""

    n: int
    weights: Arrays
    a: Int[np.ndarray, " pairs"]
    b: Int[np.ndarray, " pairs"]
    row: Int[np.ndarray, "n n"]
    count: Float[np.ndarray, " pairs"]
    stays: Float[np.ndarray, "pairs d_model"]
    before: Float[np.ndarray, "pairs d_mlp"]

    @cached_property
    def q(self) -> Int[np.ndarray, " pairs"]:
        """The products."""
        return self.a * self.b % self.n

    @cached_property
    def N(self) -> Float[np.ndarray, " n"]:
        """N(q), how many ordered pairs have each product."""
        return weights_of(self.n)

    @cached_property
    def residual(self) -> Float[np.ndarray, "pairs d_model"]:
        """The last residual stream at `=`."""
        return self.after(np.maximum(self.before, 0))

    def after(self, hidden: Float[np.ndarray, "pairs d_mlp"]) -> Float[np.ndarray, "pairs d_model"]:
        """The last residual stream if these were the activations of the neurons."""
        return self.stays + hidden @ self.weights["W_out"] + self.weights["b_out"]

    def logits(self, residual: Float[np.ndarray, "pairs d_model"]) -> Float[np.ndarray, "pairs n"]:
        """The logits of a residual stream."""
        return residual @ self.weights["W_U"] + self.weights["b_U"]

    def by_product(self, x: Float[np.ndarray, "pairs width"]) -> Float[np.ndarray, "n width"]:
        """The mean over the ordered pairs with each product."""
        where = (self.q, np.arange(len(self.q)))
        return csr_array((self.count, where), shape=(self.n, len(self.q))) @ x / self.N[:, None]

    def right(self, logits: Float[np.ndarray, "pairs n"]) -> float:
        """The share of all ordered pairs that logits answer rightly."""
        return float(self.count @ (answers(logits) == self.q)) / self.n**2

    def loss_and_margin(self, logits: Float[np.ndarray, "pairs n"]) -> tuple[float, float]:
        """The mean over all ordered pairs of the cross-entropy, in nats, and of how far the logit
        of the right answer is above the largest other."""
        rows, own = np.arange(len(self.q)), logits[np.arange(len(self.q)), self.q]
        others = logits.copy()
        others[rows, self.q] = -np.inf
        loss, margin = logsumexp(logits, axis=1) - own, own - others.max(axis=1)
        return float(self.count @ loss) / self.n**2, float(self.count @ margin) / self.n**2

    @property
    def accuracy(self) -> float:
        """The share of all ordered pairs that the network answers rightly."""
        return self.right(self.logits(self.residual))


class Profile(NamedTuple):
    """y(q, c), the mean over the pairs with product q of z, the logit less its mean over c; and
    Σ z² over all ordered pairs."""

    y: Float[np.ndarray, "n n"]
    squares: float

    @property
    def N(self) -> Float[np.ndarray, " n"]:
        return weights_of(len(self.y))

    def energy(self, x: Float[np.ndarray, "n n"], over: np.ndarray | None = None) -> float:
        """Σ N x² over all products, or over some."""
        return float((self.N if over is None else self.N * over) @ (x**2).sum(axis=1))

    def error(self, predicted: Float[np.ndarray, "n n"], over: np.ndarray | None = None) -> float:
        """Σ N (y − ŷ)²."""
        return self.energy(self.y - predicted, over)

    def share(self, predicted: Float[np.ndarray, "n n"], over: np.ndarray | None = None) -> float:
        """1 − Σ N (y − ŷ)² / Σ N y²; NaN where there is nothing to explain."""
        total = self.energy(self.y, over)
        return 1 - self.error(predicted, over) / total if total else float("nan")

    def right(self, predicted: Float[np.ndarray, "n n"]) -> float:
        """Share of the pairs whose product has the largest prediction."""
        return float(self.N @ (answers(predicted) == np.arange(len(self.y))) / len(self.y) ** 2)


def all_pairs(weights: Arrays, n: int) -> Pairs:
    """Run a model over all its pairs."""
    weights = {name: x.astype(np.float64) for name, x in weights.items()}
    pairs = distinct(weights, n)
    before = before_mlp(weights, pairs.a, pairs.b)
    count = pairs.count.astype(np.float64)
    parts = before.residual, before.preactivations
    return Pairs(n, weights, pairs.a, pairs.b, pairs.row, count, *parts)


def profile(of: Pairs) -> Profile:
    """The mean centred logits of every product."""
    z = of.logits(of.residual)
    z -= z.mean(axis=1, keepdims=True)
    return Profile(of.by_product(z), float(of.count @ (z**2).sum(axis=1)))
