"""A proof of accuracy that is cheaper than all logits: a lower bound on the margin of every pair.

The activations h of the neurons write h M to the logits, M = W_out W_U. With h̄ the mean over the
pairs with that product, δ = h − h̄ and U the first r left singular vectors of M, the margin of q
over c is that of everything but (δ − δUUᵀ)R, R = M − U UᵀM, which by Cauchy and Schwarz is at least
−‖δ − δUUᵀ‖ ‖R_q − R_c‖. Gross et al., Compact proofs of model performance via mechanistic
interpretability, 2024 (arXiv:2406.11779).

All is computed in float64 from float32 weights, and the bound is on the network in exact
arithmetic. γ_k = k u / (1 − k u) bounds the relative error of a product after k roundings, and a
sum of such products is off by at most γ_k times the sum of their sizes, in any order (Higham,
Accuracy and stability of numerical algorithms, 2002, ch. 3). ReLU makes no error larger. exp is
taken to be right to EXP units of rounding. What all roundings together can move a margin by is
subtracted from it.
"""

from collections.abc import Iterator
from math import nan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.architecture import architecture_of
from strata.store import Arrays
from studies.mechanism.code.pairs import Pairs

UNIT, EXP = 2.0**-53, 8


def gamma(k: int) -> float:
    """γ_k, the relative error of k roundings."""
    return k * UNIT / (1 - k * UNIT)


class Tables(NamedTuple):
    """What a token brings by itself: to what the neurons read and to the logits, by head; and what
    every pair has. An MLP-only model has two tables, of a and of b, in the place of heads."""

    M: Float[np.ndarray, "d_mlp n"]
    read: Float[np.ndarray, "heads n d_mlp"]
    skip: Float[np.ndarray, "heads n n"]
    read_always: Float[np.ndarray, " d_mlp"]
    skip_always: Float[np.ndarray, " n"]


def tables(w: Arrays, sign: int = -1) -> Tables:
    """The tables of these weights. Of their absolute values, with the sign 1, they are the sums of
    the sizes of all products that are added up."""
    M, always = w["W_out"] @ w["W_U"], w["b_out"] @ w["W_U"] + w["b_U"]
    if not architecture_of(w).attends:
        read = np.stack([w["W_E"] @ x for x in np.split(w["W_in"], 2)])
        return Tables(M, read, np.zeros((2, len(always), len(always))), w["b_in"], always)
    writes = (w["W_E"] @ w["W_V"] + w["b_V"][:, None]) @ w["W_O"]
    equals = writes[:, -1]
    own = writes[:, :-1] + sign * equals[:, None]  # the weights of a head add up to 1
    constant = w["W_E"][-1] + w["b_O"] + equals.sum(axis=0)
    return Tables(
        M, own @ w["W_in"], own @ w["W_U"], constant @ w["W_in"] + w["b_in"],
        constant @ w["W_U"] + always,
    )  # fmt: skip


def scores(w: Arrays) -> Float[np.ndarray, "tokens heads"]:
    """The attention scores of every token at `=`."""
    keys = w["W_E"] @ w["W_K"] + w["b_K"][:, None]
    query = w["W_E"][-1] @ w["W_Q"] + w["b_Q"]
    return (keys @ query[..., None])[..., 0].T / np.sqrt(query.shape[-1])


def attention(
    of: Pairs, absolute: Arrays, relative: float
) -> tuple[Float[np.ndarray, "pairs heads 2"], float]:
    """The weights of `=` on a and on b, and how far at most they are from exact ones, from the
    absolute values of all weights and the relative error of a sum of products."""
    if not architecture_of(of.weights).attends:
        return np.broadcast_to(np.eye(2), (len(of.a), 2, 2)), 0.0  # a's table, and b's
    found = scores(of.weights)
    x = np.stack([found[of.a], found[of.b], np.broadcast_to(found[-1], found[of.a].shape)], -1)
    x = x - x.max(axis=-1, keepdims=True)
    away = relative * float(scores(absolute).max()) + 2 * UNIT * float(np.abs(x).max())
    x = np.exp(x)
    alpha = (x / x.sum(axis=-1, keepdims=True))[..., :2]
    return alpha, float(np.expm1(2 * away) * (1 + 1e-9)) + gamma(2 * EXP + 8)


