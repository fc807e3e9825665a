"""The mean logits of every product: what votes, gates and the last layer are fitted to."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.measure.activations import answers
from strata.patch.patching import ForwardPass
from studies.mechanism.code.descriptions import pair_counts


class Profile(NamedTuple):
    """y(q, c), the mean over the pairs with product q of z, the logit less its mean over c; and
    Σ z² over all ordered pairs."""

    y: Float[np.ndarray, "n n"]
    squares: float

    @property
    def N(self) -> Float[np.ndarray, " n"]:
        """Return how many ordered pairs have each product."""
        return pair_counts(len(self.y))

    def energy(self, x: Float[np.ndarray, "n n"], over: np.ndarray | None = None) -> float:
        """Return Σ N x² over all products, or over some."""
        return float((self.N if over is None else self.N * over) @ (x**2).sum(axis=1))

    def error(self, predicted: Float[np.ndarray, "n n"], over: np.ndarray | None = None) -> float:
        """Return Σ N (y − ŷ)²."""
        return self.energy(self.y - predicted, over)

    def share(self, predicted: Float[np.ndarray, "n n"], over: np.ndarray | None = None) -> float:
        """Return 1 − Σ N (y − ŷ)² / Σ N y²; NaN where there is nothing to explain."""
        total = self.energy(self.y, over)
        return 1 - self.error(predicted, over) / total if total else float("nan")

    def right(self, predicted: Float[np.ndarray, "n n"]) -> float:
        """Return the share of the pairs whose product has the largest prediction."""
        return float(self.N @ (answers(predicted) == np.arange(len(self.y))) / len(self.y) ** 2)


def profile(pairs: ForwardPass) -> Profile:
    """Return the mean centred logits of every product."""
    z = pairs.logits(pairs.residual)
    z -= z.mean(axis=1, keepdims=True)
    return Profile(pairs.by_product(z), float(pairs.count @ (z**2).sum(axis=1)))


def profile_of_logits(logits: Float[np.ndarray, "pairs n"]) -> Profile:
    """Return the profile of the logits of all pairs, in the order of a, then b."""
    z = logits.astype(np.float64)
    z -= z.mean(axis=1, keepdims=True)
    n, y = z.shape[1], np.zeros(z.shape[1:] * 2)
    np.add.at(y, np.outer(np.arange(n), np.arange(n)).ravel() % n, z)
    return Profile(y / pair_counts(n)[:, None], float((z**2).sum()))
