"""The embedding as a sum over the prime powers Q of n: W_E[a] ≈ μ + Σ_Q f_Q(a mod Q).

f_Q(r) is the mean row over a ≡ r (mod Q), less the mean μ of all rows. As a is its residues modulo
the Q, the f_Q are the main effects of a complete factorial design with one row for each cell:
orthogonal to each other, and the nearest sum. Definitions: criteria-primes.md, section 2.
"""

from math import gcd

import numpy as np
from jaxtyping import Float
from sympy.ntheory import divisors

from strata.monoid import prime_powers
from studies.mechanism.code.dictionary import energy


def effects(rows: Float[np.ndarray, "n width"], Q: int) -> Float[np.ndarray, "Q width"]:
    """f_Q(r), the mean row over a ≡ r (mod Q) less the mean of all. Q must divide n."""
    x = rows.astype(np.float64)
    return x.reshape(-1, Q, x.shape[1]).mean(axis=0) - x.mean(axis=0)


def additive(rows: Float[np.ndarray, "n width"]) -> Float[np.ndarray, "n width"]:
    """Σ_Q f_Q(a mod Q) for every residue a, without μ."""
    a = np.arange(len(rows))
    return sum((effects(rows, Q)[a % Q] for Q in prime_powers(len(rows))), np.zeros(rows.shape))


def permuted(rows: Float[np.ndarray, "n width"], rng: np.random.Generator) -> np.ndarray:
    """The sum of main effects after a random permutation of the residues, at their own places."""
    order = rng.permutation(len(rows))
    return additive(rows[order])[np.argsort(order)]


def deviations(rows: Float[np.ndarray, "n width"]) -> Float[np.ndarray, "n width"]:
    """Each row less the mean row."""
    x = rows.astype(np.float64)
    return x - x.mean(axis=0)


def share(rows: Float[np.ndarray, "n width"]) -> float | None:
    """Share of the variance of the rows that the sum of main effects explains; None if they have
    none. Random rows give Σ(Q − 1) / (n − 1) on average."""
    total = energy(deviations(rows))
    return energy(additive(rows)) / total if total else None


def shared_directions(rows: Float[np.ndarray, "n width"], Q: int) -> float | None:
    """η_Q: how far the classes give a mod Q the same directions; 1 the same, 0 orthogonal ones.

    For each class d prime to Q let f_d(r) be the mean row over x ∈ J_d with x ≡ r, less its mean
    over the units r. Then η_Q = Σ_{d≠e} ⟨f_d, f_e⟩ / Σ_{d≠e} (|f_d|² + |f_e|²)/2. None where there
    are fewer than two classes, or nothing varies.
    """
    n, a = len(rows), np.arange(len(rows))
    units = [r for r in range(Q) if gcd(r, Q) == 1]
    x = rows.astype(np.float64)
    f = np.array([
        [x[(a % Q == r) & (np.gcd(a, n) == d)].mean(axis=0) for r in units]
        for d in divisors(n // Q)
    ])  # fmt: skip
    f -= f.mean(axis=1, keepdims=True)
    each = energy(f)
    if len(f) < 2 or not each:
        return None
    return (energy(f.sum(axis=0)) - each) / ((len(f) - 1) * each)
