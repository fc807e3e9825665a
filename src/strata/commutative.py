"""Find the classes, groups and direct factors of a finite commutative monoid from its Cayley table.

``table[a, b]`` is ab, and the elements are 0 … order − 1. In a commutative monoid Green's relations
coincide: a J b ⇔ aM = bM. The maps x ↦ mx with mH = H form the Schützenberger group of a class H,
which is abelian and acts simply transitively on H. So a base point, the idempotent where there is
one, makes H a group, and this group is a product of cyclic groups of prime power order. Howie,
Fundamentals of Semigroup Theory, 1995, ch. 2; Clifford and Preston, The Algebraic Theory of
Semigroups, 1961, section 2.4.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, permutations
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from strata.arithmetic import divisors, primefactors
from strata.inputs import InputError
from strata.monoid import frequencies

Table = Int[np.ndarray, "order order"]
Labels = Int[np.ndarray, " order"]  # of each element
LARGEST = 4096  # elements
BELOW = 2**20 - 3  # a prime: sums of 4,096 products of two numbers below it are exact in float64


def check_table(values: Any, origin: str) -> Table:
    """Check that a table is that of a commutative monoid, and return it. Raises InputError, which
    names elements that break a law.

    Light's test compares (xg)y with x(gy) for generators g, and a chain needs all of its elements
    as generators. Instead both sides are compared in the monoid algebra modulo a prime, for random
    y and z and for every x at once. A table that is not associative passes one trial with
    probability 1 in 300,000, and two trials with 1 in 10^11. Rajagopalan and Schulman, Verification
    of Identities, 2000.
    """
    try:
        table = np.asarray(values)
    except ValueError:
        table = np.empty(0)
    if table.ndim != 2 or len({*table.shape}) > 1 or table.dtype.kind not in "iu":
        raise InputError(f"{origin}: must be a square of integers, row a, column b: ab")
    table, order = table.astype(np.int64), len(table)
    if not 2 <= order <= LARGEST:
        raise InputError(f"{origin}: {order} elements: must be from 2 to {LARGEST}")
    if (bad := np.argwhere((table < 0) | (table >= order))).size:
        a, b = bad[0]
        raise InputError(f"{origin}: {a}·{b} = {table[a, b]}: must be from 0 to {order - 1}")
    if (bad := np.argwhere(table != table.T)).size:
        a, b = bad[0]
        products = f"{a}·{b} = {table[a, b]}, {b}·{a} = {table[b, a]}"
        raise InputError(f"{origin}: {products}: must be commutative")
    if not (table == np.arange(order)).all(axis=1).any():
        raise InputError(f"{origin}: no element leaves all others as they are: must have a unit")
    for x in not_associative(table):
        left, right = table[table[x]], table[x][table]
        y, z = np.argwhere(left != right)[0]
        products = f"({x}·{y})·{z} = {left[y, z]}, {x}·({y}·{z}) = {right[y, z]}"
        raise InputError(f"{origin}: {products}: must be associative")
    return table


def not_associative(table: Table, trials: int = 2) -> Iterator[int]:
    """Yield each x for which (xy)z and x(yz) differ in a trial. A trial compares f((xy)z) with
    f(x(yz)) for a random linear form f and random y, z of the monoid algebra."""
    rng, order = np.random.default_rng(0), len(table)
    for _ in range(trials):
        f, y, z = rng.integers(BELOW, size=(3, order)).astype(np.float64)
        yz = np.zeros(order)
        for a in range(order):  # a row at a time, because 4,096² products would fill the memory
            yz += np.bincount(table[a], y[a] * z % BELOW, order)
        form = f[table]
        left = (form @ z % BELOW)[table] @ y % BELOW
        yield from map(int, np.flatnonzero(left != form @ (yz % BELOW) % BELOW))


@dataclass(frozen=True, eq=False)
class Class:
    """A ``Class`` is a class H of a commutative monoid, with coordinates in its group.

    ``elements`` are in algebraic order: lexicographic in the coordinates, with the last axis
    fastest. The first one is the base point, which is the idempotent of a regular class. ``d`` is
    the label.
    """

    d: int
    elements: Int[np.ndarray, " size"]
    orders: tuple[int, ...]
    regular: bool
    m: None = None  # a table has no modulus

    def __len__(self) -> int:
        return len(self.elements)

    @property
    def idempotent(self) -> int | None:
        """Return the identity of a regular class, or None where the class is not regular."""
        return int(self.elements[0]) if self.regular else None

    @cached_property
    def coordinates(self) -> Int[np.ndarray, "size r"]:
        """Return the exponents of elements[i] as row i."""
        return frequencies(self.orders)

    @property
    def periods(self) -> Int[np.ndarray, " size"]:
        """Return the order of each element in the group."""
        q = np.array(self.orders)
        return np.lcm.reduce(q // np.gcd(self.coordinates, q), axis=1)


def classes(table: Table) -> tuple[Class, ...]:
    """Return the classes, sorted by the size of aM, the largest first, then by their least
    elements. They are numbered from 1, which is the class of the units.

    >>> [J.elements.tolist() for J in classes(parse_monoid("Z6"))]
    [[1, 5], [4, 2], [3], [0]]
    """
    order = len(table)
    inside = np.zeros((order, order), dtype=bool)
    np.put_along_axis(inside, table, True, axis=1)  # row a: aM
    least, size = (inside & inside.T).argmax(axis=1), inside.sum(axis=1)
    first = sorted(np.unique(least).tolist(), key=lambda a: (-size[a], a))
    return tuple(_class(table, np.flatnonzero(least == a), d) for d, a in enumerate(first, 1))


def _class(table: Table, members: Int[np.ndarray, " size"], d: int) -> Class:
    idempotents = members[table[members, members] == members]
    base = (*idempotents, *members)[0]
    members = np.array([base, *members[members != base]])
    values, multiplier = np.unique(table[:, base], return_index=True)  # one m for each m·base
    place = np.zeros(len(table), dtype=np.int64)
    place[members] = np.arange(len(members))
    rows = multiplier[np.searchsorted(values, members)]
    orders, sequence = axes(place[table[np.ix_(rows, members)]])
    return Class(d, members[sequence], orders, len(idempotents) > 0)


def axes(group: Table) -> tuple[tuple[int, ...], Int[np.ndarray, " size"]]:
    """Return the orders of the cyclic axes of an abelian group with identity 0, and its elements in
    lexicographic order. Primes ascend, then orders descend; the trivial group has the orders (1,).

    In a group of prime power order, an element of the largest order that avoids a sum of such
    elements extends that sum: Fuchs, Infinite Abelian Groups, 1970, section 17.
    """
    period, orders, elements = periods(group), [], np.zeros(1, dtype=np.int64)
    for p in primefactors(len(group)):
        span = np.zeros(1, dtype=np.int64)
        p_elements = np.flatnonzero((period > 1) & (gcd(len(group), p**12) % period == 0))
        for x in p_elements[np.argsort(-period[p_elements], kind="stable")].tolist():
            x_powers = powers(group, 0, x)
            if x_powers[len(x_powers) // p] not in span:
                span = group[np.ix_(span, x_powers)].ravel()
                elements = group[np.ix_(elements, x_powers)].ravel()
                orders.append(len(x_powers))
    return tuple(orders) or (1,), elements


def periods(group: Table) -> Int[np.ndarray, " order"]:
    """Return the order of each element of a group with identity 0."""
    elements = np.arange(len(group))
    period, power, k = np.zeros_like(elements), elements, 1
    while not period.all():
        period[(power == 0) & (period == 0)] = k
        power, k = group[power, elements], k + 1
    return period


def powers(table: Table, identity: int, x: int) -> Int[np.ndarray, " period"]:
    """Return the powers of an element of a group, from the identity on."""
    elements = [identity]
    while (element := int(table[elements[-1], x])) != identity:
        elements.append(element)
    return np.array(elements)


class Factors(NamedTuple):
    """``Factors`` are indecomposable direct factors; labels[i] gives factor i of every element,
    numbered from 0.

    Their isomorphism types are unique (Jónsson and Tarski, Direct Decompositions of Finite
    Algebraic Systems, 1947). As congruences they are unique where no homomorphism but the trivial
    one leads from a factor into the units of another, because each such φ gives other factors by
    (a, b) ↦ (a, φ(a)b). It leads through the least ideal of the first factor, a group, so coprime
    orders rule it out.
    """

    labels: tuple[Labels, ...]
    unique: bool


def factors(table: Table) -> Factors:
    """Return the direct factors of a commutative monoid, the smallest first.

    >>> [int(x.max()) + 1 for x in factors(parse_monoid("Z165")).labels]
    [3, 5, 11]
    """
    labels = sorted(_factors(table), key=lambda x: (int(x.max()), x.tolist()))
    parts = [classes(quotient(table, x)) for x in labels]
    coprime = (gcd(len(a[-1]), len(b[0])) == 1 for a, b in permutations(parts, 2))
    return Factors(tuple(labels), all(coprime))


def _factors(table: Table) -> list[Labels]:
    if len(table) == 1:
        return []
    for cyclic, complement in _groups(table):
        return [cyclic, *within(table, complement)]
    for pair in _pairs(table):
        return [x for factor in pair for x in within(table, factor)]
    return [np.arange(len(table))]


def within(table: Table, factor: Labels) -> list[Labels]:
    """Return the direct factors of a direct factor, as labels of all elements."""
    return [x[factor] for x in _factors(quotient(table, factor))]


def quotient(table: Table, labels: Labels) -> Int[np.ndarray, "count count"]:
    """Return the table of the classes of a congruence."""
    count = int(labels.max()) + 1
    products = np.empty((count, count), dtype=np.int64)
    products[labels[:, None], labels] = labels[table]
    return products


def congruence(table: Table, e: int, group: Int[np.ndarray, " size"]) -> Labels:
    """Return the congruence x ~ y ⇔ exH = eyH for an idempotent e and a group H of which e is the
    identity. Every congruence that pairs (1, m) generate is one of these."""
    return np.unique(table[np.ix_(group, table[e])].min(axis=0), return_inverse=True)[1]


def _groups(table: Table) -> Iterator[tuple[Labels, Labels]]:
    """Yield each cyclic direct factor with the congruence of its complement.

    Let e be the identity of the least ideal K, which is a group. A unit u generates such a factor
    where its order is that of an axis of K, and the homomorphism x ↦ (coordinate of ex on that
    axis) is injective on the powers of u.
    """
    units, K = (classes(table)[i] for i in (0, -1))
    identity, place = int(units.elements[0]), np.zeros(len(table), dtype=np.int64)
    place[K.elements] = np.arange(len(K))
    coordinates = K.coordinates[place[table[K.elements[0]]]]
    for axis, q in enumerate(K.orders):
        injective = (units.periods == q) & (np.gcd(coordinates[units.elements, axis], q) == 1)
        for u in units.elements[injective][: q > 1].tolist():
            yield coordinates[:, axis], congruence(table, identity, powers(table, identity, u))


def _pairs(table: Table) -> Iterator[tuple[Labels, Labels]]:
    """Yield pairs of congruences whose classes meet in one element each, so that M = A × B.

    There x and y with one A-part have exH = eyH for the idempotent e = (1, least of B) and the
    group H of all (1, k) with k in the least ideal of B. H is mapped one to one into the least
    ideal of M.
    """
    Js, congruences = classes(table), []
    for J in (J for J in Js if J.regular):
        for H in subgroups(table, J, Js[-1]):
            label = congruence(table, int(J.elements[0]), np.array([*H]))
            sizes = np.bincount(label)
            if 1 < len(sizes) < len(table) and not np.ptp(sizes):
                congruences.append(label)
    for one, other in combinations(congruences, 2):
        count = int(other.max()) + 1
        pair = one * count + other
        if (int(one.max()) + 1) * count == len(table) == len(np.unique(pair)):
            yield one, other


def subgroups(table: Table, J: Class, K: Class) -> set[frozenset[int]]:
    """Return the subgroups of a regular class J that x ↦ ex maps one to one into the least ideal K,
    whose identity is e."""
    image, period = table[K.elements[0]], np.zeros((2, len(table)), dtype=np.int64)
    period[0, J.elements], period[1, K.elements] = J.periods, K.periods
    candidates = {x for x in J.elements.tolist() if 1 < period[0, x] == period[1, image[x]]}
    identity = int(J.elements[0])
    groups = frontier = {frozenset([identity])}
    while frontier:
        larger = set()
        for H in frontier:
            for x in candidates - H:
                generated = np.unique(table[np.ix_(np.array([*H]), powers(table, identity, x))])
                if len(np.unique(image[generated])) == len(generated):
                    larger.add(frozenset(generated.tolist()))
        groups, frontier = groups | larger, larger - groups
    return groups


def _cyclic(n: int) -> Table:
    return np.add.outer(np.arange(n), np.arange(n)) % n


def _divisors(n: int) -> Table:
    numbers = np.array(divisors(n))
    return np.searchsorted(numbers, np.gcd.outer(numbers, numbers))


PIECES = {
    "Z": lambda n: np.multiply.outer(np.arange(n), np.arange(n)) % n,
    "U": lambda n: submonoid(PIECES["Z"](n), np.flatnonzero(np.gcd(np.arange(n), n) == 1)),
    "C": _cyclic,
    "chain": lambda n: np.minimum.outer(np.arange(n), np.arange(n)),
    "sums": lambda n: np.minimum(np.add.outer(np.arange(n), np.arange(n)), n - 1),
    "gcd": _divisors,
}
MEANINGS = (
    "Z7 (residues mod 7), U7 (its units), C7 (the cyclic group), chain7 (0 … 6 under min), "
    "sums7 (0 … 6, sums cut off at 6), gcd12 (the divisors of 12)"
)


def submonoid(table: Table, elements: Int[np.ndarray, " some"]) -> Int[np.ndarray, "some some"]:
    """Return the table of a submonoid, with its elements renumbered 0, 1, … in ascending order."""
    return np.searchsorted(elements, table[np.ix_(elements, elements)])


def product_table(
    A: Int[np.ndarray, "p p"], B: Int[np.ndarray, "q q"]
) -> Int[np.ndarray, "p*q p*q"]:
    """Return the table of A × B, in which (a, b) has the number a |B| + b."""
    numbers = np.arange(len(A) * len(B))
    a, b = np.divmod(numbers, len(B))
    return A[np.ix_(a, a)] * len(B) + B[np.ix_(b, b)]


def parse_monoid(text: str) -> Table:
    """Return the table of a product of named pieces, with an absorbing element added where ^0
    follows. Raises InputError for other names.

    >>> len(parse_monoid("Z7 x C5 x chain3")), len(parse_monoid("U15^0"))
    (105, 9)
    """
    if text.endswith("^0"):
        table = parse_monoid(text.removesuffix("^0"))
        return np.pad(table, (0, 1), constant_values=len(table))
    pieces = [re.fullmatch(r"([A-Za-z]+)([1-9][0-9]{0,3})", x.strip()) for x in text.split(" x ")]
    sizes = [int(x[2]) if x and x[1] in PIECES else 0 for x in pieces]
    tables = [PIECES[x[1]](n) for x, n in zip(pieces, sizes, strict=True) if x and n]
    if not all(sizes) or max(sizes) > LARGEST or prod(map(len, tables)) > LARGEST:
        raise InputError(f"{text!r}: must be pieces such as {MEANINGS}, joined by ' x '")
    return reduce(product_table, tables)
