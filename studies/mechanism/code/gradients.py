"""Gradients of a logit with respect to the embeddings of the two operands, in float64.

With respect to what the network reads at the place of a and of b, even where these are one residue.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.architecture import architecture_of
from strata.measure.activations import BeforeMlp, attended, before_mlp
from strata.store import Arrays


class Gradients(NamedTuple):
    """∂L_c/∂E_a and ∂L_c/∂E_b, row by row."""

    of_a: Float[np.ndarray, "draws d_model"]
    of_b: Float[np.ndarray, "draws d_model"]


def gradients(
    weights: Arrays, a: Int[np.ndarray, " draws"], b: Int[np.ndarray, " draws"],
    c: Int[np.ndarray, " draws"],
) -> Gradients:  # fmt: skip
    """Those of the logit of c for each prompt (a, b)."""
    exact = {name: x.astype(np.float64) for name, x in weights.items()}
    return (_attending if architecture_of(weights).attends else _side_by_side)(exact, a, b, c)


def _side_by_side(weights: Arrays, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Gradients:
    of_a, of_b = np.split(weights["W_in"], 2)
    back = _to_mlp(weights, before_mlp(weights, a, b), c)
    return Gradients(back @ of_a.T, back @ of_b.T)


def _to_mlp(weights: Arrays, before: BeforeMlp, c: np.ndarray) -> Float[np.ndarray, "draws d_mlp"]:
    """With respect to what the neurons read."""
    return weights["W_U"][:, c].T @ weights["W_out"].T * (before.preactivations > 0)


def _attending(weights: Arrays, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Gradients:
    before = before_mlp(weights, a, b)
    pattern, heads, values = before.attention, before.heads, attended(weights).values
    of_residual = weights["W_U"][:, c].T + _to_mlp(weights, before, c) @ weights["W_in"].T
    of_heads = np.einsum("id,hkd->ihk", of_residual, weights["W_O"])
    query = np.matmul(weights["W_E"][-1], weights["W_Q"]) + weights["b_Q"]
    W_K = np.einsum("hdk,hk->hd", weights["W_K"], query) / np.sqrt(query.shape[-1])

    def of(token: np.ndarray, place: int) -> np.ndarray:
        """Through what is mixed, and through the attention on it: ∂p_i/∂s = p_i ([i = a] − p_a)."""
        p = pattern[:, :, place]
        through_scores = p * ((values[token] - heads) * of_heads).sum(axis=2)
        through_values = np.einsum("ih,hdk,ihk->id", p, weights["W_V"], of_heads, optimize=True)
        return through_values + through_scores @ W_K

    return Gradients(of(a, 0), of(b, 1))
