"""Heads: block scores by kind of row, and directions shared with random residues, which are those
of any residues by the definition for a class."""

import numpy as np
import pytest
from small import PARAMS, angles, weights_of

from strata.measure import heads, subspaces
from strata.monoid import classes
from strata.run import Run

MANY = PARAMS.model_copy(update={"shuffles": 200, "top_directions": 3, "aligned_cosine": 0.5})


def test_a_head_that_follows_classes_in_regular_rows_alone_is_seen_to():
    rng, n = np.random.default_rng(0), 180
    labels = np.gcd(np.arange(n), n)
    regular = np.gcd(labels, n // labels) == 1
    x = rng.normal(size=(n, n)).astype(np.float32)
    x[regular] = rng.normal(size=(n + 1, n + 1))[np.ix_(labels, labels)][regular]
    scores = heads.block_scores_by_kind(x, n, rng, 10)
    assert scores is not None
    assert scores.regular.score == pytest.approx(1)
    assert scores.regular.mean < 0.5
    chance = scores.non_regular.mean + 5 * scores.non_regular.std
    assert scores.non_regular.score < chance < 0.5
    assert heads.block_scores_by_kind(x[:30, :30], 30, rng, 2) is None


def test_each_head_is_measured_by_its_own_attention_to_a_and_to_equals():
    """Make head 0 attend to a by blocks, and head 1 to b."""
    n, rng = 15, np.random.default_rng(3)
    labels = np.gcd(np.arange(n), n)
    blocks = rng.uniform(0.1, 0.4, size=(n + 1, n + 1))[np.ix_(labels, labels)].ravel()
    to_equals = rng.uniform(0.1, 0.5, size=(n * n, 2))
    first = np.stack([blocks, 1 - blocks - to_equals[:, 0], to_equals[:, 0]], axis=1)
    second = np.stack([1 - blocks - to_equals[:, 1], blocks, to_equals[:, 1]], axis=1)
    pattern = np.stack([first, second, first], axis=1).astype(np.float32)
    metrics = heads.head_metrics(weights_of(Run(n, 1)), pattern, n, PARAMS)
    for h in range(2):
        attention, planted = metrics[h].self_attention, to_equals[:, h]
        assert (attention.mean, attention.max) == pytest.approx((planted.mean(), planted.max()))
    assert metrics[0].block_score == pytest.approx(1) and metrics[1].block_score < 0.9


def test_random_directions_are_the_mean_count_over_random_sets():
    weights, rng = weights_of(Run(15, 1)), np.random.default_rng(7)
    random = heads.random_spans(weights["W_E"][:15], 15, MANY)
    for h in range(3):
        aligned = heads.alignment(h, weights, 15, random, MANY)
        W_OV = subspaces.W_OV(weights["W_V"][h], weights["W_O"][h])
        for J in classes(15):
            for side in ("read", "write"):
                expected = angles(W_OV, weights["W_E"][J.elements], side, 3)
                assert getattr(aligned[J.d], side) == pytest.approx(expected)
                assert getattr(aligned[J.d], f"{side}_above") == (expected >= 0.5).sum()
                sets = [rng.choice(15, len(J), replace=False) for _ in range(200)]
                cosines = [angles(W_OV, weights["W_E"][x], side, 3) for x in sets]
                counts = [(x >= 0.5).sum() for x in cosines]
                error = float(4 * (np.std(counts) + 0.05) / 200**0.5)
                mean = getattr(aligned[J.d], f"{side}_random")
                assert mean == pytest.approx(np.mean(counts), abs=error)


def test_directions_count_as_aligned_from_the_level_on():
    weights = weights_of(Run(15, 1))
    random = heads.random_spans(weights["W_E"][:15], 15, MANY.model_copy(update={"shuffles": 4}))
    for side in ("read", "write"):
        cosines = getattr(heads.alignment(0, weights, 15, random, MANY)[1], side)
        for i, level in enumerate(cosines, start=1):
            at_level = MANY.model_copy(update={"aligned_cosine": level})
            aligned = heads.alignment(0, weights, 15, random, at_level)[1]
            assert getattr(aligned, f"{side}_above") == i
