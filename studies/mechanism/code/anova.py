"""The functional analysis of variance of y(q, c) over the prime powers of q and of c.

N(q) is a product over the prime powers Q ‖ n of functions of q mod Q, and so is the uniform weight
of c. So y is a sum of one term for each set of factors (q mod Q), (c mod Q), orthogonal to all
others: Hoeffding, A class of statistics with asymptotically normal distribution, 1948; Owen, Monte
Carlo theory, 2013, appendix A.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.monoid import prime_powers
from studies.mechanism.code.descriptions import weights_of

Sets = dict[frozenset[int], float]  # of factors: i is q mod the i-th prime power, ω + i is c mod it
KINDS = "bias", "own", "cross-talk", "many"
ORDERS = "order 1", "order 2", "order 3 and more"


class Parts(NamedTuple):
    """Four orthogonal parts of y, which add up to it: what depends on c alone; on q mod Q and
    c mod Q for one Q; otherwise on q mod one Q; on more of q."""

    bias: Float[np.ndarray, "n n"]
    own: Float[np.ndarray, "n n"]
    cross: Float[np.ndarray, "n n"]
    many: Float[np.ndarray, "n n"]


def residues(n: int) -> Int[np.ndarray, "..."]:
    """The residue mod n with given residues modulo each prime power, an axis each.

    >>> residues(6).tolist()
    [[0, 4, 2], [3, 1, 5]]
    """
    powers = prime_powers(n)
    units = [n // Q * pow(n // Q, -1, Q) for Q in powers]
    return np.asarray(np.tensordot(units, np.indices(powers), axes=1) % n)


def energies(y: Float[np.ndarray, "n n"]) -> Sets:
    """The mean square, with weights N(q), of the term of each set of factors."""
    n, powers = len(y), prime_powers(len(y))
    order = residues(n).ravel()
    weights = [weights_of(Q) / Q**2 for Q in powers] + [np.full(Q, 1 / Q) for Q in powers]
    found: Sets = {frozenset(): 1.0}
    terms = {frozenset[int](): y[np.ix_(order, order)].reshape(powers + powers)}
    for axis, weight in enumerate(weights):
        split = {}
        for of, x in terms.items():
            mean = np.expand_dims(np.tensordot(x, weight, axes=(axis, 0)), axis)
            split |= {of: mean, of | {axis}: x - mean}
        terms = split
    for of, x in terms.items():
        square = x**2
        for axis in sorted(of, reverse=True):
            square = np.tensordot(square, weights[axis], axes=(axis, 0))
        found[of] = float(square.squeeze())
    return found


def shares(found: Sets) -> dict[str, float]:
    """The share of each kind and of each order, the number of prime powers that a term knows.

    The kinds add up to 1, and so do the orders; the mean of y over all c must be 0.
    """
    half = (1 + max((i for of in found for i in of), default=0)) // 2
    total = sum(found.values())
    shares: dict[str, float] = dict.fromkeys((*KINDS, *ORDERS), 0.0)
    for of, energy in found.items():
        q, c = {i for i in of if i < half}, {i - half for i in of if i >= half}
        if of:
            shares[kind(q, c)] += energy / total
            shares[ORDERS[min(len(q | c), 3) - 1]] += energy / total
    return shares


def kind(q: set[int], c: set[int]) -> str:
    """The kind of a term from its factors of q and of c.

    >>> kind(set(), {0, 1}), kind({0}, {0}), kind({0}, {0, 1}), kind({0, 1}, {0})
    ('bias', 'own', 'cross-talk', 'many')
    """
    if not q:
        return "bias"
    if len(q) > 1:
        return "many"
    return "own" if q == c else "cross-talk"


def parts(y: Float[np.ndarray, "n n"]) -> Parts:
    """The parts of y themselves: means over the products with one residue of q."""
    n, N = len(y), weights_of(len(y))
    bias = N @ y / N.sum()
    rest, own, single = y - bias, np.zeros_like(y), np.zeros_like(y)
    for Q in prime_powers(n):
        member = np.equal.outer(np.arange(n) % Q, np.arange(Q)).astype(np.float64)
        weight = N @ member
        effect = (member.T * N) @ rest / weight[:, None]
        single += member @ effect
        own += member @ (effect @ member * (Q / n)) @ member.T
    return Parts(np.broadcast_to(bias, y.shape), own, single - own, rest - single)
