"""Statement 3 of criteria-2.md: the last layer does what the loss asks, given its lengths.

Of all last layers whose columns have the lengths ρ(c) of the network's own, the one with the least
loss on the mean residual streams gives, without a bias and without a number fitted to a logit, the
network's mean logits. Rivals that the literature offers are read out beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import logsumexp

from strata.patch.patching import ForwardPass
from studies.mechanism.code.profile import Profile

DIRECTIONS, ITERATIONS, IN_A_BOX = 16, 3000, 1000
VARY = 0.1  # a bias, or how lengths differ, below this share of the whole has no value

Columns = Float[np.ndarray, "r n"]


class Readout(NamedTuple):
    """What a last layer explains of y, and of the part of y that depends on the candidate alone."""

    share: float
    bias: float


@dataclass(frozen=True)
class LastLayer:
    """The mean residual stream of each product, X, in its first 16 directions E, which are not
    centred, and the network's own columns in them."""

    pairs: ForwardPass
    y: Profile

    @cached_property
    def streams(self) -> Float[np.ndarray, "n d_model"]:
        """Return X."""
        return self.pairs.by_product(self.pairs.residual)

    @cached_property
    def directions(self) -> Float[np.ndarray, "d_model r"]:
        """Return E, the first right singular vectors of X, weighted by the share of pairs."""
        weighted = np.sqrt(self.weight)[:, None] * self.streams
        return np.linalg.svd(weighted, full_matrices=False)[2][:DIRECTIONS].T

    @property
    def weight(self) -> Float[np.ndarray, " n"]:
        """Return the share of all pairs with each product."""
        return self.y.N / self.pairs.n**2

    @cached_property
    def x(self) -> Float[np.ndarray, "n r"]:
        """Return X in the directions."""
        return self.streams @ self.directions

    @cached_property
    def lengths(self) -> Float[np.ndarray, " n"]:
        """Return ρ(c), the lengths of the network's columns, centred over c, in the directions."""
        W_U = self.pairs.weights["W_U"]
        return np.linalg.norm(self.directions.T @ (W_U - W_U.mean(axis=1, keepdims=True)), axis=0)

    @cached_property
    def least(self) -> Columns:
        """Return V*, the columns of the least loss among those as long as the network's own."""
        return least_loss(self, self.lengths)

    @cached_property
    def means(self) -> Columns:
        """Return the class means: X(c), less the mean over all pairs, in the directions."""
        return (self.x - self.weight @ self.x).T

    def readout(self, logits: Float[np.ndarray, "n n"]) -> Readout:
        """Measure what logits of the products explain."""
        logits = logits - logits.mean(axis=1, keepdims=True)
        bias, network_bias = (self.weight @ z for z in (logits, self.y.y))
        missed = ((network_bias - bias) ** 2).sum() / (network_bias**2).sum()
        return Readout(self.y.share(logits), float(1 - missed))

    def right(self, columns: Columns) -> float:
        """Return the right answers of the network with these columns and no bias."""
        return self.pairs.right(self.pairs.residual @ (self.directions @ columns))

    @property
    def bias(self) -> float:
        """Return the share of y that depends on the candidate alone."""
        network_bias = self.weight @ self.y.y
        return float(self.pairs.n**2 * (network_bias**2).sum() / self.y.energy(self.y.y))


def log_loss(
    logits: Float[np.ndarray, "n n"],
    weight: Float[np.ndarray, " n"],
    answers: Int[np.ndarray, " n"],
) -> tuple[float, Float[np.ndarray, "n n"]]:
    """Return the logarithm of the mean cross-entropy, and its slope in each logit. Both are exact
    where the loss is far below the rounding of 1, as the losses of networks differ by ten orders of
    magnitude."""
    rows = np.arange(len(logits))
    excess = logits - logits[rows, answers][:, None]
    excess[rows, answers] = -np.inf
    ahead = logsumexp(excess, axis=1)  # of the right answer; the loss is softplus of it
    log_losses = np.where(ahead < -30, ahead, np.log(np.logaddexp(0, np.maximum(ahead, -30))))
    log_mean = logsumexp(log_losses + np.log(weight))
    factor = np.log(weight) - np.logaddexp(0, ahead) - log_mean
    slope = np.exp(excess + factor[:, None])
    slope[rows, answers] = -slope.sum(axis=1)
    return float(log_mean), slope


