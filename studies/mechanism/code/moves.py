"""Moves of statement 1 of criteria-2.md: one prime of the product exchanged in the last residual
stream, along directions that other products show."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from strata.monoid import prime_powers
from strata.patch.patching import ForwardPass
from studies.mechanism.code.descriptions import pair_counts
from studies.mechanism.code.dictionary import determined, least_squares


class Moves(NamedTuple):
    """How many ordered pairs were moved, how many of these answered the other product, and how many
    were left out, as the other products do not determine where they would go."""

    hits: float = 0
    moved: float = 0
    left_out: float = 0

    @property
    def share(self) -> float:
        """Return the hits per moved pair; NaN where fewer pairs were moved than left out."""
        enough = self.moved and self.moved >= self.left_out
        return self.hits / self.moved if enough else float("nan")


def moves(pairs: ForwardPass, design: Float[np.ndarray, "n some"]) -> tuple[Moves, Moves]:
    """Make all moves of all pairs, within a class and across a zero: from the product q to each q′
    that differs from it modulo one prime power alone.

    The residual stream gets Σ_j (φ_j(q′) − φ_j(q)) μ_j, and μ is fitted without the classes of q
    and q′. The logits are linear in the stream, so that μ is fitted as what it adds to them.
    """
    n, logits = pairs.n, pairs.logits(pairs.residual)
    gcd, N = np.gcd(np.arange(n), n), pair_counts(n)
    means = pairs.by_product(pairs.residual) @ pairs.weights["W_U"]
    rows = [np.flatnonzero(pairs.label == q) for q in range(n)]
    by_classes = defaultdict[tuple[int, ...], list[tuple[int, int]]](list)
    for q, to in steps(n):
        by_classes[tuple(sorted((int(gcd[q]), int(gcd[to]))))].append((q, to))
    counts = {True: Moves(), False: Moves()}
    for two_classes, steps_between in by_classes.items():
        outside, (start, end) = ~np.isin(gcd, two_classes), np.array(steps_between).T
        directions = least_squares(design, means, np.where(outside, N, 0))
        certain = determined(design[end] - design[start], design[outside])
        hits, moved, left_out = counts[two_classes[0] == two_classes[1]]
        for q, to, decided in zip(start, end, certain, strict=True):
            count = pairs.count[rows[q]]
            if decided:
                moved_logits = logits[rows[q]] + (design[to] - design[q]) @ directions
                hits += count @ (moved_logits.argmax(axis=1) == to)
                moved += count.sum()
            else:
                left_out += count.sum()
        counts[two_classes[0] == two_classes[1]] = Moves(hits, moved, left_out)
    return counts[True], counts[False]


def steps(n: int) -> list[tuple[int, int]]:
    """List each residue with every other one that differs from it modulo one prime power alone.

    >>> steps(6)[:3]
    [(0, 3), (1, 4), (2, 5)]
    """
    units = [(Q, n // Q * pow(n // Q, -1, Q)) for Q in prime_powers(n)]
    return [(q, (q + unit * k) % n) for Q, unit in units for q in range(n) for k in range(1, Q)]
