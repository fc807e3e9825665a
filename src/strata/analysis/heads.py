"""The numbers of each attention head of a run: its OV circuit, and what its pattern follows.

Shares are fractions.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from strata.analysis import subspaces
from strata.analysis.variance import block_eta_squared
from strata.monoid import classes
from strata.store import Arrays
from strata.thresholds import MetricsParams

Measures = dict[str, Any]


def heads(weights: Arrays, attention: np.ndarray, n: int, params: MetricsParams) -> list[Measures]:
    """OV circuit and attention pattern of each head; none for the MLP-only model."""
    return [
        head_measures(h, weights, attention[:, h], n, params) for h in range(attention.shape[1])
    ]


def head_measures(
    h: int, weights: Arrays, attention: Float[np.ndarray, "pairs 3"], n: int, params: MetricsParams
) -> Measures:
    """One head: rank of W_OV, alignment with every class, attention to `=`, block structure."""
    W_V, W_O = weights["W_V"][h], weights["W_O"][h]
    shares, W_OV = subspaces.ov_shares(W_V, W_O), subspaces.W_OV(W_V, W_O)
    to_a = attention[:, 0].reshape(n, n)
    labels = np.gcd(np.arange(n), n)
    seeds = [params.seed, n, h]
    rng = np.random.default_rng(seeds)
    shuffled = [block_eta_squared(to_a, rng.permutation(labels)) for _ in range(params.shuffles)]
    return {
        "head": h,
        "ov": {
            "components": subspaces.count_for(np.cumsum(shares), params.variance),
            "of": len(shares),
            "top": float(shares[: params.top_singular].sum()),
            "shares": shares.tolist(),
        },
        "self_attention": {
            "mean": float(attention[:, 2].mean()),
            "max": float(attention[:, 2].max()),
        },
        "block_score": block_eta_squared(to_a, labels),
        "block_score_shuffled": {"mean": float(np.mean(shuffled)), "std": float(np.std(shuffled))},
        "block_score_by_kind": block_scores(to_a, n, np.random.default_rng(seeds), params.shuffles),
        "alignment": {
            str(J.d): _aligned(W_OV, weights["W_E"][J.elements], params) for J in classes(n)
        },
    }


def _aligned(W_OV: np.ndarray, rows: np.ndarray, params: MetricsParams) -> Measures:
    found: Measures = {}
    for side in ("read", "write"):
        cosines = subspaces.alignment(W_OV, rows, side, params.top_directions)
        found[side] = cosines.tolist()
        found[f"{side}_above"] = int((cosines >= params.aligned_cosine).sum())
    return found


def block_scores(
    to_a: Float[np.ndarray, "n n"], n: int, rng: np.random.Generator, shuffles: int
) -> dict[str, Measures] | None:
    """The block score over the rows of regular classes alone, and over those of the others.

    Beside each, with labels shuffled among these rows and among all columns: mean and standard
    deviation. None where every class is regular, and the score of the head is that of its kind.
    """
    labels = np.gcd(np.arange(n), n)
    regular = np.gcd(labels, n // labels) == 1
    if regular.all():
        return None
    found = {}
    for kind, rows in {"regular": regular, "non_regular": ~regular}.items():
        x, own = to_a[rows], labels[rows]
        draws = ((rng.permutation(own), rng.permutation(labels)) for _ in range(shuffles))
        shuffled = [block_eta_squared(x, *draw) for draw in draws]
        score, spread = block_eta_squared(x, own, labels), float(np.std(shuffled))
        found[kind] = {"score": score, "mean": float(np.mean(shuffled)), "std": spread}
    return found
