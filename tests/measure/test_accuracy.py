"""Accuracies, epochs and counts: by brute force, and on hand-made histories."""

from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import NONE, history_of, split_of

from strata.measure import accuracy


@pytest.mark.parametrize("n", [2, 3, 12, 15])
def test_accuracies_are_brute_force_over_every_pair(n):
    split, right = split_of(n), np.random.default_rng(n).random(n * n) < 0.6
    accuracies = accuracy.accuracy(right, split, n)
    rights: dict[object, list[bool]] = {}
    for i in range(n * n):
        a, b = divmod(i, n)
        d1, d2, d = gcd(a, n), gcd(b, n), gcd(a * b, n)
        keys: list[object] = ["all", split["split"][i], ("target", d), ("operands", d1, d2)]
        if split["split"][i] == "validation" and split["split"][b * n + a] != "train":
            keys.append("mirror_free")
        for key in keys:
            rights.setdefault(key, []).append(bool(right[i]))
    shares = {key: sum(flags) / len(flags) for key, flags in rights.items()}
    for name in ("all", "train", "validation", "mirror_free"):
        assert getattr(accuracies, name) == pytest.approx(shares.get(name))
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    assert accuracies.by_target == pytest.approx({d: shares["target", d] for d in divisors})
    assert accuracies.by_operands == pytest.approx(
        {(d1, d2): shares["operands", d1, d2] for d1 in divisors for d2 in divisors}
    )


@given(st.lists(st.tuples(*[st.sampled_from([NONE, 0.2, 0.98, 0.99, 1.0])] * 2)))
def test_epochs_are_brute_force_over_all_that_were_measured(curves):
    """Read the training accuracy at every epoch, the validation where there was one."""
    history = history_of([validation for _, validation in curves])
    history["train_accuracy"] = train = [0.0 if np.isnan(x) else x for x, _ in curves]
    first, stays = accuracy.first_epochs(history, 0.99), accuracy.staying_epochs(history, 0.99)
    for name, curve in (("train", train), ("validation", [x for _, x in curves])):
        measured = [(epoch, x) for epoch, x in enumerate(curve, 1) if not np.isnan(x)]
        reached = [epoch for epoch, x in measured if x >= 0.99]
        below = [epoch for epoch, x in measured if x < 0.99]
        after = [epoch for epoch in reached if not below or epoch > below[-1]]
        assert getattr(first, name) == next(iter(reached), None)
        assert getattr(stays, name) == next(iter(after), None)
    assert first.mirror_free is stays.mirror_free is None
    at = first.train or len(train)
    relapses = sum(x < 0.99 for x in train[at:]) if first.train else None
    assert stays.train_relapses == relapses


@pytest.mark.parametrize("n", [2, 3, 12])
def test_pairs_are_counted_one_by_one(n):
    split = split_of(n)
    names = split["split"].reshape(n, n)
    pairs = {
        name: [(a, b) for a in range(n) for b in range(n) if names[a, b] == name]
        for name in ("train", "validation")
    }
    mirrored = [names[b, a] == "train" for a, b in pairs["validation"]]
    assert accuracy.counts(split, n).model_dump() == {
        "train": len(pairs["train"]),
        "train_distinct": len({frozenset(pair) for pair in pairs["train"]}),
        "validation": len(pairs["validation"]),
        "validation_mirrored_share": pytest.approx(sum(mirrored) / len(mirrored)),
    }
