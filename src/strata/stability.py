"""What the figures over seeds show of one run, and what two runs have in common.

A map is an n × n matrix over (a, b), rows and columns in algebraic order. Shares are fractions.
Appendix “Other Moduli and Stability Analysis” of the paper.
"""

from collections.abc import Collection, Sequence
from itertools import combinations, permutations

import numpy as np
from jaxtyping import Float, Int

from strata import circuits
from strata.activations import blocks
from strata.monoid import algebraic_order
from strata.store import Arrays


def attention(weights: Arrays, n: int) -> Float[np.ndarray, "n_heads n n"]:
    """The map of each head: how much `=` attends to a."""
    return _maps([found.attention[..., 0].numpy() for *_, found in blocks(weights, n)], n)


def neurons(weights: Arrays, n: int) -> Float[np.ndarray, "d_mlp n n"]:
    """The map of each neuron of the MLP: its activation at `=`, after the ReLU."""
    return _maps([found.mlp.numpy() for *_, found in blocks(weights, n)], n)


def _maps(parts: Sequence[np.ndarray], n: int) -> np.ndarray:
    order = algebraic_order(n)
    return np.concatenate(parts).T.reshape(-1, n, n)[:, order[:, None], order]


def active(maps: Float[np.ndarray, "d_mlp n n"]) -> Int[np.ndarray, " some"]:
    """The neurons that are above 0 for some pair."""
    return np.flatnonzero(maps.any(axis=(1, 2)))


def drawn(
    maps: Float[np.ndarray, "d_mlp n n"], count: int, seeds: Sequence[int]
) -> Int[np.ndarray, " count"]:
    """Neurons drawn at random among the active ones; among all where too few are active."""
    count, pool = min(count, len(maps)), active(maps)
    pool = pool if len(pool) >= count else np.arange(len(maps))
    return np.sort(np.random.default_rng(seeds).choice(pool, count, replace=False))


def block_scores(
    maps: Float[np.ndarray, "maps n n"], seeds: Sequence[int]
) -> tuple[Float[np.ndarray, " maps"], Float[np.ndarray, " maps"]]:
    """The block score of each map, and that of the same map with the class labels shuffled once."""
    labels, rng = _labels(maps.shape[1]), np.random.default_rng(seeds)
    score = circuits.block_score
    scores = [(score(x, labels), score(x, rng.permutation(labels))) for x in maps]
    own, shuffled = np.array(scores).reshape(-1, 2).T
    return own, shuffled


def block_means(x: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """The map with each entry replaced by the mean over its block (class of a, class of b)."""
    return circuits.block_means(x, _labels(len(x)))


def _labels(n: int) -> Int[np.ndarray, " n"]:
    return np.gcd(algebraic_order(n), n)


def correlations(maps: Sequence[Float[np.ndarray, "n n"]]) -> Float[np.ndarray, " pairs"]:
    """Pearson's correlation of every two of the maps; 0 with a map that is constant."""
    centred = [x.ravel() - x.mean(dtype=float) for x in maps]
    units = [x / max(float(np.linalg.norm(x)), 1e-30) for x in centred]
    return np.array([x @ y for x, y in combinations(units, 2)])


def common(keys: Sequence[Collection[tuple[int, ...]]], total: int) -> tuple[float, float]:
    """Share of the key frequencies of one run that are key in another, and the share by chance.

    The mean over all ordered pairs of runs of |K ∩ L| / |K|, and of |L| / total.

    >>> common([{(1,), (4,)}, {(1,), (2,), (3,), (4,)}], 8)
    (0.75, 0.375)
    """
    pairs = [(set(x), set(y)) for x, y in permutations(keys, 2) if x]
    if not pairs:
        return 0.0, 0.0
    shared = np.mean([len(x & y) / len(x) for x, y in pairs])
    return float(shared), float(np.mean([len(y) / total for _, y in pairs]))
