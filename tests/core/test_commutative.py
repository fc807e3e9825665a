"""Classes, groups and factors against brute force over tables of commutative monoids."""

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest

from strata import commutative, monoid
from strata.commutative import (
    Class,
    Table,
    check_table,
    classes,
    factors,
    parse_monoid,
    product_table,
)
from strata.inputs import InputError
from strata.measure import fourier
from strata.monoid import chi

COUNTS = {1: 1, 2: 2, 3: 5, 4: 19}  # commutative monoids of each order: OEIS A058131


def is_associative(t: np.ndarray) -> bool:
    """Whether a table is associative as far as it is filled in."""
    for x, y, z in product(range(len(t)), repeat=3):
        if t[x, y] >= 0 <= t[y, z] and -1 < t[t[x, y], z] != t[x, t[y, z]] > -1:
            return False
    return True


def completions(t: np.ndarray, pairs: list[tuple[int, int]]) -> Iterator[np.ndarray]:
    if not pairs:
        yield t
        return
    (a, b), *others = pairs
    for c in range(len(t)):
        extended = t.copy()
        extended[a, b] = extended[b, a] = c
        if is_associative(extended):
            yield from completions(extended, others)


def monoids(order: int) -> list[Table]:
    """Return all commutative monoids of an order with unit 0, one of each kind."""
    empty = np.full((order, order), -1)
    empty[0] = empty[:, 0] = range(order)
    by_kind = {}
    pairs = list(combinations_with_replacement(range(1, order), 2))
    for t in completions(empty, pairs):
        orders = ([0, *x] for x in permutations(range(1, order)))
        by_kind.setdefault(min(tuple(np.argsort(x)[t[np.ix_(x, x)]].ravel()) for x in orders), t)
    return list(by_kind.values())


def polynomials(modulus: int) -> Table:
    """Return the products of F_2[x] modulo a polynomial; polynomials are the bits of integers."""
    size = 1 << (modulus.bit_length() - 1)
    table = np.zeros((size, size), dtype=np.int64)
    for a, b in product(range(size), repeat=2):
        c = 0
        for i in range(size.bit_length()):
            c ^= (a << i) * (b >> i & 1)
        while c >= size:
            c ^= modulus << (c.bit_length() - modulus.bit_length())
        table[a, b] = c
    return table


def clifford() -> Table:
    """Return a unit above a group of two elements, its least ideal, which no factor shows."""
    return np.array([[0, 1, 2], [1, 1, 2], [2, 2, 1]])


SMALL = [t for order in COUNTS for t in monoids(order)]
NAMES = ("Z12", "Z30", "U15", "U24", "C4 x C2", "C2 x C2 x C2", "Z3 x C2", "C2 x chain2", "Z3 x C3",
         "chain3 x chain2", "sums3 x C2", "sums4", "gcd36", "gcd12 x C2", "U5 x Z5", "Z4 x Z3",
         "C6", "Z8", "chain2 x chain2 x chain2")  # fmt: skip
TABLES = [parse_monoid(x) for x in NAMES] + [polynomials(x) for x in (0b110, 0b1010, 0b100, 0b1001)]
TABLES += [
    clifford(),
    product_table(clifford(), clifford()),
    product_table(clifford(), parse_monoid("C2")),
]
TABLES += [product_table(clifford(), parse_monoid("Z3"))]


def test_every_small_monoid_is_there_once():
    assert {order: len(monoids(order)) for order in COUNTS} == COUNTS


def index(J: Class, t: np.ndarray) -> int:
    return int(np.ravel_multi_index(tuple(t % J.orders), J.orders))


def maps(table: Table, J: Class) -> dict[int, tuple[int, ...]]:
    """Return the maps x ↦ mx of a class onto itself, by where they lead its base point."""
    elements = J.elements.tolist()
    images = {tuple(table[m, elements].tolist()) for m in range(len(table))}
    return {x[0]: x for x in images if {*x} == {*elements}}