class Bound(NamedTuple):
    """For one rank, a lower bound on the margin of every pair in exact arithmetic."""

    rank: int
    margin: Float[np.ndarray, " pairs"]
    rounding: float


def spread(error: Float[np.ndarray, " n"]) -> float:
    """How far at most the difference of two logits is off that are off by this."""
    return 2 * float(error.max())


class Known(NamedTuple):
    """M, the activations of the neurons, the logits without what these write, and how far at most
    roundings of all this move a margin."""

    M: Float[np.ndarray, "d_mlp n"]
    hidden: Float[np.ndarray, "pairs d_mlp"]
    beside: Float[np.ndarray, "pairs n"]
    rounding: float


def known_from_tables(of: Pairs) -> Known:
    """All pairs, from the tables of tokens."""
    W_U = of.weights["W_U"]
    weights = of.weights | {"W_U": W_U - W_U.mean(axis=1, keepdims=True)}  # margins are the same
    absolute = {name: np.abs(x) for name, x in weights.items()}
    known, largest = tables(weights), tables(absolute, 1)
    heads = len(known.read)
    # Roundings on the way through the tables: four sums over dimensions of the stream or a head.
    d = max(len(W_U), *(x.shape[-1] for name, x in weights.items() if name in {"W_E", "W_V"}))
    relative = gamma(4 * d + 4 * heads + 32)
    alpha, off = attention(of, absolute, relative)

    def mixed(table: np.ndarray, always: np.ndarray) -> Float[np.ndarray, "pairs width"]:
        """A constant and what the heads mix from a and from b."""
        both = [alpha[:, h, :1] * x[of.a] + alpha[:, h, 1:] * x[of.b] for h, x in enumerate(table)]
        return sum(both, always)

    def error(
        table: np.ndarray, sizes: np.ndarray, always: np.ndarray
    ) -> Float[np.ndarray, " width"]:
        """How far at most that is off."""
        from_tables = relative * (always + 2 * sizes.max(axis=1).sum(axis=0))
        return 2 * (from_tables + off * 2 * np.abs(table).max(axis=1).sum(axis=0))

    hidden = np.maximum(mixed(known.read, known.read_always), 0)
    logits = mixed(known.skip, known.skip_always)
    of_read = error(known.read, largest.read, largest.read_always)
    of_skip = error(known.skip, largest.skip, largest.skip_always)
    of_M = relative * ((hidden.max(axis=0) + of_read) @ largest.M)
    rounding = spread(of_skip + of_read @ np.abs(known.M) + of_M)
    return Known(known.M, hidden, logits, rounding)


def bounds(of: Pairs, centre: Float[np.ndarray, "pairs d_mlp"] | None = None) -> Iterator[Bound]:
    """The bound for r = 0, 1, 2, … until all singular vectors are kept. `centre` takes the place of
    the mean over the pairs with the same product."""
    M, hidden, beside, rounding = known_from_tables(of)
    rows, m = np.arange(len(of.q)), len(M)
    centre = of.by_product(hidden)[of.q] if centre is None else centre
    logits = beside + centre @ M
    rounding += spread(gamma(m + 2) * (np.abs(centre).max(axis=0) @ np.abs(M)))
    delta = hidden - centre
    longest = np.abs(delta).max(axis=0)
    rounding += spread(2 * UNIT * (longest @ np.abs(M)))  # the subtraction
    U, _, _ = np.linalg.svd(M, full_matrices=False)
    square, inside, size = (delta**2).sum(axis=1), np.zeros(len(rows)), 0.0
    for r in range(U.shape[1] + 1):
        if r:
            along = delta @ U[:, r - 1]
            logits += np.outer(along, U[:, r - 1] @ M)
            inside += along**2
        kept = U[:, :r]
        slack, more, far = cut(kept, M, longest, float(np.sqrt(square.max())))
        left = np.sqrt(np.maximum(square - inside + slack * square, 0)) * (1 + gamma(8))
        apart = distances(M - kept @ (kept.T @ M)) + far
        margin = logits[rows, of.q][:, None] - logits - left[:, None] * apart[of.q]
        margin[rows, of.q] = np.inf
        size = max(size, float(np.abs(logits).max()) + float(left.max() * apart.max()))
        total = (rounding + more + gamma(r + 16) * 4 * size) * (1 + 1e-6)
        yield Bound(r, margin.min(axis=1) - total, total)


