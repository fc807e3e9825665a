"""The pair table and its split against brute force over every pair."""

from itertools import product
from math import floor, gcd

import numpy as np
import pytest
import torch

from strata import monoid, task
from strata.inputs import InputError

NAMES = [task.TRAIN, task.VALIDATION, task.HELD_BACK]


@pytest.mark.parametrize(
    ("n", "train", "validation"), [(2, 0.5, 0.5), (30, 0.25, 0.6), (165, 0.3, 0.3)]
)
def test_the_split_is_the_first_draw_dealt_out_in_order(n, train, validation):
    torch.manual_seed(7)
    order = torch.randperm(n * n).tolist()
    sizes = floor(train * n * n), floor(validation * n * n)
    expected = [task.HELD_BACK] * n**2
    for position, pair in enumerate(order):
        if position < sizes[0]:
            expected[pair] = task.TRAIN
        elif position < sum(sizes):
            expected[pair] = task.VALIDATION
    assert task.split(n, 7, train, validation).tolist() == expected


@pytest.mark.parametrize("n", [10, 70, 130, 165])
@pytest.mark.parametrize("percent", [29, 30, 58])
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


def residues_with_zeros(n: int, primes_with_zeros: set[int]) -> list[int]:
    """Return the residues of which each prime that they share with n is one of these."""
    primes = [p for p in range(2, n + 1) if n % p == 0 and all(p % i for i in range(2, p))]
    return [a for a in range(n) if all(p in primes_with_zeros for p in primes if a % p == 0)]


@pytest.mark.parametrize(
    ("spec", "n", "zeros"),
    [("units", 12, set()), ("units", 15, set()), ({"zeros": [5]}, 30, {5}),
     ({"zeros": [2, 3]}, 30, {2, 3}), ({"zeros": ["p1", "p3"]}, 105, {3, 7}),
     ({"zeros": ["p2", 2]}, 12, {2, 3}), ({"zeros": [3]}, 36, {3}), ("multiplication", 12, {2, 3})],
)  # fmt: skip
def test_residues_with_some_zeros_are_numbered_and_multiply_as_in_Z_n(spec, n, zeros):
    residues, parsed = residues_with_zeros(n, zeros), task.parse_task(spec, n)
    assert parsed.order == len(residues)
    table = task.pair_table(parsed)
    pairs = product(enumerate(residues), repeat=2)
    rows = [(i, j, residues.index(a * b % n)) for (i, a), (j, b) in pairs]
    assert list(zip(*(table[k].tolist() for k in "abc"), strict=True)) == rows
    for k, name in enumerate("abc"):
        assert table[f"class_{name}"].tolist() == [gcd(residues[row[k]], n) for row in rows]
    unlabelled = task.Task(None, "", parsed.table)  # its classes without the labels
    tasks = (parsed, unlabelled)
    ours, theirs = ({frozenset(J.elements.tolist()) for J in x.classes} for x in tasks)
    assert ours == theirs and (parsed.regular == unlabelled.regular).all()
    for J in parsed.classes:
        assert J.elements.tolist() == [residues.index(a) for a in monoid.JClass(n, J.d).elements]
        assert (parsed.labels[J.elements] == J.d).all()
        assert (parsed.position[J.elements] == np.arange(len(J))).all()


def test_the_labels_of_Z_n_are_the_divisors_and_its_factors_the_prime_powers():
    for n in (2, 12, 35, 113, 180):
        residues, a = task.task_of(n), np.arange(n)
        assert (residues.labels == np.gcd(a, n)).all()
        assert {q: x.tolist() for q, x in residues.factors.items()} == {
            q: (a % q).tolist() for q in monoid.prime_powers(n)
        }
        assert (residues.algebraic_order == monoid.algebraic_order(n)).all()
        assert (residues.position == monoid.position(n)).all()
        labels = np.gcd(a, n)
        assert (residues.regular == (np.gcd(labels, n // labels) == 1)).all()


def test_a_task_of_a_table_and_one_of_pieces_have_its_products():
    pieces = task.parse_task("Z3 x C2", 6)
    rows = [" ".join(map(str, row)) for row in pieces.table.tolist()]
    table = task.parse_task({"table": rows}, 6)
    for parsed in (pieces, table):
        a, b = np.divmod(np.arange(36), 6)
        products = a // 2 * (b // 2) % 3 * 2 + (a + b) % 2
        assert (parsed.product(a, b) == products).all()
        assert parsed.labels.tolist() == [2, 2, 1, 1, 1, 1]
    assert task.parse_task("Z3 x C5", 15).factors.keys() == {1, 2}
    assert pieces.factors == {}  # C2 into the units of Z3: they are not unique


@pytest.mark.parametrize(
    ("spec", "n", "must"),
    [({"zeros": [7]}, 165, "must be primes of 165, or their ranks: p1, p2, p3, 3, 5, 11"),
     ({"zeros": ["p4"]}, 165, "task.zeros = 'p4': must be primes of 165"),
     ({"zeros": 5}, 165, "must be multiplication, units"), ({}, 6, "must be multiplication"),
     (7, 6, "must be multiplication, units"), ({"table": ["0 1", "1 x"]}, 2, "square of integers"),
     ("Z3 x C2", 7, "its table has 6 elements, a run of it n6"), ("sum", 6, "must be pieces")],
)  # fmt: skip
def test_a_task_that_is_none_is_refused_in_one_line(spec, n, must):
    with pytest.raises(InputError, match=rf"\A.*{must}.*\Z"):
        task.parse_task(spec, n)