@pytest.mark.parametrize("table", SMALL + TABLES)
def test_classes_and_their_groups_are_those_of_the_definition(table):
    order, of_table = len(table), classes(table)
    ideals = [{*row} for row in table.tolist()]
    class_of = [next(i for i, J in enumerate(of_table) if a in J.elements) for a in range(order)]
    assert sorted(x for J in of_table for x in J.elements.tolist()) == list(range(order))
    for a, b in product(range(order), repeat=2):
        assert (class_of[a] == class_of[b]) == (ideals[a] == ideals[b])
    assert len(ideals[of_table[0].elements[0]]) == order
    for J in of_table:
        a = int(J.elements[0])
        assert J.regular == any(table[table[a, x], a] == a for x in range(order))
        assert J.idempotent is None if not J.regular else table[a, a] == a
        by_base = maps(table, J)
        assert {*by_base} == {*J.elements.tolist()} and len(J) == np.prod(J.orders)
        position = {x: i for i, x in enumerate(J.elements.tolist())}
        for (i, x), (j, y) in product(enumerate(J.elements.tolist()), repeat=2):
            composed = by_base[x][position[by_base[y][0]]]
            assert composed == J.elements[index(J, J.coordinates[i] + J.coordinates[j])]


def congruence(table: Table, pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """Return the least congruence with these pairs, as the least element of each one's class."""
    labels, queue = list(range(len(table))), list(pairs)
    while queue:
        a, b = (labels[x] for x in queue.pop())
        if a != b:
            low, high = min(a, b), max(a, b)
            members = [x for x in range(len(table)) if labels[x] == high]
            queue += [(int(table[low, m]), int(table[high, m])) for m in range(len(table))]
            for x in members:
                labels[x] = low
    return tuple(labels)


def congruences(table: Table) -> set[tuple[int, ...]]:
    """Return all congruences, as joins of those that one pair generates."""
    principal = {congruence(table, [x]) for x in combinations(range(len(table)), 2)}
    closed = todo = principal | {tuple(range(len(table)))}
    while todo:
        joins = {congruence(table, [*enumerate(x), *enumerate(y)]) for x in todo for y in principal}
        closed, todo = closed | joins, joins - closed
    return closed


def complementary(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    return len({*zip(x, y, strict=True)}) == len(x) == len({*x}) * len({*y})


def factor_orders(table: Table) -> list[int]:
    """Return the orders of the indecomposable factors, by brute force."""
    partitions = congruences(table)
    for x, y in combinations(partitions, 2):
        if complementary(x, y) and 1 < len({*x}) < len(table):
            parts = (np.unique(z, return_inverse=True)[1] for z in (x, y))
            return sorted(q for z in parts for q in factor_orders(commutative.quotient(table, z)))
    return [len(table)] if len(table) > 1 else []


SHORT = [table for table in SMALL + TABLES if len(table) <= 16]


@pytest.mark.parametrize("table", SHORT)
def test_factors_are_those_of_brute_force_and_unique_where_no_other_congruence_has_a_complement(
    table,
):
    factorisation = factors(table)
    sizes = [int(x.max()) + 1 for x in factorisation.labels]
    assert sizes == factor_orders(table)
    partitions = congruences(table)
    with_complement = [x for x in partitions if any(complementary(x, y) for y in partitions)]
    assert (len(with_complement) == 2 ** len(sizes)) == factorisation.unique
    assert len(with_complement) >= 2 ** len(sizes)


@pytest.mark.parametrize("table", TABLES)
def test_factors_are_homomorphisms_that_tell_all_elements_apart(table):
    labels = factors(table).labels
    assert len({*zip(*(x.tolist() for x in labels), strict=True)}) == len(table)
    assert np.prod([int(x.max()) + 1 for x in labels]) == len(table)
    for x in labels:
        assert (commutative.quotient(table, x)[x[:, None], x] == x[table]).all()


MODULI = (12, 35, 36, 64, 90, 113, 165, 180)


@pytest.mark.parametrize("n", MODULI)
def test_of_residues_classes_factors_and_spectra_are_those_of_the_labelled_case(n):
    table, labelled = parse_monoid(f"Z{n}"), {J.elements.min(): J for J in monoid.classes(n)}
    general = {J.elements.min(): J for J in classes(table)}
    rows = np.random.default_rng(n).normal(size=(n, 3))
    assert {*general} == {*labelled}
    for x, J in general.items():
        K = labelled[x]
        assert {*J.elements} == {*K.elements} and J.regular == K.regular
        spectra = [spectrum_by_character(rows, x) for x in (J, K)]
        for energy in spectra[0]:
            assert abs(spectra[0][energy] - spectra[1][energy]) < 1e-9
    partitions = {tuple(np.unique(np.arange(n) % q, return_inverse=True)[1]) for q in
                  monoid.prime_powers(n)}  # fmt: skip
    factorisation = factors(table)
    assert factorisation.unique and len(factorisation.labels) == len(partitions)
    for x in factorisation.labels:
        assert any(same_partition(x, y) for y in partitions)


def same_partition(x: np.ndarray, y: tuple[int, ...]) -> bool:
    """Whether two labellings are one partition."""
    cells = {*zip(x.tolist(), y, strict=True)}
    return len(cells) == len({*x.tolist()}) == len({*y})


def spectrum_by_character(rows: np.ndarray, J: Class | monoid.JClass) -> dict[bytes, float]:
    """Return the energy at each character, which its values from the least element on identify."""
    energy, order = fourier.energy(rows[J.elements], J.orders), np.argsort(J.elements)
    values = [chi(k, J.orders)[order] for k in J.coordinates]
    return {
        (np.round(np.angle(x / x[0]) / (2 * np.pi) % 1 * 27720) % 27720).tobytes(): float(e)
        for x, e in zip(values, energy, strict=True)
    }


BAD = {
    "square": (np.zeros((2, 3), int), "must be a square of integers"),
    "ragged": ([[0, 1], [1]], "must be a square of integers"),
    "numbers": (np.eye(2), "must be a square of integers"),
    "small": ([[0]], "1 elements: must be from 2 to 4096"),
    "range": ([[0, 1], [1, 2]], "1·1 = 2: must be from 0 to 1"),
    "mirror": ([[0, 1, 2], [1, 0, 2], [2, 1, 0]], "1·2 = 2, 2·1 = 1: must be commutative"),
    "unit": ([[0, 0], [0, 0]], "must have a unit"),
}


@pytest.mark.parametrize(("table", "message"), BAD.values(), ids=BAD)
def test_a_bad_table_is_refused_by_what_breaks_it(table, message):
    with pytest.raises(InputError, match=rf"\Amine\.csv: .*{message}.*\Z"):
        check_table(table, "mine.csv")


@pytest.mark.parametrize("table", SMALL[1:] + TABLES)
def test_a_table_is_accepted_as_it_is_and_with_one_product_changed_where_it_stays_associative(
    table,
):
    assert (check_table(table.tolist(), "t") == table).all()
    rng = np.random.default_rng(len(table))
    for _ in range(20):
        changed, (a, b) = table.copy(), rng.integers(len(table), size=2)
        changed[a, b] = changed[b, a] = rng.integers(len(table))
        if not (changed == np.arange(len(table))).all(axis=1).any():
            continue
        x, y, z = np.ix_(*[np.arange(len(table))] * 3)
        if (changed[changed[x, y], z] == changed[x, changed[y, z]]).all():
            check_table(changed, "t")
        else:
            with pytest.raises(InputError, match="must be associative") as refused:
                check_table(changed, "t")
            left, right = str(refused.value).split(": ")[1].split(", ")
            (u, v, w), first = parse_product(left)
            (_, _, _), second = parse_product(right)
            assert first == changed[changed[u, v], w] != changed[u, changed[v, w]] == second


def parse_product(product: str) -> tuple[tuple[int, int, int], int]:
    """Read (x·y)·z = c as numbers."""
    u, v, w, c = map(int, product.translate(str.maketrans("()·=", "    ")).split())
    return (u, v, w), c


@pytest.mark.parametrize("text", ["", "Q8", "Z07", "Z70 x Z70"])
def test_a_piece_that_is_none_is_refused_with_those_that_are(text):
    with pytest.raises(InputError, match="must be pieces such as"):
        parse_monoid(text)
