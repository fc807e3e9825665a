"""Valuations as indicators of the residues, and how many pairs have each product."""

from functools import cache

import numpy as np
from jaxtyping import Float

from strata.arithmetic import factorint
from studies.mechanism.code.characters import valuations

Indicators = tuple[Float[np.ndarray, "n _"], ...]  # a partition each: 1 in the block, else 0


@cache
def prime_indicators(n: int) -> Indicators:
    """Return indicators for each prime p of n: column i is 1 where the valuation at p is i."""
    return tuple(
        np.equal.outer(valuations(n, p), np.arange(k + 1)).astype(np.float64)
        for p, k in sorted(factorint(n).items())
    )


def pair_counts(n: int) -> Float[np.ndarray, " n"]:
    """Count the ordered pairs that have each product q: N(q)."""
    residues = np.arange(n)
    return np.bincount(np.outer(residues, residues).ravel() % n, minlength=n).astype(np.float64)
