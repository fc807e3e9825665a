"""Measure what the figures over seeds show of one run, and what two runs have in common.

A map is an n × n matrix over (a, b), rows and columns in algebraic order. Shares are fractions. The
paper does so in its appendix “Other Moduli and Stability Analysis”.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure import variance
from strata.measure.activations import blocks
from strata.monoid import algebraic_order
from strata.store import Arrays


def attention(weights: Arrays, n: int) -> Float[np.ndarray, "n_heads n n"]:
    """Return the map of each head, which is how much `=` attends to a."""
    return _maps([block.attention[..., 0] for *_, block in blocks(weights, n)], n)


def neurons(weights: Arrays, n: int) -> Float[np.ndarray, "d_mlp n n"]:
    """Return the map of each neuron of the MLP, which is its activation at `=`, after the ReLU."""
    return _maps([block.mlp for *_, block in blocks(weights, n)], n)


def _maps(parts: Sequence[np.ndarray], n: int) -> np.ndarray:
    order = algebraic_order(n)
    return np.concatenate(parts).T.reshape(-1, n, n)[:, order[:, None], order]


def active(maps: Float[np.ndarray, "d_mlp n n"]) -> Int[np.ndarray, " some"]:
    """Return the neurons that are above 0 for some pair."""
    return np.flatnonzero(maps.any(axis=(1, 2)))


def drawn(
    maps: Float[np.ndarray, "d_mlp n n"], count: int, seeds: Sequence[int]
) -> Int[np.ndarray, " count"]:
    """Draw neurons at random among the active ones, or among all where too few are active."""
    count, pool = min(count, len(maps)), active(maps)
    pool = pool if len(pool) >= count else np.arange(len(maps))
    return np.sort(np.random.default_rng(seeds).choice(pool, count, replace=False))


def block_scores(
    maps: Float[np.ndarray, "maps n n"], seeds: Sequence[int]
) -> tuple[Float[np.ndarray, " maps"], Float[np.ndarray, " maps"]]:
    """Return the block score of each map, and that with the class labels shuffled once."""
    labels, rng = _labels(maps.shape[1]), np.random.default_rng(seeds)
    score = variance.block_eta_squared
    scores = [(score(x, labels), score(x, rng.permutation(labels))) for x in maps]
    unshuffled, shuffled = np.array(scores).reshape(-1, 2).T
    return unshuffled, shuffled


def block_means(x: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Replace each entry of the map by the mean over its block (class of a, class of b)."""
    return variance.block_means(x, _labels(len(x)))


def _labels(n: int) -> Int[np.ndarray, " n"]:
    return np.gcd(algebraic_order(n), n)


def correlations(maps: Sequence[Float[np.ndarray, "n n"]]) -> Float[np.ndarray, " pairs"]:
    """Return Pearson's correlation of every two of the maps; 0 with a map that is constant."""
    centred = [x.ravel() - x.mean(dtype=float) for x in maps]
    units = [x / max(float(np.linalg.norm(x)), 1e-30) for x in centred]
    return np.array([x @ y for x, y in combinations(units, 2)])


class Common(NamedTuple):
    """``Common`` is the share of the key frequencies of one run that are key in another, and what
    chance gives."""

    shared: float
    even: float  # if the other run drew as many among all frequencies
    same_axes: float  # if it drew, on every axis and set of axes, as many as it has there


def common(keys: Sequence[Collection[tuple[int, ...]]], orders: tuple[int, ...]) -> Common:
    """Return what runs have in common: means over all ordered pairs of runs of |K ∩ L| / |K|.

    Two runs with all their key frequencies on the same few axes share many without any choice in
    common, so ``same_axes`` is the chance to compare with.

    >>> common([{(1,), (4,)}, {(1,), (2,), (3,), (4,)}], (9,))
    Common(shared=0.75, even=0.375, same_axes=0.375)
    """
    pairs = [(set(x), set(y)) for x, y in permutations(keys, 2) if x]
    if not pairs:
        return Common(0.0, 0.0, 0.0)
    axes = {k: tuple(np.flatnonzero(k)) for k in np.ndindex(*orders)}  # the axes of a frequency
    available, total = Counter(axes.values()), len(axes) - 1
    rows = []
    for x, y in pairs:
        other_axes = Counter(axes[k] for k in y)
        expected = sum(other_axes[axes[k]] / available[axes[k]] for k in x)
        rows.append((len(x & y) / len(x), len(y) / total, expected / len(x)))
    return Common(*np.mean(rows, axis=0).tolist())