def all_margins(of: Pairs) -> Bound:
    """The bound of all directions, from all logits: the margin is above it by twice the rounding
    at most."""
    M, hidden, beside, rounding = known_from_tables(of)
    rows, logits = np.arange(len(of.q)), beside + hidden @ M
    rounding += spread(gamma(len(M) + 2) * (hidden.max(axis=0) @ np.abs(M)))
    size = float(np.abs(beside).max()) + float(np.abs(logits).max())
    own = logits[rows, of.q].copy()
    logits[rows, of.q] = -np.inf
    total = (rounding + gamma(8) * 2 * size) * (1 + 1e-6)
    return Bound(min(M.shape), own - logits.max(axis=1) - total, total)


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
    return float(slack), spread(error + tilt), far


def distances(R: Float[np.ndarray, "d_mlp n"]) -> Float[np.ndarray, "n n"]:
    """‖R_q − R_c‖, rounded up."""
    product = R.T @ R
    square = np.add.outer(np.diag(product), np.diag(product)) - 2 * product
    length = float(np.diag(product).max(initial=0))
    error = gamma(len(R) + 8) * 8 * max(length, 1e-300)
    return np.sqrt(np.maximum(square, 0) + error) * (1 + gamma(8))


def costs(of: Pairs) -> tuple[int, int]:
    """Multiply-adds of the tables and the scores; and, for each pair, from these to what neurons
    read and to the logits beside them, softmax as 3 each."""
    m, n, d = of.before.shape[1], of.n, len(of.weights["W_U"])
    if not architecture_of(of.weights).attends:
        return 3 * n * d * m, 0  # two rows added up
    heads, _, size = of.weights["W_V"].shape
    tables = 3 * (n + 1) * d * d + heads * n * d * (m + n) + m * d * n
    return tables + 2 * (n + 1) * heads * size, 2 * heads * (m + n) + 9 * heads


def multiply_adds(of: Pairs, r: int) -> int:
    """All that the proof of rank r computes: tables, what neurons read, the singular vectors (Golub
    and Van Loan, Matrix computations, 2013, 8.6), δ, its length and its part in U, and bounds."""
    m, n, (tables, per_pair) = of.before.shape[1], of.n, costs(of)
    fixed = tables + 3 * m * n**2 + 10 * n**3 + 2 * n * m * n + 2 * r * m * n
    return fixed + len(of.q) * (per_pair + m + m * r + r * n + n)


def all_logits(of: Pairs) -> int:
    """Multiply-adds of all logits of the same pairs from the same tables, the cheaper way."""
    m, n, d, (tables, per_pair) = of.before.shape[1], of.n, len(of.weights["W_U"]), costs(of)
    by_M, by_stream = len(of.q) * m * n, len(of.q) * (m * d + d * n) - m * d * n
    return tables + len(of.q) * per_pair + min(by_M, by_stream)


class Proof(NamedTuple):
    """Proven accuracy by rank from 0 on; and the least rank that proves a share of the pairs that
    are answered rightly, and all of them; NaN where no rank does."""

    proven: list[float]
    right: float
    rank: float
    rank_all: float
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


def first(values: list[float], level: float) -> float:
    """The first place with at least this value, above 0."""
    return next((float(i) for i, x in enumerate(values) if x >= level and x > 0), nan)
