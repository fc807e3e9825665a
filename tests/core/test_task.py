"""The pair table and its split against brute force over every pair."""

from math import floor, gcd

import numpy as np
import pytest
import torch
from planted import planted

from strata import task
from strata.inputs import InputError
from strata.measure import all_pairs
from strata.patch import patching

NAMES = [task.TRAIN, task.VALIDATION, task.HELD_BACK]


@pytest.mark.parametrize("n", [2, 3, 12, 30])
def test_the_pair_table_is_every_ordered_pair_with_its_product_and_classes(n):
    table = task.pair_table(n)
    rows = [(a, b, a * b % n) for a in range(n) for b in range(n)]
    assert list(zip(*(table[k].tolist() for k in "abc"), strict=True)) == rows
    for k, name in enumerate("abc"):
        assert table[f"class_{name}"].tolist() == [gcd(row[k], n) for row in rows]
    assert set(table["class_c"].tolist()) == {d for d in range(1, n + 1) if n % d == 0}


@pytest.mark.parametrize("n", [2, 3, 12, 30, 165])
@pytest.mark.parametrize(("train", "validation"), [(0.3, 0.3), (0.5, 0.5), (0.25, 0.6)])
def test_the_split_is_the_first_draw_dealt_out_in_order(n, train, validation):
    torch.manual_seed(7)
    dealt = torch.randperm(n * n).tolist()
    sizes = floor(train * n * n), floor(validation * n * n)
    expected = [task.HELD_BACK] * n**2
    for place, pair in enumerate(dealt):
        if place < sizes[0]:
            expected[pair] = task.TRAIN
        elif place < sum(sizes):
            expected[pair] = task.VALIDATION
    assert task.split(n, 7, train, validation).tolist() == expected


@pytest.mark.parametrize("n", [10, 50, 70, 90, 130, 165, 170, 499])
@pytest.mark.parametrize("percent", [10, 29, 30, 58, 70])
def test_split_sizes_are_the_exact_shares_rounded_down(n, percent):
    names = task.split(n, 0, percent / 100, 0.2)
    assert (names == task.TRAIN).sum() == percent * n * n // 100
    assert (names == task.VALIDATION).sum() == n * n // 5


def test_the_split_leaves_the_callers_generator_alone():
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    task.split(12, 1, 0.3, 0.3)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert (task.split(12, 1, 0.3, 0.3) != task.split(12, 2, 0.3, 0.3)).any()


@pytest.mark.parametrize("n", [2, 3, 12, 31])
def test_a_pair_is_mirrored_where_its_mirror_trains(n):
    split = task.split(n, 5, 0.4, 0.3)
    trains = {(i // n, i % n) for i in range(n * n) if split[i] == task.TRAIN}
    expected = [(b, a) in trains for a in range(n) for b in range(n)]
    assert task.mirrored(split, n).tolist() == expected


def test_the_published_run_splits_as_the_paper_counts_it():
    n = 165
    split = task.split(n, 1, 0.3, 0.3)
    train, validation, held_back = (np.flatnonzero(split == name) for name in NAMES)
    assert (len(train), len(validation)) == (8167, 8167)
    assert len(held_back) == n * n - 2 * 8167
    assert len({(min(i // n, i % n), max(i // n, i % n)) for i in train.tolist()}) == 6931
    assert round(task.mirrored(split, n)[validation].mean(), 3) == 0.296


def asked(n: int) -> dict[str, str]:
    """What each part says of the task as it is; "fine" where it works."""
    weights = planted(n)
    parts = {
        "table": lambda: task.pair_table(n),
        "measure": lambda: all_pairs.over_all_pairs(weights, n),
        "change": lambda: patching.rig(weights, n),
    }
    found = {}
    for name, part in parts.items():
        try:
            part()
            found[name] = "fine"
        except InputError as refused:
            found[name] = str(refused)
    return found


def test_another_operation_is_refused_where_the_analysis_does_not_hold(monkeypatch):
    assert {*asked(6).values()} == {"fine"}
    monkeypatch.setattr(task, "operation", lambda a, b, n: (a + b) % n)
    found = asked(6)
    assert found["table"] == "fine" and task.pair_table(6)["c"].tolist()[7:10] == [2, 3, 4]
    assert all("is not multiplication" in found[x] for x in ("measure", "change"))
    monkeypatch.setattr(task, "operation", lambda a, b, n: (a * b + a) % n)
    found = asked(6)
    assert "do not commute" in found["table"]
    assert all("is not multiplication" in found[x] for x in ("measure", "change"))