def least_loss(
    last: LastLayer, lengths: Float[np.ndarray, " n"], answers: Int[np.ndarray, " n"] | None = None
) -> Columns:
    """Find the columns of these lengths with the least loss, by L-BFGS over u, V_c = ρ(c)
    u_c/‖u_c‖, from the class means. ``answers`` has the answer to each product, by default the
    product itself."""
    answers = np.arange(len(last.x)) if answers is None else answers
    start = np.empty_like(last.means)
    start[:, answers] = last.means

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        u = flat.reshape(start.shape)
        unit = u / (norm := np.linalg.norm(u, axis=0))
        value, slope = log_loss(last.x @ (lengths * unit), last.weight, answers)
        slope = last.x.T @ slope * lengths / norm
        return value, (slope - unit * (unit * slope).sum(axis=0)).ravel()

    u = _least(loss, start, ITERATIONS)
    return lengths * u / np.linalg.norm(u, axis=0)


def least_loss_in_box(last: LastLayer) -> Float[np.ndarray, "d_model n"]:
    """Find the last layer with the least loss of all whose entries are at most as large as the
    largest of the network's own."""
    size, start = np.abs(last.pairs.weights["W_U"]).max(), last.directions @ last.means
    answers = np.arange(len(last.x))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        logits = last.streams @ flat.reshape(start.shape)
        value, slope = log_loss(logits, last.weight, answers)
        return value, (last.streams.T @ slope).ravel()

    return _least(loss, start * size / np.abs(start).max(), IN_A_BOX, (-size, size))


def _least(
    loss: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    iterations: int,
    box: tuple[float, float] | None = None,
) -> np.ndarray:
    """Find where the loss is least, by L-BFGS to convergence or for so many iterations."""
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20}
    result = minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", bounds=box and [box] * start.size,
        options=options | {"ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return result.x.reshape(start.shape)


def bias_of_least_loss(last: LastLayer) -> float:
    """Return the share of the network's own bias that the bias of the least loss explains, given
    all else of the mean logits."""
    network_bias = last.weight @ last.y.y
    without_bias, answers = last.y.y - network_bias, np.arange(len(last.x))

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = log_loss(without_bias + b, last.weight, answers)
        return value, slope.sum(axis=0)

    best = _least(loss, np.zeros(len(last.x)), ITERATIONS)
    return float(1 - ((best - best.mean() - network_bias) ** 2).sum() / (network_bias**2).sum())


def cosine(last: LastLayer) -> float:
    """Return the mean cosine of the network's columns, centred, with the class means, centred."""
    W_U = last.pairs.weights["W_U"]
    columns, means = W_U.T - W_U.mean(axis=1), last.streams - last.weight @ last.streams
    products = (columns * means).sum(axis=1)
    sizes = np.linalg.norm(columns, axis=1) * np.linalg.norm(means, axis=1)
    return float((products / np.maximum(sizes, 1e-300)).mean())


def cosine_with(last: LastLayer, columns: Columns) -> float:
    """Return the mean cosine of the network's columns, centred and in the directions, with
    others."""
    W_U = last.pairs.weights["W_U"]
    network = last.directions.T @ (W_U - W_U.mean(axis=1, keepdims=True))
    sizes = np.linalg.norm(network, axis=0) * np.linalg.norm(columns, axis=0)
    return float(((network * columns).sum(axis=0) / np.maximum(sizes, 1e-300)).mean())


def loss_over_least(last: LastLayer) -> float:
    """Return the loss of the network's last layer on the mean streams over that of the least loss
    at the same lengths."""
    products = np.arange(len(last.x))
    network, _ = log_loss(last.pairs.logits(last.streams), last.weight, products)
    least, _ = log_loss(last.x @ last.least, last.weight, products)
    return float(np.exp(network - least))


def equal_lengths(last: LastLayer) -> Columns:
    """Return the columns of the least loss that have one length, the root mean square of all."""
    return least_loss(last, np.full(len(last.lengths), np.sqrt((last.lengths**2).mean())))


def scale_to_fit(last: LastLayer, logits: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Multiply the logits by the one number for which they fit y best."""
    logits = logits - logits.mean(axis=1, keepdims=True)
    return logits * (last.y.N @ (logits * last.y.y).sum(axis=1)) / last.y.energy(logits)


def rivals(last: LastLayer, equal_columns: Columns) -> dict[str, Float[np.ndarray, "n n"]]:
    """Return the mean logits of each product as rivals have them, each times the factor for which
    it fits best: neural collapse reads out by the class means, by their directions or by the
    nearest; a softmax code has equal lengths; AdamW minimises the loss in a box."""
    directions = last.means / np.maximum(np.linalg.norm(last.means, axis=0), 1e-300)
    readouts = {
        "class means": last.x @ last.means,
        "directions of class means": last.x @ (last.lengths * directions),
        "nearest class mean": -((last.x[:, None] - last.x) ** 2).sum(axis=2) / 2,
        "equal lengths": last.x @ equal_columns,
        "box": last.streams @ least_loss_in_box(last),
    }
    return {name: scale_to_fit(last, logits) for name, logits in readouts.items()}
