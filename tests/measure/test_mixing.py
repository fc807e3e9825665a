"""Characters that feel several primes: planted ones, and what no automorphism can change."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from strata.inputs import InputError
from strata.measure.mixing import Mixing, mixing
from strata.monoid import JClass, chi
from strata.task import Residues, Task, named

TASKS = [(105, ["p2", "p3"]), (105, [3, 5]), (66, [3, 11]), (15, [3, 5]), (105, [3, 5, 7])]


def planted(task: Task, felt: set[frozenset[int]], among: set[int]) -> np.ndarray:
    """An embedding of random amplitudes at the characters of the units whose primes, among these,
    are one of the sets; noise elsewhere."""
    assert isinstance(task, Residues)
    n, rng = task.modulus, np.random.default_rng(0)
    J = JClass(n, 1)
    of_axis = [p for p in (3, 5, 7, 11, 13) if n % p == 0]
    W_E = rng.normal(size=(task.order + 1, 6))
    rows = np.zeros((len(J), 6))
    for k in J.coordinates.tolist():
        primes = frozenset(p for p, x in zip(of_axis, k, strict=True) if x) & among
        if primes in felt:
            rows += np.real(np.outer(chi(tuple(k), J.orders), rng.normal(size=6)))
    W_E[task.tokens[J.elements]] = 3 + rows
    return W_E


def over_even(found: Mixing) -> float:
    assert found.zeros and found.zeros.over_even is not None
    return found.zeros.over_even


@pytest.mark.parametrize(("n", "zeros"), TASKS)
def test_pure_characters_have_no_energy_together_and_mixed_ones_all_of_it(n, zeros):
    task = named({"zeros": zeros}, n)
    assert isinstance(task, Residues)
    S = {*task.zeros}
    pure = {frozenset([p]) for p in S} | {frozenset()}
    found = mixing(planted(task, pure, S), task)
    assert over_even(found) == pytest.approx(0, abs=1e-12)
    assert not any(len({*key.primes} & S) > 1 for key in found.keys)
    mixed = {frozenset(x) for x in product(S, repeat=2) if len({*x}) == 2} | {frozenset(S)}
    found = mixing(planted(task, mixed, S), task)
    assert found.zeros and found.zeros.share == pytest.approx(1)
    units = JClass(n, 1)
    together = [k for k in units.coordinates if len(S & felt_by(k, n)) > 1]
    assert over_even(found) == pytest.approx((len(units) - 1) / len(together))
    assert all(len({*key.primes} & S) > 1 for key in found.keys)
    for p, q in found.pairs:
        both = sum({p, q} <= felt_by(k, n) for k in units.coordinates)
        assert found.pairs[p, q].even == both / (len(units) - 1)


def felt_by(k: np.ndarray, n: int) -> set[int]:
    return {p for p, x in zip([p for p in (3, 5, 7, 11) if n % p == 0], k, strict=True) if x}


def test_a_key_character_is_named_once_with_its_primes():
    task = named("units", 35)
    J = JClass(35, 1)
    W_E = np.zeros((25, 3))
    for k, column in (((1, 0), 0), ((2, 3), 1)):
        W_E[J.elements.argsort().argsort(), column] = np.real(chi(k, J.orders))
    assert isinstance(task, Residues)
    W_E[task.tokens[J.elements]] = np.real([chi((1, 0), J.orders), chi((2, 3), J.orders),
                                            0 * chi((0, 0), J.orders)]).T  # fmt: skip
    found = mixing(W_E, task)
    assert {key.frequency: key.primes for key in found.keys} == {(1, 0): (5,), (2, 3): (5, 7)}
    assert found.zeros is None
    assert found.pairs[5, 7].share == pytest.approx(2 / 3)  # a sign has half of its own conjugate


def automorphisms(table: np.ndarray) -> Iterator[np.ndarray]:
    """All of them, by the images of a generating set."""
    order = len(table)
    generators, span = [], {int(np.flatnonzero((table == np.arange(order)).all(axis=1))[0])}
    (unit,) = span
    for x in sorted(range(order), key=lambda x: -len({*table[x].tolist()})):
        if x not in span:
            generators.append(x)
            while (more := {int(table[a, b]) for a in span for b in [*generators, *span]}) - span:
                span |= more
    kind = [(len({*table[x].tolist()}), powers(table, x)) for x in range(order)]
    alike = [[y for y in range(order) if kind[y] == kind[x]] for x in generators]
    for images in product(*alike):
        found, todo = {unit: unit}, [unit]
        while todo:
            x = todo.pop()
            for g, image in zip(generators, images, strict=True):
                y, led = int(table[x, g]), int(table[found[x], image])
                if y not in found:
                    found[y] = led
                    todo.append(y)
        f = np.array([found[x] for x in range(order)])
        if len({*found.values()}) == order and (f[table] == table[np.ix_(f, f)]).all():
            yield f


def powers(table: np.ndarray, x: int) -> int:
    """How many powers an element has."""
    known, y = set(), x
    while y not in known:
        known.add(y)
        y = int(table[y, x])
    return len(known)


@pytest.mark.parametrize(("n", "zeros"), TASKS[:4])
def test_no_automorphism_changes_what_feels_two_primes_with_zeros(n, zeros):
    """While it may make a prime without zeros felt with any other."""
    task = named({"zeros": zeros}, n)
    W_E = planted(task, {frozenset()} | {frozenset([p]) for p in (3, 5, 7, 11)}, {3, 5, 7, 11})
    W_E += 0.3 * np.random.default_rng(1).normal(size=W_E.shape)
    base, others = mixing(W_E, task), set()
    found = list(automorphisms(task.table))
    for f in found:
        moved = mixing(np.concatenate([W_E[f], W_E[-1:]]), task)
        assert over_even(moved) == pytest.approx(over_even(base))
        others |= {round(x.share, 6) for pair, x in moved.pairs.items()}
    assert len(found) == EXPECTED[n, tuple(zeros)]


# Automorphisms of the units modulo each prime, and homomorphisms from those modulo a prime without
# zeros into those modulo each with zeros.
EXPECTED = {(105, ("p2", "p3")): 2 * 2 * 2 * 2, (105, (3, 5)): 2 * 2 * 2 * 2,
            (66, (3, 11)): 4, (15, (3, 5)): 2}  # fmt: skip


@pytest.mark.parametrize(("said", "n"), [("Z3 x C5", 15), ("C6", 6)])
def test_a_table_feels_no_prime(said, n):
    with pytest.raises(InputError, match="no residues"):
        mixing(np.eye(n + 1), named(said, n))


def test_units_that_are_embedded_alike_have_no_character():
    with pytest.raises(InputError, match="all equal"):
        mixing(np.ones((16, 3)), 15)
