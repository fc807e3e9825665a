"""A proof of accuracy that is cheaper than all logits: a lower bound on the margin of every pair.

The activations h of the neurons write h M to the logits, M = W_out W_U. With h̄ the mean over the
pairs with that product, δ = h − h̄ and U the first r left singular vectors of M, the margin of q
over c is that of everything but (δ − δUUᵀ)R, R = M − U UᵀM, which by Cauchy and Schwarz is at least
−‖δ − δUUᵀ‖ ‖R_q − R_c‖. Gross et al., Compact proofs of model performance via mechanistic
interpretability, 2024 (arXiv:2406.11779).

All is computed in float64 from float32 weights, and the bound is on the network in exact
arithmetic: γ_k = k u / (1 − k u) bounds the error of an inner product of length k in any order
(Higham, Accuracy and stability of numerical algorithms, 2002, ch. 3), exp is taken to be right to
EXP units of rounding, and what all roundings together can move a margin by is subtracted from it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from strata.architecture import architecture_of
from studies.mechanism.code.pairs import Pairs

UNIT, EXP = 2.0**-53, 8


def gamma(k: int) -> float:
    """γ_k, the relative error of k roundings."""
    return k * UNIT / (1 - k * UNIT)


@dataclass(frozen=True)
class Ball:
    """Numbers that are known up to a radius."""

    mid: Float[np.ndarray, "..."]
    radius: Float[np.ndarray, "..."]

    def __matmul__(self, other: "Ball") -> "Ball":
        mid, size = self.mid @ other.mid, np.abs(self.mid) @ np.abs(other.mid)
        error = self.radius @ (np.abs(other.mid) + other.radius)
        error = error + np.abs(self.mid) @ other.radius + gamma(self.mid.shape[-1]) * size
        return Ball(mid, error * (1 + gamma(2 * self.mid.shape[-1] + 8)))

    def plus(self, other: "Ball", sign: int = 1) -> "Ball":
        """The sum, or the difference."""
        mid = self.mid + sign * other.mid
        return Ball(mid, (self.radius + other.radius + UNIT * np.abs(mid)) * (1 + gamma(4)))

    def __getitem__(self, i: Any) -> "Ball":
        return Ball(self.mid[i], self.radius[i])


def exact(x: np.ndarray) -> Ball:
    """Numbers without an error."""
    return Ball(x, np.zeros_like(x))


class Tables(NamedTuple):
    """What a token brings by itself: to what the neurons read and to the logits, by head; and what
    every pair has. `attention` is the largest error of a weight of a head."""

    M: Ball  # (d_mlp, n)
    read: Ball  # (heads, n, d_mlp)
    skip: Ball  # (heads, n, n)
    read_always: Ball
    skip_always: Ball
    weights: Float[np.ndarray, "pairs heads 2"]
    attention: float
    cost: int


def tables(of: Pairs) -> Tables:
    """The tables of a model, with the errors of computing them."""
    w = {name: exact(x) for name, x in of.weights.items()}
    d, m, n = of.weights["W_U"].shape[0], of.before.shape[1], of.n
    U = of.weights["W_U"] - of.weights["W_U"].mean(axis=1, keepdims=True)  # margins are the same
    W_U = Ball(U, UNIT * np.abs(U))
    M = w["W_out"] @ W_U
    always = (w["b_out"] @ W_U).plus(w["b_U"])
    if not architecture_of(of.weights).attends:
        halves = [exact(x) for x in np.split(of.weights["W_in"], 2)]
        read = [w["W_E"] @ x for x in halves]
        both = Ball(np.stack([x.mid for x in read]), np.stack([x.radius for x in read]))
        ones = np.zeros((len(of.a), 2, 2))
        ones[:, 0, 0] = ones[:, 1, 1] = 1  # the first table is a's, the second b's
        none = exact(np.zeros((2, n, 0)))
        return Tables(M, both, none, w["b_in"], always, ones, 0.0, m * d * n + 2 * n * d * m)
    heads, _, size = of.weights["W_V"].shape
    values = w["W_E"] @ w["W_V"]
    values = values.plus(w["b_V"][:, None])
    writes = values @ w["W_O"]
    equals = writes[:, -1:]
    own = writes[:, :-1].plus(equals, -1)  # the weights of a head add up to 1
    constant = w["W_E"][-1].plus(w["b_O"])
    for head in range(heads):
        constant = constant.plus(equals[head, 0])
    alpha, error = softmax(of, w)
    cost = (n + 1) * d * d * 3 + heads * n * d * (m + n) + m * d * n
    return Tables(
        M, own @ w["W_in"], own @ W_U, (constant @ w["W_in"]).plus(w["b_in"]),
        (constant @ W_U).plus(always), alpha, error, cost + 2 * (n + 1) * heads * size,
    )  # fmt: skip


def softmax(of: Pairs, w: dict[str, Ball]) -> tuple[Float[np.ndarray, "pairs heads 2"], float]:
    """The weights of `=` on a and on b, and how far at most they are from exact ones."""
    size = of.weights["W_K"].shape[2]
    keys = (w["W_E"] @ w["W_K"]).plus(w["b_K"][:, None])
    query = (w["W_E"][-1] @ w["W_Q"]).plus(w["b_Q"])
    products = keys @ Ball(query.mid[..., None], query.radius[..., None])
    root = np.sqrt(float(size))
    scores = products.mid[..., 0].T / root
    radius = float(products.radius.max() / root + 4 * UNIT * np.abs(scores).max())
    x = np.stack([scores[of.a], scores[of.b], np.broadcast_to(scores[-1], scores[of.a].shape)], -1)
    x = x - x.max(axis=-1, keepdims=True)
    away = radius + 2 * UNIT * float(np.abs(x).max())
    x = np.exp(x)
    alpha = (x / x.sum(axis=-1, keepdims=True))[..., :2]
    return alpha, float(np.expm1(2 * away) * (1 + 1e-9)) + gamma(2 * EXP + 8)


class Bound(NamedTuple):
    """For one rank, a lower bound on the margin of every pair in exact arithmetic."""

    rank: int
    margin: Float[np.ndarray, " pairs"]
    rounding: float


def spread(columns: Float[np.ndarray, "some n"]) -> float:
    """A bound on what differs between two columns of what is at most this: twice the largest."""
    return 2 * float(columns.max(initial=0))


def bounds(of: Pairs, centre: Float[np.ndarray, "pairs d_mlp"] | None = None) -> Iterator[Bound]:
    """The bound for r = 0, 1, 2, … until all singular vectors are kept. `centre` takes the place of
    the mean over the pairs with the same product."""
    known, rows = tables(of), np.arange(len(of.q))
    m, n, heads = of.before.shape[1], of.n, len(known.read.mid)
    M, size = known.M, np.abs(known.M.mid) + known.M.radius
    before = known.read_always.mid + sum(
        known.weights[:, h, :1] * known.read.mid[h][of.a]
        + known.weights[:, h, 1:] * known.read.mid[h][of.b]
        for h in range(heads)
    )
    error = mixing(known.read, known.read_always, known.attention)
    hidden = np.maximum(before, 0)
    logits = np.broadcast_to(known.skip_always.mid, (len(rows), n)).copy()
    rounding = spread(known.skip_always.radius[None])
    if known.skip.mid.shape[2]:
        for h in range(heads):
            logits += known.weights[:, h, :1] * known.skip.mid[h][of.a]
            logits += known.weights[:, h, 1:] * known.skip.mid[h][of.b]
        rounding = spread(mixing(known.skip, known.skip_always, known.attention)[None])
    rounding += spread((error @ size)[None])  # activations
    rounding += spread((hidden.max(axis=0) @ M.radius)[None])  # M
    if centre is None:
        table = of.by_product(hidden)
        logits += (table @ M.mid)[of.q]
        rounding += spread(gamma(m + 2) * (np.abs(table) @ np.abs(M.mid)))
        delta = hidden - table[of.q]
    else:
        logits += centre @ M.mid
        rounding += spread(gamma(m + 2) * (np.abs(centre).max(axis=0) @ np.abs(M.mid))[None])
        delta = hidden - centre
    largest = np.abs(delta).max(axis=0)
    rounding += spread(2 * UNIT * (largest @ np.abs(M.mid))[None])  # the subtraction
    U, _, _ = np.linalg.svd(M.mid, full_matrices=False)
    square, inside, sizes = (delta**2).sum(axis=1), np.zeros(len(rows)), 0.0
    for r in range(U.shape[1] + 1):
        if r:
            along = delta @ U[:, r - 1]
            logits += np.outer(along, U[:, r - 1] @ M.mid)
            inside += along**2
        kept = U[:, :r]
        slack, more, far = cut(kept, M.mid, largest, float(np.sqrt(square.max())))
        left = np.sqrt(np.maximum(square - inside + slack * square, 0)) * (1 + gamma(8))
        apart = distances(M.mid - kept @ (kept.T @ M.mid)) + far
        margin = logits[rows, of.q][:, None] - logits - left[:, None] * apart[of.q]
        margin[rows, of.q] = np.inf
        sizes = max(sizes, float(np.abs(logits).max()) + float(left.max() * apart.max()))
        total = (rounding + more + gamma(r + 2 * heads + 16) * 4 * sizes) * (1 + 1e-6)
        yield Bound(r, margin.min(axis=1) - total, total)


def mixing(table: Ball, always: Ball, attention: float) -> Float[np.ndarray, " width"]:
    """The largest error of a constant and of what the heads mix from a and from b."""
    largest = (np.abs(table.mid) + table.radius).max(axis=1).sum(axis=0)
    error = table.radius.max(axis=1).sum(axis=0) + attention * largest
    return (
        always.radius
        + 2 * error
        + gamma(2 * len(table.mid) + 3) * (np.abs(always.mid) + 2 * largest)
    )


def cut(
    U: Float[np.ndarray, "d_mlp r"],
    M: Float[np.ndarray, "d_mlp n"],
    largest: Float[np.ndarray, " d_mlp"],
    length: float,
) -> tuple[float, float, float]:
    """What rounding does to a cut at r: to the square of ‖δ − δUUᵀ‖, as a share of ‖δ‖²; to the
    margin; and to ‖R_q − R_c‖. `largest` and `length` bound the entries of every δ, its length."""
    m, r = U.shape
    columns = np.linalg.norm(M, axis=0)
    if not r:
        return gamma(m + 8), 0.0, gamma(4) * 2 * float(columns.max())
    # ‖UᵀU − I‖, computed, and its error: U is orthonormal up to that.
    near = float(np.linalg.norm(U.T @ U - np.eye(r))) + gamma(m + 2) * 2 * r
    slack = gamma(4 * m + 4 * r + 32) * (1 + np.sqrt(r)) * 4 + 2 * near
    size = np.abs(U.T) @ np.abs(M)  # bounds |UᵀM|
    sizes = np.linalg.norm(size, axis=0)
    # δU and its product with UᵀM, and δU times UᵀR, which is 0 but for rounding.
    error = 2 * gamma(2 * m + 2 * r + 16) * ((largest @ np.abs(U)) @ size)
    tilt = 2 * length * (gamma(m + 2) + near) * sizes
    far = 4 * gamma(2 * m + r + 8) * float((np.sqrt(r) * sizes + columns).max())
    return float(slack), spread((error + tilt)[None]), far


def distances(R: Float[np.ndarray, "d_mlp n"]) -> Float[np.ndarray, "n n"]:
    """‖R_q − R_c‖, rounded up."""
    product = R.T @ R
    square = np.add.outer(np.diag(product), np.diag(product)) - 2 * product
    length = float(np.diag(product).max(initial=0))
    error = gamma(len(R) + 8) * 8 * max(length, 1e-300)
    return np.sqrt(np.maximum(square, 0) + error) * (1 + gamma(8))


def multiply_adds(of: Pairs, r: int) -> int:
    """All that the proof of rank r computes: tables, what neurons read, the singular vectors (Golub
    and Van Loan, Matrix computations, 2013, 8.6), δ, its length and its part in U, and bounds."""
    m, n, per_pair = of.before.shape[1], of.n, pair_cost(of)
    fixed = tables(of).cost + 3 * m * n**2 + 10 * n**3 + 2 * n * m * n + 2 * r * m * n
    return fixed + len(of.q) * (per_pair + m + m * r + r * n + n)


def pair_cost(of: Pairs) -> int:
    """From tables to what neurons read and to the logits beside them; softmax as 3 each."""
    m, n = of.before.shape[1], of.n
    if not architecture_of(of.weights).attends:
        return 0  # two rows added up
    heads = len(of.weights["W_V"])
    return 2 * heads * (m + n) + 9 * heads


def all_logits(of: Pairs) -> int:
    """Multiply-adds of all logits of the same pairs from the same tables, the cheaper way."""
    m, n, d = of.before.shape[1], of.n, len(of.weights["W_U"])
    pairs = len(of.q)
    by_M, by_stream = pairs * m * n, pairs * (m * d + d * n) - m * d * n
    return tables(of).cost + pairs * pair_cost(of) + min(by_M, by_stream)


def forward_passes(of: Pairs) -> int:
    """Multiply-adds of the network on every ordered pair, from tables of keys and values."""
    m, n, d = of.before.shape[1], of.n, len(of.weights["W_U"])
    if not architecture_of(of.weights).attends:
        return n * n * (3 * d * m + d * n)
    return 3 * (n + 1) * d * d + n * n * (6 * d + d * d + 2 * d * m + d * n)


class Proof(NamedTuple):
    """Proven accuracy by rank from 0 on; and the least rank that proves a share of the pairs that
    are answered rightly, and all of them; None where no rank does."""

    proven: list[float]
    right: float
    rank: int | None
    rank_all: int | None
    rounding: float


def prove(
    of: Pairs,
    enough: float,
    centre: Float[np.ndarray, "pairs d_mlp"] | None = None,
    most: int | None = None,
) -> Proof:
    """Try rank after rank until all that is right is proven, or up to `most`."""
    logits = of.logits(of.residual)
    own = logits[np.arange(len(of.q)), of.q].copy()
    logits[np.arange(len(of.q)), of.q] = -np.inf
    right = float(of.count @ (own > logits.max(axis=1)) / of.n**2)
    proven, rounding = [], 0.0
    for bound in bounds(of, centre):
        proven.append(float(of.count @ (bound.margin > 0) / of.n**2))
        rounding = bound.rounding
        if proven[-1] >= right or bound.rank == most:
            break
    return Proof(proven, right, first(proven, enough * right), first(proven, right), rounding)


def first(values: list[float], level: float) -> int | None:
    """The first place with at least this value, above 0."""
    return next((i for i, x in enumerate(values) if x >= level and x > 0), None)
