"""Decoding by nearest codeword: logit(c) = −½‖w(q) − w(c)‖² + const, with w = Gφ and M = GᵀG.

Less its mean over c it is linear in M, so the best M is a quadratic programme over the positive
semidefinite matrices. It is solved by accelerated projected gradients with restarts: Beck and
Teboulle, A fast iterative shrinkage-thresholding algorithm, 2009; O'Donoghue and Candès, 2015.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from strata.patch.projections import Masks
from studies.mechanism.code.descriptions import describe, fit
from studies.mechanism.code.dictionary import Dictionary, fitted
from studies.mechanism.code.pairs import Profile

ROWS = 16  # products at a time
STEPS, CLOSE = 20000, 1e-10


class Problem(NamedTuple):
    """½ mᵀA m − bᵀm, but for a constant the error of M, whose entries m on and above its diagonal
    are those above times √2."""

    A: Float[np.ndarray, "entries entries"]
    b: Float[np.ndarray, " entries"]

    def __sub__(self, other: "Problem") -> "Problem":
        return Problem(self.A - other.A, self.b - other.b)


def predicted(
    values: Float[np.ndarray, "n k"],
    M: Float[np.ndarray, "k k"],
    candidates: Float[np.ndarray, "n k"] | None = None,
) -> Float[np.ndarray, "n n"]:
    """−½(φ(q) − φ(c))ᵀM(φ(q) − φ(c)) less its mean over c; `candidates` are φ(c), by default φ."""
    of_c = values if candidates is None else candidates
    y = values @ M @ of_c.T - ((of_c @ M) * of_c).sum(axis=1) / 2
    return y - y.mean(axis=1, keepdims=True)


def packed(M: Float[np.ndarray, "k k"]) -> Float[np.ndarray, " entries"]:
    """The entries of a symmetric matrix as a vector of the same norm."""
    upper = np.triu_indices(len(M))
    return M[upper] * np.where(upper[0] == upper[1], 1, np.sqrt(2))


def unpacked(m: Float[np.ndarray, " entries"], k: int) -> Float[np.ndarray, "k k"]:
    """The symmetric matrix with these entries."""
    upper, M = np.triu_indices(k), np.zeros((k, k))
    M[upper] = m / np.where(upper[0] == upper[1], 2, np.sqrt(2))
    return M + M.T


def problem(
    values: Float[np.ndarray, "n k"],
    y: Float[np.ndarray, "n n"],
    weight: Float[np.ndarray, " n"],
    candidates: Float[np.ndarray, "n k"] | None = None,
) -> Problem:
    """Σ N (y − ŷ)² / 2 as a function of M; the rows of y have mean 0."""
    n, k = values.shape
    of_c, upper = values if candidates is None else candidates, np.triu_indices(k)
    size = np.where(upper[0] == upper[1], -0.5, -np.sqrt(0.5))
    A, b = np.zeros((len(size), len(size))), np.zeros(len(size))
    for rows in np.array_split(np.flatnonzero(weight), max(1, n // ROWS)):
        apart = values[rows, None] - of_c
        x = apart[..., upper[0]] * apart[..., upper[1]] * size
        x -= x.mean(axis=1, keepdims=True)
        x = (x * np.sqrt(weight[rows])[:, None, None]).reshape(-1, len(size))
        A += x.T @ x
        b += x.T @ (y[rows] * np.sqrt(weight[rows])[:, None]).ravel()
    return Problem(A, b)


def positive(M: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "k k"]:
    """The nearest positive semidefinite matrix."""
    sizes, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(sizes, 0)) @ vectors.T


def gram(of: Problem, k: int, free: Bool[np.ndarray, "k k"] | None = None) -> np.ndarray:
    """The best M, whose entries outside `free`, a relation of equivalence, are 0."""
    kept = np.ones(len(of.b), dtype=bool) if free is None else free[np.triu_indices(k)]
    A, b = of.A[np.ix_(kept, kept)], of.b[kept]

    def projected(m: np.ndarray) -> np.ndarray:
        whole = np.zeros(len(kept))
        whole[kept] = m
        return packed(positive(unpacked(whole, k)))[kept]

    step = 1 / max(float(np.linalg.eigvalsh(A)[-1]), 1e-300)
    m = projected(np.linalg.lstsq(A, b, rcond=1e-10)[0])
    ahead, t = m, 1.0
    for _ in range(STEPS):
        new = projected(ahead - step * (A @ ahead - b))
        if (ahead - new) @ (new - m) > 0:  # it overshot: start again from here
            new, t = projected(m - step * (A @ m - b)), 1.0
        t, before = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
        ahead = new + (before - 1) / t * (new - m)
        m, moved = new, float(np.linalg.norm(new - m))
        if moved <= CLOSE * max(float(np.linalg.norm(m)), 1e-300):
            break
    whole = np.zeros(len(kept))
    whole[kept] = m
    return unpacked(whole, k)


def nearest(
    of: Profile, values: Float[np.ndarray, "n k"], free: Bool[np.ndarray, "k k"] | None = None
) -> Float[np.ndarray, "k k"]:
    """The best M for all products."""
    return gram(problem(values, of.y, of.N), values.shape[1], free)


def held_out(
    of: Profile, values: Float[np.ndarray, "n k"], fold: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "n n"]:
    """The products of each fold predicted by the code fitted to all others; 0 in fold −1."""
    whole, found = problem(values, of.y, of.N), np.zeros_like(of.y)
    for i in range(int(fold.max()) + 1):
        here = fold == i
        M = gram(whole - problem(values, of.y, np.where(here, of.N, 0)), values.shape[1])
        found[here] = predicted(values, M)[here]
    return found


def permuted(
    of: Profile, values: Float[np.ndarray, "n k"], draws: int, rng: np.random.Generator
) -> float:
    """The largest share of nearest codes whose candidates have the codewords of others."""
    shares = []
    for _ in range(draws):
        of_c = values[rng.permutation(len(values))]
        M = gram(problem(values, of.y, of.N, of_c), values.shape[1])
        shares.append(of.share(predicted(values, M, of_c)))
    return max(shares)


def one_prime(use: Dictionary) -> Bool[np.ndarray, "k k"]:
    """Whether two functions know the same primes."""
    return np.array([[x == y for y in use.primes] for x in use.primes])


def few_numbers(
    of: Profile, key: Masks, use: Dictionary, M: np.ndarray, terms: int, ranks: Sequence[int]
) -> list[tuple[str, int, Float[np.ndarray, "n n"]]]:
    """Descriptions of y by ever more numbers, with how many they are: characters with a coefficient
    each, with a bias for each candidate, the nearest code, a bias and ever more terms
    φ_i(q) φ_j(c), a vector for each candidate, and the best of each rank."""
    n, k = use.values.shape
    primes = describe(n, key)["C"]
    found = [
        (f"characters{' and bias' * bias}", primes.rank(bias), fit(of.y, of.N, primes, bias))
        for bias in (False, True)
    ]
    found.append(("nearest code", k * (k + 1) // 2, predicted(use.values, M)))
    bias = of.N @ of.y / of.N.sum()
    pairs = greedy(of.y - bias, of.N, use.values, terms)
    found += [("bias and terms", n - 1 + i, bias + x) for i, x in enumerate(pairs, 1)]
    free = use.design @ fitted(use.design, of.y, of.N)
    found.append(("free candidates", (k + 1) * (n - 1), free))
    root = np.sqrt(of.N)[:, None]
    U, sizes, V = np.linalg.svd(root * of.y, full_matrices=False)
    for r in ranks:
        best = (U[:, :r] * sizes[:r]) @ V[:r] / root
        found.append(("best of its rank", r * (2 * n - 1 - r), best))
    return found


def greedy(
    y: Float[np.ndarray, "n n"],
    weight: Float[np.ndarray, " n"],
    values: Float[np.ndarray, "n k"],
    most: int,
) -> list[Float[np.ndarray, "n n"]]:
    """Least squares fits of y by the first 1, 2, … products φ_i(q) φ_j(c), both less their means;
    each term is the one that explains most of what those before it leave."""
    left = values - weight @ values / weight.sum()
    right = values - values.mean(axis=0)
    A = np.kron((left.T * weight) @ left, right.T @ right)
    b = ((left.T * weight) @ y @ right).ravel()
    rest, ahead, chosen, found = A.copy(), b.copy(), list[int](), []
    for _ in range(min(most, len(b))):
        size = np.diag(rest)
        free = size > 1e-9 * np.diag(A)
        gain = np.divide(ahead**2, size, out=np.zeros_like(ahead), where=free)
        i = int(gain.argmax())
        if not gain[i]:
            break
        chosen.append(i)
        column = rest[:, i] / size[i]
        ahead = ahead - column * ahead[i]
        rest = rest - np.outer(column, rest[i])
        coefficients = np.zeros(len(b))
        coefficients[chosen] = np.linalg.solve(A[np.ix_(chosen, chosen)], b[chosen])
        found.append(left @ coefficients.reshape(values.shape[1], -1) @ right.T)
    return found
