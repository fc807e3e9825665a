"""Characters that feel several primes: planted ones, and what no automorphism can change."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from strata.monoid import JClass, chi
from strata.task import Residues
from studies.zeros.code import mixing
from studies.zeros.code.mixing import Pair
from studies.zeros.parts import automorphisms, part

TASKS = [(105, (5, 7)), (105, (3, 5)), (105, (3, 5, 7)), (15, (3,)), (35, ())]


def felt_by(k: list[int], n: int) -> frozenset[int]:
    primes = [p for p in (3, 5, 7, 11, 13) if n % p == 0]
    return frozenset(p for p, x in zip(primes, k, strict=True) if x)


def planted(task: Residues, felt: set[frozenset[int]], among: set[int]) -> np.ndarray:
    """Return an embedding of random amplitudes at the characters of the units whose primes, among
    these, are one of the sets, with noise elsewhere."""
    rng = np.random.default_rng(0)
    J, W_E = JClass(task.modulus, 1), rng.normal(size=(task.order + 1, 6))
    rows = np.zeros((len(J), 6))
    for k in J.coordinates.tolist():
        if felt_by(k, task.modulus) & among in felt:
            rows += np.real(np.outer(chi(tuple(k), J.orders), rng.normal(size=6)))
    W_E[task.tokens[J.elements]] = 3 + rows
    return W_E


def pairs(W_E: np.ndarray, task: Residues) -> dict[tuple[int, int], Pair]:
    return {x.primes: x for x in mixing.pairs(mixing.units_share(W_E, task), task)}


@pytest.mark.parametrize(("n", "zeros"), TASKS)
def test_pure_characters_have_no_energy_together_and_mixed_ones_all_of_it(n, zeros):
    task = part(n, zeros)
    for p, q in combinations([p for p in (3, 5, 7) if n % p == 0], 2):
        pure = {frozenset(), frozenset([p]), frozenset([q])}
        W_E, both = planted(task, pure, {p, q}), frozenset([p, q])
        assert pairs(W_E, task)[p, q].share == pytest.approx(0, abs=1e-12)
        keys = mixing.keys(mixing.units_share(W_E, task), n, 0.5)
        assert keys and not any(both <= {*key.primes} for key in keys)
        one = pairs(planted(task, {both}, {p, q}), task)[p, q]
        assert one.share == pytest.approx(1)
        units = JClass(n, 1).coordinates.tolist()
        assert one.even == sum(both <= felt_by(k, n) for k in units) / (len(units) - 1)
        assert one.over_even == pytest.approx(1 / one.even)
        assert one.zeros == (p in zeros) + (q in zeros)


def test_a_key_character_is_named_once_with_its_primes():
    task = part(35, ())
    J = JClass(35, 1)
    W_E = np.zeros((25, 3))
    W_E[task.tokens[J.elements]] = np.real([chi((1, 0), J.orders), chi((2, 3), J.orders),
                                            0 * chi((0, 0), J.orders)]).T  # fmt: skip
    share = mixing.units_share(W_E, task)
    keys = mixing.keys(share, 35, 0.5)
    assert {key.frequency: key.primes for key in keys} == {(1, 0): (5,), (2, 3): (5, 7)}
    [pair] = mixing.pairs(share, task)
    assert pair.share == pytest.approx(2 / 3)  # a sign has half of its own conjugate


def homomorphisms(r: int, p: int) -> Iterator[dict[int, int]]:
    """Return all homomorphisms from the units modulo r into those modulo p."""
    table = [[a * b % r for b in range(r)] for a in range(r)]
    for images in product(range(1, p), repeat=r - 1):
        h = dict(zip(range(1, r), images, strict=True))
        if all(h[table[a][b]] == h[a] * h[b] % p for a in h for b in h):
            yield h


@pytest.mark.parametrize(("n", "zeros", "r", "p"), [
    (15, (), 3, 5), (15, (), 5, 3), (15, (5,), 3, 5), (21, (7,), 3, 7), (21, (), 3, 7),
    (105, (5, 7), 3, 7), (105, (3, 7), 5, 3), (105, (), 5, 7),
])  # fmt: skip
def test_a_prime_without_zeros_may_be_mixed_into_any_other(n, zeros, r, p):
    # For r without zeros the residue modulo p times h of the residue modulo r is an automorphism.
    # It leads from a prime to its mixture with r, where h is not trivial.
    task, count = part(n, zeros), 0
    lift = n // p * pow(n // p, -1, p)  # 1 modulo p, 0 modulo the rest
    for h in homomorphisms(r, p):
        images = [(a + lift * (h[a % r] - 1) * a) % n for a in task.residues.tolist()]
        f = task.tokens[images]
        assert len({*images}) == task.order and {*images} == {*task.residues.tolist()}
        assert (f[task.table] == task.table[np.ix_(f, f)]).all()
        count += 1
    assert count == np.gcd(p - 1, r - 1) > 1


@pytest.mark.parametrize(("n", "zeros"), [x for x in TASKS if 0 < len(x[1]) < 3])
def test_no_automorphism_changes_two_primes_with_zeros_or_a_pure_key_without(n, zeros):
    # An automorphism may well mix a prime without zeros with any other.
    task = part(n, zeros)
    W_E = planted(task, {frozenset()} | {frozenset([p]) for p in (3, 5, 7)}, {3, 5, 7})
    W_E += 0.3 * np.random.default_rng(1).normal(size=W_E.shape)

    def pure(share: np.ndarray) -> list[frozenset[int]]:
        keys = [frozenset(x.primes) for x in mixing.keys(share, n, 0.5)]
        return [x for x in keys if not x & {*zeros}]

    base, differences, maps = mixing.units_share(W_E, task), set(), list(automorphisms(task.table))
    for f in maps:
        share = mixing.units_share(np.concatenate([W_E[f], W_E[-1:]]), task)
        for before, after in zip(mixing.pairs(base, task), mixing.pairs(share, task), strict=True):
            if before.zeros == 2:
                assert before.share == pytest.approx(after.share)
            else:
                differences.add(round(after.share - before.share, 6))
        if len(zeros) > 1:
            assert len(pure(base)) == len(pure(share)) > 0
    assert len(maps) == EXPECTED[n, zeros]
    assert len(differences) > 1


# Automorphisms of the units modulo each prime with zeros; of those modulo all others together; and
# homomorphisms from these into those.
EXPECTED = {(105, (5, 7)): 2 * 2 * 1 * 4, (105, (3, 5)): 1 * 2 * 2 * 4,
            (15, (3,)): 1 * 2 * 2}  # fmt: skip


@pytest.mark.parametrize("n", [15, 21, 35])
def test_decompositions_are_the_images_of_the_usual_one(n):
    # The images are those under all automorphisms of the units, each counted once.
    task, J = part(n, ()), JClass(n, 1)
    primes = [p for p in (3, 5, 7) if n % p == 0]
    expected = set()
    for f in automorphisms(task.table):
        inverse = np.argsort(f)
        subgroups = []
        for p in primes:  # the image of the subgroup of all that are 1 modulo the other primes
            others = task.residues % (n // p) == 1
            subgroups.append(frozenset(inverse[others].tolist()))
        expected.add(tuple(subgroups))
    elements = task.tokens[J.elements]
    decompositions = set()
    for masks in mixing.images(n):
        values = np.array([chi(tuple(k), J.orders) for k in J.coordinates.tolist()])
        trivial = [np.isclose(values[~masks[p]], 1).all(axis=0) for p in primes]
        decompositions.add(tuple(frozenset(elements[x].tolist()) for x in trivial))
    assert decompositions == expected and len(mixing.images(n)) == len(expected)


def test_primes_in_name_alone_are_as_good_as_any_others():
    # What an automorphism makes of an embedding has the same chances, and characters that are pure
    # in one decomposition pass for apart in that decomposition.
    n, task = 35, part(35, ())
    W_E = planted(task, {frozenset([5]), frozenset([7])}, {5, 7})
    base = mixing.at_most(mixing.units_share(W_E, task), n, 0.5)
    assert 1 / len(mixing.images(n)) <= base[5, 7] < 1
    for f in automorphisms(task.table):
        share = mixing.units_share(np.concatenate([W_E[f], W_E[-1:]]), task)
        assert mixing.at_most(share, n, 0.5) == base
    even = np.append(0, np.full(23, 1 / 23))
    assert mixing.at_most(even, n, 0.99) == {(5, 7): 0}
    images = mixing.images(n)
    most = max(mixing.Energy(**mixing.energy(even, x[5] & x[7])).over_even for x in images)
    assert mixing.at_most(even, n, most) == {(5, 7): 1} and most == pytest.approx(1)
