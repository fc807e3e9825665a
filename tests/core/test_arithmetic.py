"""Arithmetic of moduli is that of sympy."""

import pytest
import sympy

from strata.arithmetic import divisors, factorint, primefactors, primitive_root

ODD_PRIME_POWERS = [p**k for p in sympy.primerange(3, 100) for k in (1, 2, 3)]


def test_factors_and_divisors_are_those_of_sympy():
    for n in range(1, 3000):
        assert [*factorint(n).items()] == [*sympy.factorint(n).items()]
        assert primefactors(n) == sympy.primefactors(n)
        assert divisors(n) == sympy.divisors(n)


def test_primitive_roots_are_those_of_sympy():
    for q in (2, 4, *ODD_PRIME_POWERS):
        assert primitive_root(q) == sympy.primitive_root(q)


def test_what_is_no_modulus_has_no_factors():
    with pytest.raises(ValueError, match="0 has no factorisation"):
        factorint(0)
