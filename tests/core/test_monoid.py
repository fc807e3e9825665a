"""Laws of the classes, held by brute force over every element of every Z_n with n ≤ 200."""

from math import gcd

import numpy as np
import pytest
from sympy import factorint

from strata import monoid
from strata.monoid import JClass, axes, chi, classes, jclass, sharp, unit

MODULI = range(2, 201)
CLASSES = [J for n in MODULI for J in classes(n)]
REGULAR = [J for J in CLASSES if J.regular]
OTHERS = [J for J in CLASSES if not J.regular]


def group(J: JClass) -> np.ndarray:
    """Return the image of each element in (Z/m)^×, by the definition of the coordinates."""
    return J.elements % J.m if J.regular else J.elements // J.d % J.m


def table(x: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    return np.multiply.outer(x, y) % n


def index(t: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
    """Return the position of t, taken modulo the orders, in the lexicographic order."""
    return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(t % orders, -1, 0)), orders))


def order(g: int, m: int) -> int:
    """Count the powers of g modulo m."""
    powers, x = set(), 1 % m
    while x not in powers:
        powers.add(x)
        x = x * g % m
    return len(powers)


def local_generators(p: int, q: int) -> list[int]:
    """Return the generators that the definition names for the prime power q of p."""
    if p == 2:
        return [] if q == 2 else [3] if q == 4 else [q - 1, 5]
    return [next(g for g in range(2, q) if order(g, q) == q - q // p)]


def test_classes_partition_the_residues_by_their_gcd_with_n():
    for n in MODULI:
        assert [J.d for J in classes(n)] == [d for d in range(1, n + 1) if n % d == 0]
        assert np.array_equal(np.sort(monoid.algebraic_order(n)), np.arange(n))
    for J in CLASSES:
        assert (np.gcd(J.elements, J.n) == J.d).all(), J
        assert len(J) == len(J.elements) == len(J.coordinates), J


def test_a_class_is_regular_exactly_when_it_holds_an_idempotent_which_is_then_the_only_one():
    for J in CLASSES:
        idempotents = J.elements[J.elements**2 % J.n == J.elements]
        assert idempotents.tolist() == ([J.idempotent] if J.regular else []), J
        assert J.regular == (gcd(J.d, J.m) == 1), J


def test_a_regular_class_is_a_group_with_identity_e_and_inverse_sharp():
    for J in REGULAR:
        products = table(J.elements, J.elements, J.n)
        assert np.isin(products, J.elements).all(), J
        assert np.array_equal(J.elements * J.idempotent % J.n, J.elements), J
        rows, columns = np.nonzero(products == J.idempotent)
        assert np.array_equal(rows, np.arange(len(J))), J
        assert J.elements[columns].tolist() == [sharp(int(c), J.n) for c in J.elements], J


def test_a_class_that_is_not_regular_has_no_idempotent_and_no_local_inverse():
    for J in OTHERS:
        assert J.idempotent is None
        for c in J.elements:
            with pytest.raises(ValueError, match=f"J_{J.d} of Z_{J.n} is not regular"):
                sharp(int(c), J.n)


def test_the_unit_coordinate_maps_every_class_one_to_one_onto_the_units_modulo_m():
    for J in CLASSES:
        units = [u for u in range(J.m) if gcd(u, J.m) == 1]
        coordinates = np.array([unit(a, J.n) for a in J.elements.tolist()])
        assert sorted(coordinates.tolist()) == sorted(group(J).tolist()) == units, J
        assert np.array_equal(J.d * coordinates % J.n, J.elements), J


def test_coordinates_are_multiplicative():
    for J in CLASSES:
        w, t = group(J), J.coordinates
        assert np.array_equal(w[index(t[:, None] + t, J.orders)], table(w, w, J.m)), J


def test_the_order_is_lexicographic_from_the_identity_or_from_d():
    for J in CLASSES:
        assert np.array_equal(index(J.coordinates, J.orders), np.arange(len(J))), J
        assert J.elements[0] == (J.idempotent if J.regular else J.d), J


def test_each_axis_is_generated_by_the_smallest_primitive_root_or_by_minus_one_and_five():
    for m in range(2, 201):
        expected = []
        for p, k in factorint(m).items():
            q, cofactor = p**k, m // p**k
            for g in local_generators(p, q):
                lift = next(x for x in range(m) if x % q == g and x % cofactor == 1 % cofactor)
                expected.append((order(g, q), lift))
        assert axes(m) == tuple(expected), m
        assert all(order(g, m) == q for q, g in axes(m)), m


def test_the_smallest_primitive_root_is_taken_modulo_the_prime_power_not_the_prime():
    assert axes(40487) == ((40486, 5),)
    assert axes(40487**2) == ((40487 * 40486, 10),)  # 5 fails here: the least such prime


def test_generators_are_elements_one_step_along_each_axis():
    for J in CLASSES:
        steps = np.eye(len(J.orders), dtype=int)[: len(J.generators)]
        along = (J.elements if J.regular else group(J))[index(steps, J.orders)]
        assert list(J.generators) == along.tolist(), J
        assert len(J.generators) == sum(q > 1 for q in J.orders), J


def test_characters_are_orthonormal_and_multiplicative_in_the_coordinates():
    for orders in {J.orders for J in CLASSES}:
        t = monoid.frequencies(orders)
        X = np.stack([chi(tuple(k), orders) for k in t.tolist()])
        assert np.allclose(X @ X.conj().T, len(t) * np.eye(len(t)), atol=1e-9), orders
        shifted = X[:, index(t + t[-1], orders)]
        assert np.allclose(shifted, X * X[:, -1:], atol=1e-9), orders


def test_positions_undo_the_algebraic_order():
    for n in MODULI:
        starts = np.cumsum([0, *map(len, classes(n))])
        nth = {J.d: i for i, J in enumerate(classes(n))}
        of_class = np.array([nth[gcd(a, n)] for a in range(n)])
        restored = monoid.algebraic_order(n)[starts[of_class] + monoid.position(n)]
        assert np.array_equal(restored, np.arange(n)), n


@pytest.mark.parametrize("n", [-6, 0, 1])
def test_a_modulus_below_two_is_refused(n):
    for call in (classes, lambda n: JClass(n, 1), lambda n: jclass(1, n)):
        with pytest.raises(ValueError, match="at least 2"):
            call(n)


def test_what_is_no_divisor_is_refused():
    for call in (lambda: jclass(7, 165), lambda: JClass(165, 7), lambda: monoid.idempotent(0, 165)):
        with pytest.raises(ValueError, match="divisor"):
            call()


def test_a_frequency_needs_one_entry_for_each_axis():
    with pytest.raises(ValueError, match="one entry for each"):
        chi((1,), (4, 10))
