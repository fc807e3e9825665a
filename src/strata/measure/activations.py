"""Run the network in NumPy over all n² ordered pairs, in blocks, and each of its parts.

``api.model`` is the same network in torch, ``train.gradients`` the same with its gradients. Every
analysis runs it here, because torch's products and exponentials take another path on each vendor's
processors, while NumPy's have the same bits on all of them under the switches of stages/exact.yaml.
Vectors are rows throughout: x @ W.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.architecture import architecture_of
from strata.store import Arrays
from strata.task import Task, task_of

# A block of so many pairs bounds the memory of a pass, whatever n is.
BLOCK = 16384
ROWS = 2400  # pairs whose activations stay in a processor's cache
# Logits nearer to each other than this share of the largest in size count as equal. The order of
# float32 sums moves them by less: docs/operating.md.
TIE = 1e-5


class Activations(NamedTuple):
    """``Activations`` are what a forward pass shows. The MLP-only model has no attention: its third
    field has no heads."""

    logits: Float[np.ndarray, "pairs n"]
    mlp: Float[np.ndarray, "pairs d_mlp"]
    attention: Float[np.ndarray, "pairs n_heads 3"]


class ScoresAndValues(NamedTuple):
    """``Attended`` holds the attention scores of every token at `=`, and the values that it would
    mix."""

    scores: Float[np.ndarray, "tokens n_heads"]
    values: Float[np.ndarray, "tokens n_heads d_head"]


class Distinct(NamedTuple):
    """``Distinct`` holds the pairs that a model tells apart: all, or those with a ≤ b where it is
    symmetric. ``row`` says which of them each ordered pair is."""

    a: Int[np.ndarray, " pairs"]
    b: Int[np.ndarray, " pairs"]
    row: Int[np.ndarray, "n n"]

    @property
    def count(self) -> Int[np.ndarray, " pairs"]:
        """Return the number of ordered pairs that each row stands for."""
        return np.bincount(self.row.ravel())


def distinct(weights: Arrays, n: int) -> Distinct:
    """Return the pairs that a model of n tokens tells apart."""
    if not architecture_of(weights).symmetric:
        pairs = np.arange(n * n)
        return Distinct(*np.divmod(pairs, n), pairs.reshape(n, n))
    a, b = np.triu_indices(n)
    row = np.zeros((n, n), dtype=np.int64)
    row[a, b] = row[b, a] = np.arange(len(a))
    return Distinct(a, b, row)


def n_heads(weights: Arrays) -> int:
    """Return how many heads a model has, 0 for one that does not attend."""
    return len(weights["W_Q"]) if architecture_of(weights).attends else 0


def attention_scores(weights: Arrays) -> ScoresAndValues:
    """Return scores, divided by √d_head, and values, which depend on the token alone."""
    W_E = weights["W_E"]
    keys, values = (
        np.matmul(W_E, weights[f"W_{x}"]).swapaxes(0, 1) + weights[f"b_{x}"] for x in "KV"
    )
    query = np.matmul(W_E[-1], weights["W_Q"]) + weights["b_Q"]
    return ScoresAndValues(
        (keys * (query / np.float32(query.shape[-1] ** 0.5))).sum(axis=-1), values
    )


def attention(
    scores: Float[np.ndarray, "tokens n_heads"],
    a: Int[np.ndarray, " pairs"],
    b: Int[np.ndarray, " pairs"],
) -> Float[np.ndarray, "pairs n_heads 3"]:
    """Return the softmax weights of `=` on a, on b and on itself."""
    x = np.stack([scores[a], scores[b], np.broadcast_to(scores[-1], scores[a].shape)], axis=-1)
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def weighted_values(
    values: Float[np.ndarray, "tokens n_heads d_head"],
    a: Int[np.ndarray, " pairs"],
    b: Int[np.ndarray, " pairs"],
    pattern: Float[np.ndarray, "pairs n_heads 3"],
) -> Float[np.ndarray, "pairs n_heads d_head"]:
    """Return the mean of the values of a, b and `=` under an attention pattern, head by head."""
    to_a, to_b, to_equals = (pattern[..., i, None] for i in range(3))
    return values[a] * to_a + values[b] * to_b + values[-1] * to_equals


def residual_from_heads(
    weights: Arrays, heads: Float[np.ndarray, "pairs n_heads d_head"]
) -> Float[np.ndarray, "pairs d_model"]:
    """Return the residual stream before the MLP, from the weighted values of the heads."""
    W_O = weights["W_O"]
    W_O = W_O.reshape(-1, W_O.shape[-1])
    return heads.reshape(len(heads), -1) @ W_O + (weights["W_E"][-1] + weights["b_O"])


class BeforeMlp(NamedTuple):
    """``BeforeMlp`` is all that comes before the ReLU. The MLP-only model has no heads, and 0 for
    the residual."""

    attention: Float[np.ndarray, "pairs n_heads 3"]
    heads: Float[np.ndarray, "pairs n_heads d_head"]
    residual: Float[np.ndarray, "pairs d_model"]
    preactivations: Float[np.ndarray, "pairs d_mlp"]


def before_mlp(
    weights: Arrays, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"]
) -> BeforeMlp:
    """Compute the activations from the tokens a, b and `=` to what the neurons read."""
    W_E, b_in = weights["W_E"], weights["b_in"]
    if architecture_of(weights).attends:
        scores, values = attention_scores(weights)
        pattern = attention(scores, a, b)
        heads = weighted_values(values, a, b, pattern)
        residual = residual_from_heads(weights, heads)
        return BeforeMlp(pattern, heads, residual, preactivations(weights, residual))
    from_a, from_b = W_E @ np.split(weights["W_in"], 2)  # [W_E[a], W_E[b]] @ W_in
    no_pattern = np.zeros((len(a), 0, 3), W_E.dtype)
    residual = np.zeros((len(a), W_E.shape[1]), W_E.dtype)
    return BeforeMlp(no_pattern, no_pattern[..., :0], residual, from_a[a] + from_b[b] + b_in)


def preactivations(
    weights: Arrays, residual: Float[np.ndarray, "pairs d_model"]
) -> Float[np.ndarray, "pairs d_mlp"]:
    """Return what the neurons of a transformer read of its residual stream."""
    before = residual @ weights["W_in"]
    before += weights["b_in"]
    return before


def mlp_output(
    weights: Arrays, before: Float[np.ndarray, "pairs d_mlp"]
) -> Float[np.ndarray, "pairs d_model"]:
    """Return what the neurons write, from what they read."""
    return np.maximum(before, 0) @ weights["W_out"] + weights["b_out"]


def forward(
    weights: Arrays, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"]
) -> Activations:
    """Return the logits for c = ab at `=`, with the activations behind them."""
    before = before_mlp(weights, a, b)
    mlp = np.maximum(before.preactivations, 0, out=before.preactivations)
    out = before.residual + (mlp @ weights["W_out"] + weights["b_out"])
    return Activations(out @ weights["W_U"] + weights["b_U"], mlp, before.attention)


def answers(logits: Float[np.ndarray, "pairs n"]) -> Int[np.ndarray, " pairs"]:
    """Return the least residue among those whose logits are equal to the largest, up to ``TIE``, so
    that no rounding decides between candidates that are equal in exact arithmetic."""
    threshold = logits.max(axis=1) - np.float32(TIE) * np.abs(logits).max(axis=1)
    return (logits >= threshold[:, None]).argmax(axis=1)


def blocks(
    weights: Arrays, n: Task | int, block: int = BLOCK
) -> Iterator[tuple[np.ndarray, np.ndarray, Activations]]:
    """Yield a, b and the activations of block after block of the n² pairs, in the order a·n + b."""
    n = task_of(n).order
    for start in range(0, n * n, block):
        a, b = np.divmod(np.arange(start, min(start + block, n * n)), n)
        yield a, b, forward(weights, a, b)
