"""The network in NumPy: a forward pass over all n² ordered pairs, in blocks, and its parts.

Training runs the same network in torch (``model``). Every analysis runs it here: torch's products
and exponentials take another path on each vendor's processors, while NumPy's have the same bits on
all of them under the switches of stages/exact.yaml. Row vectors throughout: x @ W.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.architecture import architecture_of
from strata.store import Arrays

# Pairs in a block: bounds the memory of a pass, whatever n is.
BLOCK = 16384
ROWS = 2400  # pairs whose activations stay in a processor's cache
# Logits nearer to each other than this share of the largest in size count as equal. The order of
# float32 sums moves them by less: docs/portability.md.
TIE = 1e-5


class Activations(NamedTuple):
    """What a forward pass shows. The MLP-only model has no attention: its third field has no
    heads."""

    logits: Float[np.ndarray, "pairs n"]
    mlp: Float[np.ndarray, "pairs d_mlp"]
    attention: Float[np.ndarray, "pairs n_heads 3"]


class Attended(NamedTuple):
    """Attention scores of every token at `=`, and the values that it would mix."""

    scores: Float[np.ndarray, "tokens n_heads"]
    values: Float[np.ndarray, "tokens n_heads d_head"]


def n_heads(weights: Arrays) -> int:
    """How many heads a model has; 0 of one that does not attend."""
    return len(weights["W_Q"]) if architecture_of(weights).attends else 0


def attended(weights: Arrays) -> Attended:
    """Scores and values depend on the token alone; scores are divided by √d_head."""
    W_E = weights["W_E"]
    keys, values = (
        np.matmul(W_E, weights[f"W_{x}"]).swapaxes(0, 1) + weights[f"b_{x}"] for x in "KV"
    )
    query = np.matmul(W_E[-1], weights["W_Q"]) + weights["b_Q"]
    return Attended((keys * (query / np.float32(query.shape[-1] ** 0.5))).sum(axis=-1), values)


def attention(
    scores: Float[np.ndarray, "tokens n_heads"],
    a: Int[np.ndarray, " pairs"],
    b: Int[np.ndarray, " pairs"],
) -> Float[np.ndarray, "pairs n_heads 3"]:
    """The softmax weights of `=` on a, on b and on itself."""
    x = np.stack([scores[a], scores[b], np.broadcast_to(scores[-1], scores[a].shape)], axis=-1)
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def mixed(
    values: Float[np.ndarray, "tokens n_heads d_head"],
    a: Int[np.ndarray, " pairs"],
    b: Int[np.ndarray, " pairs"],
    pattern: Float[np.ndarray, "pairs n_heads 3"],
) -> Float[np.ndarray, "pairs n_heads d_head"]:
    """What each head mixes from the values of a, b and `=` under a pattern."""
    to_a, to_b, to_equals = (pattern[..., i, None] for i in range(3))
    return values[a] * to_a + values[b] * to_b + values[-1] * to_equals


def downstream(
    weights: Arrays, heads: Float[np.ndarray, "pairs n_heads d_head"]
) -> Float[np.ndarray, "pairs d_model"]:
    """The residual stream before the MLP, from what the heads mixed."""
    W_O = weights["W_O"]
    W_O = W_O.reshape(-1, W_O.shape[-1])
    return heads.reshape(len(heads), -1) @ W_O + (weights["W_E"][-1] + weights["b_O"])


def hidden(
    weights: Arrays, before: Float[np.ndarray, "pairs d_mlp"]
) -> Float[np.ndarray, "pairs d_mlp"]:
    """The activations of the MLP's neurons, after ReLU; of x @ W_in, which it overwrites."""
    before += weights["b_in"]
    return np.maximum(before, 0, out=before)


def forward(
    weights: Arrays, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"]
) -> Activations:
    """Logits for c = ab at `=`, with the activations behind them."""
    W_E = weights["W_E"]
    if architecture_of(weights).attends:
        scores, values = attended(weights)
        pattern = attention(scores, a, b)
        stays = downstream(weights, mixed(values, a, b, pattern))
        mlp = hidden(weights, stays @ weights["W_in"])
    else:
        pattern, stays = np.zeros((len(a), 0, 3), W_E.dtype), 0
        of_a, of_b = W_E @ np.split(weights["W_in"], 2)  # [W_E[a], W_E[b]] @ W_in
        mlp = hidden(weights, of_a[a] + of_b[b])
    out = stays + (mlp @ weights["W_out"] + weights["b_out"])
    return Activations(out @ weights["W_U"] + weights["b_U"], mlp, pattern)


def answers(logits: Float[np.ndarray, "pairs n"]) -> Int[np.ndarray, " pairs"]:
    """The least residue among those whose logits are equal to the largest, up to ``TIE``: so no
    rounding decides between candidates that are equal in exact arithmetic."""
    least = logits.max(axis=1) - np.float32(TIE) * np.abs(logits).max(axis=1)
    return (logits >= least[:, None]).argmax(axis=1)


def blocks(
    weights: Arrays, n: int, block: int = BLOCK
) -> Iterator[tuple[np.ndarray, np.ndarray, Activations]]:
    """a, b and the activations of block after block of the n² pairs, in the order a·n + b."""
    for start in range(0, n * n, block):
        a, b = np.divmod(np.arange(start, min(start + block, n * n)), n)
        yield a, b, forward(weights, a, b)
