"""How alike the gradients of a logit by the embeddings of both operands are: arXiv:2306.17844."""

import numpy as np
from jaxtyping import Float, Int

from strata.measure.activations import attention, attention_scores
from strata.patch.patching import ForwardPass

TRIPLES = 1000  # pairs, each with a candidate


def gradients(
    pairs: ForwardPass, rows: Int[np.ndarray, " triples"], candidate: Int[np.ndarray, " triples"]
) -> tuple[Float[np.ndarray, "triples d_model"], Float[np.ndarray, "triples d_model"]]:
    """Return the gradients of the logit of a candidate by the embeddings of a and of b."""
    w, a, b = pairs.weights, pairs.a[rows], pairs.b[rows]
    by_stream = w["W_U"].T[candidate]
    by_stream = (
        by_stream + (by_stream @ w["W_out"].T * (pairs.preactivations[rows] > 0)) @ w["W_in"].T
    )
    by_values = np.einsum("td,hkd->thk", by_stream, w["W_O"])
    scores, values = attention_scores(w)
    pattern = attention(scores, a, b)
    query = np.matmul(w["W_E"][-1], w["W_Q"]) + w["b_Q"]
    by_score = np.einsum("hdk,hk->hd", w["W_K"], query) / query.shape[-1] ** 0.5
    inner = np.stack([(values[x] * by_values).sum(axis=-1) for x in (a, b, -1)], axis=-1)
    beyond = inner - (pattern * inner).sum(axis=-1, keepdims=True)

    def by_operand(i: int) -> Float[np.ndarray, "triples d_model"]:
        by_value = np.einsum("th,thk,hdk->td", pattern[..., i], by_values, w["W_V"])
        return by_value + (pattern[..., i] * beyond[..., i]) @ by_score

    return by_operand(0), by_operand(1)


def symmetricity(pairs: ForwardPass, seed: int) -> float:
    """Return the mean cosine between both gradients, over drawn ordered pairs and candidates."""
    rng = np.random.default_rng(seed)
    rows = pairs.row[tuple(rng.integers(pairs.n, size=(2, TRIPLES)))]
    first, second = gradients(pairs, rows, rng.integers(pairs.n, size=TRIPLES))
    size = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1)[size > 0] / size[size > 0]).mean())
