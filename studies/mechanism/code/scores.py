"""Statement 7 of criteria-3.md: each head scores a residue by zeros and at most two characters.

Heads attend from ``=``, so the score that a head gives to a token depends on the token alone, and
the patterns of all pairs follow from n numbers for each head.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure.activations import (
    attention,
    attention_scores,
    preactivations,
    residual_from_heads,
    weighted_values,
)
from strata.patch.patching import ForwardPass
from studies.mechanism.code.dictionary import basis, energy, residual, zeros
from studies.mechanism.code.records import Label
from studies.mechanism.code.residues import all_labels, labels_of_one_prime, waves

Pattern = Float[np.ndarray, "rows n_heads 3"]
CARRIES = 0.05  # attention carries skill where fixing it costs at least this many right answers
NOTHING = 1e-9  # a head whose scores vary by less of their size is constant


class Fit(NamedTuple):
    """The scores of all heads by a formula, the characters in it, and the shares R²; the share of a
    head with constant scores is NaN, and it has no character."""

    scores: Float[np.ndarray, "n n_heads"]
    labels: tuple[tuple[Label, ...], ...]
    share: Float[np.ndarray, " n_heads"]


def fit_scores(
    scores: Float[np.ndarray, "n n_heads"],
    candidates: Sequence[Label],
    count: int,
    order: Int[np.ndarray, " n"] | None = None,
) -> Fit:
    """Fit each head by 1, zeros and up to ``count`` characters, chosen greedily.

    ``order`` permutes the residues at which the formula's functions are taken: the control.
    """
    n = len(scores)
    order = np.arange(n) if order is None else order
    columns = {label: waves(n, label)[order] for label in candidates}
    fits = [_fit_head(score, zeros(n)[order], columns, count) for score in scores.T]
    return Fit(
        np.stack([fit for fit, _, _ in fits], axis=1),
        tuple(labels for _, labels, _ in fits),
        np.array([share for _, _, share in fits]),
    )


def _fit_head(
    score: Float[np.ndarray, " n"],
    zeros_columns: Float[np.ndarray, "n some"],
    columns: dict[Label, Float[np.ndarray, "n waves"]],
    count: int,
) -> tuple[Float[np.ndarray, " n"], tuple[Label, ...], float]:
    total = energy(score - score.mean())
    if total <= NOTHING * energy(score):
        return np.full_like(score, score.mean()), (), nan
    span, chosen = basis(zeros_columns), list[Label]()
    for _ in range(count):
        unexplained = score - span @ (span.T @ score)
        gains = {}
        for label, x in columns.items():
            added = basis_beyond(x, span)
            gains[label] = energy(added.T @ unexplained)
        if max(gains.values(), default=0.0) <= NOTHING * total:
            break
        best = max(gains, key=gains.__getitem__)
        chosen.append(best)
        span = np.concatenate([span, basis_beyond(columns[best], span)], axis=1)
    fit = span @ (span.T @ score)
    return fit, tuple(chosen), 1 - energy(score - fit) / total


def basis_beyond(
    columns: Float[np.ndarray, "n some"], span: Float[np.ndarray, "n rank"]
) -> Float[np.ndarray, "n more"]:
    """Return an orthonormal basis of what columns add to the span of an orthonormal basis."""
    outside = residual(columns, span)
    vectors, sizes, _ = np.linalg.svd(outside, full_matrices=False)
    return vectors[:, sizes > 1e-9 * np.linalg.norm(columns)]


def scores_of(pairs: ForwardPass) -> Float[np.ndarray, "n n_heads"]:
    """Return the score that each head gives to each residue."""
    return attention_scores(pairs.weights).scores[: pairs.n]


def fit_pass(pairs: ForwardPass, count: int, order: Int[np.ndarray, " n"] | None = None) -> Fit:
    """Fit the scores of a network by one character of one prime (*A-one*), or by at most two
    characters of one or of two primes (*A-two*)."""
    candidates = labels_of_one_prime(pairs.n) if count == 1 else all_labels(pairs.n)
    return fit_scores(scores_of(pairs), candidates, count, order)


def pattern_of(pairs: ForwardPass, scores: Float[np.ndarray, "n n_heads"]) -> Pattern:
    """Return the attention of every row under these scores; ``=`` keeps its score."""
    of_equals = attention_scores(pairs.weights).scores[-1:]
    return attention(np.concatenate([scores, of_equals]), pairs.a, pairs.b)


def mean_pattern(pairs: ForwardPass) -> Pattern:
    """Return the mean pattern of each head over all ordered pairs, for every row."""
    pattern = pattern_of(pairs, scores_of(pairs))
    on_either = (pattern[..., 0] + pattern[..., 1]) / 2
    on_operand = pairs.count @ on_either / pairs.n**2
    mean = np.stack([on_operand, on_operand, 1 - 2 * on_operand], axis=-1)
    return np.broadcast_to(mean, pattern.shape)


def with_pattern(pairs: ForwardPass, pattern: Pattern) -> ForwardPass:
    """Run the network again with its attention replaced."""
    weights = pairs.weights
    heads = weighted_values(attention_scores(weights).values, pairs.a, pairs.b, pattern)
    stream = residual_from_heads(weights, heads)
    return replace(pairs, stream_before_mlp=stream, preactivations=preactivations(weights, stream))


def skill_back(right: float, at_mean: float, unchanged: float) -> float:
    """Return the part of the skill lost at mean attention that a replacement brings back; NaN where
    attention carries no skill."""
    return (right - at_mean) / (unchanged - at_mean) if unchanged - at_mean >= CARRIES else nan


def partner_phases(n: int, fit: Fit) -> Float[np.ndarray, " partners"]:
    """Return for every two heads whose first character is one the cosine of the angle between its
    two coefficients: −1 where the heads are opposite."""
    cosines = []
    for i, labels in enumerate(fit.labels):
        for j in range(i):
            if labels and fit.labels[j] and labels[0] == fit.labels[j][0]:
                x = waves(n, labels[0])
                first, second = (x.T @ fit.scores[:, head] for head in (i, j))
                size = np.linalg.norm(first) * np.linalg.norm(second)
                cosines.append(float(first @ second / size) if size else nan)
    return np.array(cosines)
