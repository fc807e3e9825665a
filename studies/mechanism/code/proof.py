"""A proof of accuracy: a lower bound on the margin of every pair in exact arithmetic.

The network is that of the float32 weights, with the root of the size of a head rounded to float32
as the models have it. All is computed in float64. γ_k = k u / (1 − k u) bounds the relative error
of a product after k roundings, and a sum of such products is off by at most γ_k times the sum of
their sizes, in any order (Higham, Accuracy and stability of numerical algorithms, 2002, ch. 3).
ReLU makes no error larger. exp is taken to be right to EXP units of rounding. What all roundings
together can move a margin by is subtracted from it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.architecture import architecture_of
from strata.measure import activations
from strata.measure.activations import attention_scores
from strata.patch.patching import ForwardPass
from strata.store import Arrays

UNIT, EXP = 2.0**-53, 8


def gamma(k: int) -> float:
    """Return γ_k, the relative error of k roundings."""
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
    """Return the tables of these weights. Of absolute values, with the sign 1, the tables are the
    sums of the sizes of all products that are added up."""
    M, skip_always = w["W_out"] @ w["W_U"], w["b_out"] @ w["W_U"] + w["b_U"]
    if not architecture_of(w).attends:
        read = np.stack([w["W_E"] @ x for x in np.split(w["W_in"], 2)])
        return Tables(
            M, read, np.zeros((2, len(skip_always), len(skip_always))), w["b_in"], skip_always
        )
    writes = (w["W_E"] @ w["W_V"] + w["b_V"][:, None]) @ w["W_O"]
    equals = writes[:, -1]
    operands = writes[:, :-1] + sign * equals[:, None]  # the weights of a head add up to 1
    constant = w["W_E"][-1] + w["b_O"] + equals.sum(axis=0)
    return Tables(
        M, operands @ w["W_in"], operands @ w["W_U"], constant @ w["W_in"] + w["b_in"],
        constant @ w["W_U"] + skip_always,
    )  # fmt: skip


def attention(
    pairs: ForwardPass, absolute: Arrays, relative: float
) -> tuple[Float[np.ndarray, "pairs heads 2"], float]:
    """Return the weights of `=` on a and on b, and a bound on their distance from exact ones. The
    bound comes from the absolute values of all weights and the relative error of a sum of
    products."""
    if not architecture_of(pairs.weights).attends:
        return np.broadcast_to(np.eye(2), (len(pairs.a), 2, 2)), 0.0  # a's table, and b's
    scores = attention_scores(pairs.weights).scores
    spread = float(np.ptp(scores, axis=0).max())  # the largest number of which exp is taken
    score_error = relative * float(attention_scores(absolute).scores.max()) + 2 * UNIT * spread
    alpha = activations.attention(scores, pairs.a, pairs.b)[..., :2]
    return alpha, float(np.expm1(2 * score_error) * (1 + 1e-9)) + gamma(2 * EXP + 8)


class Bound(NamedTuple):
    """A lower bound on the margin of every pair in exact arithmetic, and how far at most roundings
    move a margin."""

    margin: Float[np.ndarray, " pairs"]
    rounding: float


def difference_error(error: Float[np.ndarray, " n"]) -> float:
    """Bound the error of the difference of two logits from the error of each logit.

    >>> difference_error(np.array([1.0, 3.0, 3.0]))
    6.0
    """
    return 2 * float(error.max())


class Terms(NamedTuple):
    """M, the activations of the neurons, the logits without what these write, and how far at most
    roundings of all this move a margin."""

    M: Float[np.ndarray, "d_mlp n"]
    hidden: Float[np.ndarray, "pairs d_mlp"]
    beside: Float[np.ndarray, "pairs n"]
    rounding: float


def terms_from_tables(pairs: ForwardPass) -> Terms:
    """Compute all pairs from the tables of tokens."""
    W_U = pairs.weights["W_U"]
    weights = pairs.weights | {"W_U": W_U - W_U.mean(axis=1, keepdims=True)}  # margins are the same
    absolute = {name: np.abs(x) for name, x in weights.items()}
    terms, sums = tables(weights), tables(absolute, 1)
    heads = len(terms.read)
    # Roundings on the way through the tables: four sums over dimensions of the stream or a head.
    d = max(len(W_U), *(x.shape[-1] for name, x in weights.items() if name in {"W_E", "W_V"}))
    relative = gamma(4 * d + 4 * heads + 32)
    alpha, pattern_error = attention(pairs, absolute, relative)

    def mix(table: np.ndarray, constant: np.ndarray) -> Float[np.ndarray, "pairs width"]:
        """Add a constant to what the heads mix from a and from b."""
        by_head = [
            alpha[:, h, :1] * x[pairs.a] + alpha[:, h, 1:] * x[pairs.b]
            for h, x in enumerate(table)
            if x.any()  # by hand, most is 0
        ]
        return sum(by_head, np.broadcast_to(constant, (len(pairs.a), len(constant))))

    def error(
        table: np.ndarray, sizes: np.ndarray, constant: np.ndarray
    ) -> Float[np.ndarray, " width"]:
        """Bound the rounding error of such a mixture."""
        from_tables = relative * (constant + 2 * sizes.max(axis=1).sum(axis=0))
        return 2 * (from_tables + pattern_error * 2 * np.abs(table).max(axis=1).sum(axis=0))

    hidden = np.maximum(mix(terms.read, terms.read_always), 0)
    logits = mix(terms.skip, terms.skip_always)
    read_error = error(terms.read, sums.read, sums.read_always)
    skip_error = error(terms.skip, sums.skip, sums.skip_always)
    write_error = relative * ((hidden.max(axis=0) + read_error) @ sums.M)
    rounding = difference_error(skip_error + read_error @ np.abs(terms.M) + write_error)
    return Terms(terms.M, hidden, logits, rounding)


def all_margins(pairs: ForwardPass) -> Bound:
    """Bound the margin of every pair from all logits: the margin is above the bound by twice the
    rounding at most."""
    M, hidden, skip, rounding = terms_from_tables(pairs)
    rows, logits = np.arange(len(pairs.label)), skip + hidden @ M
    rounding += difference_error(gamma(len(M) + 2) * (hidden.max(axis=0) @ np.abs(M)))
    size = float(np.abs(skip).max()) + float(np.abs(logits).max())
    right_logits = logits[rows, pairs.label].copy()
    logits[rows, pairs.label] = -np.inf
    total = (rounding + gamma(8) * 2 * size) * (1 + 1e-6)
    return Bound(right_logits - logits.max(axis=1) - total, total)
