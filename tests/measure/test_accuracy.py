"""Accuracies, epochs and counts: by brute force, and on hand-made histories."""

from math import gcd

import numpy as np
import pytest
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


@pytest.mark.parametrize(
    ("curve", "epoch"),
    [
        ([0.1, 0.5, 0.99, 1.0], 3),
        ([0.99, 1.0, 1.0], 1),
        ([0.1, 0.99, 0.98, 1.0, 1.0], 4),  # it must stay there
        ([0.1, 1.0, 1.0, 0.5], None),
        ([0.1, 0.2], None),
        ([NONE, 0.1, NONE, 0.99, NONE, 1.0], 4),
        ([NONE, 1.0, NONE], 2),
        ([NONE, NONE], None),
        ([], None),
    ],
)
def test_the_level_is_reached_at_the_first_epoch_after_which_it_holds(curve, epoch):
    assert accuracy.stays_from(history_of(curve), "validation_accuracy", 0.99) == epoch


@pytest.mark.parametrize(
    ("train", "epoch", "relapses"),
    [
        ([0.5, 1, 1, 1, 1, 1], 2, 0),
        ([0.5, 1, 0.99, 1, 1, 1], 2, 0),  # at the level is not below it
        ([0.5, 0.5, 1, 1, 1, 1], 3, 0),  # read at every epoch, validated or not
        ([1, 1, 1, 1, 0.2, 1], 6, 1),
        ([1, 1, 1, 0.9, 0.2, 1], 6, 2),
        ([0.5, 1, 1, 1, 1, 0.9], None, 1),
        ([0.5] * 6, None, None),
    ],
)
def test_training_accuracy_and_its_relapses_are_read_at_every_epoch(train, epoch, relapses):
    history = history_of([NONE, 0.5, NONE, 1, NONE, 1])
    history["train_accuracy"] = np.array(train, dtype=float)
    assert accuracy.staying_epochs(history, 0.99).model_dump() == {
        "train": epoch, "validation": 4, "mirror_free": None, "train_relapses": relapses
    }  # fmt: skip


@pytest.mark.parametrize(
    ("curve", "first"),
    [([0.1, 0.99, 0.5], 2), ([1.0, 0.2], 1), ([NONE, 0.5, NONE, 1.0, 0.1], 4), ([0.9], None)],
)
def test_the_level_is_first_reached_whatever_comes_after(curve, first):
    epochs = accuracy.first_epochs(history_of(curve), 0.99)
    assert epochs.validation == first and epochs.mirror_free is None


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
