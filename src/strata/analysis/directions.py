"""How many directions a head shares with random residues, beside those it shares with a class.

The more residues a set has, the more directions of the embedding it spans, and a head reads
directions of the embedding. So some of them are near those of a class, whatever the class is.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from strata.analysis import subspaces
from strata.monoid import classes
from strata.store import Arrays
from strata.thresholds import MetricsParams

Counts = dict[str, dict[str, float]]


def random(weights: Arrays, n: int, params: MetricsParams) -> Iterator[Counts]:
    """For each head and each class the directions at the level of cosine, on the read and on the
    write side, of random residues, as many as the class has: means over as many sets as class
    labels are shuffled.

    The cosines are those of ``subspaces.alignment``.
    """
    W_E, k = weights["W_E"][:n].astype(np.float64), params.top_directions
    rng = np.random.default_rng([params.seed, n])
    sets = {
        str(J.d): [
            _span(W_E[rng.choice(n, len(J), replace=False)], k) for _ in range(params.shuffles)
        ]
        for J in classes(n)
    }
    for W_V, W_O in zip(weights.get("W_V", ()), weights.get("W_O", ()), strict=True):
        U, _, Vt = np.linalg.svd(subspaces.W_OV(W_V, W_O))
        heads = {"read": U[:, :k], "write": Vt[:k].T}
        yield {
            d: {
                f"{side}_random": float(np.mean([_near(x, head, params) for x in drawn]))
                for side, head in heads.items()
            }
            for d, drawn in sets.items()
        }


def _span(x: Float[np.ndarray, "size d"], k: int) -> Float[np.ndarray, "some d"]:
    """The leading k right singular vectors of the centred rows; none of one row."""
    return np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][: k if len(x) > 1 else 0]


def _near(
    rows: Float[np.ndarray, "some d"], head: Float[np.ndarray, "d k"], params: MetricsParams
) -> int:
    cosines = np.linalg.svd(rows @ head, compute_uv=False)
    return int((cosines >= params.aligned_cosine).sum())
