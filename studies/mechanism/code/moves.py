"""Moves of statement 1 of criteria-2.md: one prime of the product exchanged in the last residual
stream, along directions that other products show."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.monoid import prime_powers
from strata.patch.patching import Passed
from studies.mechanism.code.descriptions import weights_of
from studies.mechanism.code.dictionary import determined, fitted


class Moves(NamedTuple):
    """How many ordered pairs were moved, how many of these answered the other product, and how many
    were left out, as the other products do not determine where they would go."""

    hits: float = 0
    tried: float = 0
    left_out: float = 0

    @property
    def share(self) -> float:
        """Hits of those tried; NaN where less than half were."""
        enough = self.tried and self.tried >= self.left_out
        return self.hits / self.tried if enough else float("nan")


def moves(pairs: Passed, design: Float[np.ndarray, "n some"]) -> tuple[Moves, Moves]:
    """All moves of all pairs, within a class and across a zero: from the product q to each q′ that
    differs from it modulo one prime power alone.

    The residual stream gets Σ_j (φ_j(q′) − φ_j(q)) μ_j, and μ is fitted without the classes of q
    and q′. The logits are linear in the stream, so that μ is fitted as what it adds to them.
    """
    n, logits = pairs.n, pairs.logits(pairs.residual)
    gcd, N = np.gcd(np.arange(n), n), weights_of(n)
    means = pairs.by_product(pairs.residual) @ pairs.weights["W_U"]
    rows = [np.flatnonzero(pairs.label == q) for q in range(n)]
    by_classes = defaultdict[tuple[int, ...], list[tuple[int, int]]](list)
    for q, to in steps(n):
        by_classes[tuple(sorted((int(gcd[q]), int(gcd[to]))))].append((q, to))
    found = {True: Moves(), False: Moves()}
    for both, moved in by_classes.items():
        outside, (start, end) = ~np.isin(gcd, both), np.array(moved).T
        directions = fitted(design, means, np.where(outside, N, 0))
        known = determined(design[end] - design[start], design[outside])
        hits, tried, left_out = found[both[0] == both[1]]
        for q, to, is_known in zip(start, end, known, strict=True):
            count = pairs.count[rows[q]]
            if is_known:
                there = logits[rows[q]] + (design[to] - design[q]) @ directions
                hits += count @ (there.argmax(axis=1) == to)
                tried += count.sum()
            else:
                left_out += count.sum()
        found[both[0] == both[1]] = Moves(hits, tried, left_out)
    return found[True], found[False]


def steps(n: int) -> list[tuple[int, int]]:
    """Each residue with every other one that differs from it modulo one prime power alone.

    >>> steps(6)[:3]
    [(0, 3), (1, 4), (2, 5)]
    """
    units = [(Q, n // Q * pow(n // Q, -1, Q)) for Q in prime_powers(n)]
    return [(q, (q + unit * k) % n) for Q, unit in units for q in range(n) for k in range(1, Q)]
