"""The strata of the multiplicative monoid Z_n are its classes J_d, one for each divisor d of n.

J_d = {a : gcd(a, n) = d} has a group inside. With m = n/d, the unit coordinate u(a) = (a/d) mod m
maps J_d one to one onto (Z/m)^×, for every n. J_d is regular ⇔ gcd(d, m) = 1; then it is itself a
group, isomorphic to (Z/m)^× by a ↦ a mod m. Howie, Fundamentals of Semigroup Theory, 1995, ch. 2;
Steinberg, Representation Theory of Finite Monoids, 2016, ch. 1. The structure of (Z/m)^× is in
Ireland and Rosen, A Classical Introduction to Modern Number Theory, 1990, ch. 4.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from math import gcd, lcm, prod

import numpy as np
from jaxtyping import Complex, Int

from strata.arithmetic import divisors, factorint, primitive_root


@dataclass(frozen=True)
class JClass:
    """A ``JClass`` is J_d of Z_n with coordinates in (Z/m)^×. Raises ValueError unless n ≥ 2 and d
    divides n.

    >>> J = JClass(165, 3)
    >>> len(J), J.m, J.idempotent, J.orders, J.generators
    (40, 55, 111, (4, 10), (12, 156))
    """

    n: int
    d: int

    def __post_init__(self) -> None:
        if self.n < 2 or self.d < 1 or self.n % self.d:
            raise ValueError(f"J_{self.d} of Z_{self.n}: n must be at least 2, d a divisor of n")

    def __len__(self) -> int:
        return prod(self.orders)

    @property
    def m(self) -> int:
        """Return n/d, the modulus of the group."""
        return self.n // self.d

    @property
    def regular(self) -> bool:
        """Whether the class holds an idempotent, and so is a group, which means gcd(d, m) = 1."""
        return gcd(self.d, self.m) == 1

    @property
    def orders(self) -> tuple[int, ...]:
        """Return the orders of the cyclic axes of (Z/m)^×, which are (1,) for the trivial group."""
        return tuple(q for q, _ in axes(self.m)) or (1,)

    @property
    def idempotent(self) -> int | None:
        """Return the identity e_d of a regular class, or None where the class is not regular."""
        return idempotent(self.d, self.n) if self.regular else None

    @property
    def generators(self) -> tuple[int, ...]:
        """Return one generator for each axis: e_d g mod n in a regular class, else g in (Z/m)^×."""
        units = (g for _, g in axes(self.m))
        return tuple(self._origin * g % self.n for g in units) if self.regular else tuple(units)

    @property
    def _origin(self) -> int:
        return idempotent(self.d, self.n) if self.regular else self.d % self.n

    @cached_property
    def elements(self) -> Int[np.ndarray, " size"]:
        """Return the residues in algebraic order: lexicographic in coordinates, last axis fastest.

        The first one is e_d in a regular class, else d, where u = 1.

        >>> JClass(12, 3).elements, JClass(12, 2).elements
        (array([9, 3]), array([ 2, 10]))
        """
        units = np.ones(1, dtype=np.int64)
        for q, g in axes(self.m):
            powers = np.array([pow(g, t, self.m) for t in range(q)])
            units = np.outer(units, powers).ravel() % self.m
        return _frozen(self._origin * units % self.n)

    @cached_property
    def coordinates(self) -> Int[np.ndarray, "size r"]:
        """Return in row i the exponents of elements[i], of a mod m if regular, else of u(a)."""
        return frequencies(self.orders)


@dataclass(frozen=True, eq=False)
class Renumbered(JClass):
    """A ``Renumbered`` class names elements by other numbers: the residue a is ``tokens[a]``."""

    tokens: Int[np.ndarray, " n"]

    @cached_property
    def elements(self) -> Int[np.ndarray, " size"]:
        """Return the tokens in algebraic order."""
        return _frozen(self.tokens[JClass(self.n, self.d).elements])


@cache
def axes(m: int) -> tuple[tuple[int, int], ...]:
    """Return (order, generator) of the cyclic factors of (Z/m)^×, primes ascending; none if
    trivial.

    An odd prime power p^k ‖ m gives its smallest primitive root, of order φ(p^k); 4 gives −1; 2^k
    with k ≥ 3 gives −1 and 5, of orders 2 and 2^(k−2). Each generator is 1 modulo the rest of m.

    >>> axes(15), axes(8), axes(2)
    (((2, 11), (4, 7)), ((2, 7), (2, 5)), ())
    """
    factors = []
    for p, k in sorted(factorint(m).items()):
        q, cofactor = p**k, m // p**k
        local = _two_power(k) if p == 2 else ((q - q // p, primitive_root(q)),)
        lift = cofactor * pow(cofactor, -1, q)  # 1 modulo q, 0 modulo the rest
        factors += [(order, (1 + (g - 1) * lift) % m) for order, g in local]
    return tuple(factors)


def axis_primes(J: JClass) -> tuple[int, ...]:
    """Return the prime of each axis of a class; a class of one element has none.

    >>> axis_primes(JClass(165, 3)), axis_primes(JClass(24, 3)), axis_primes(JClass(6, 3))
    ((5, 11), (2, 2), ())
    """
    return tuple(p for p, k in sorted(factorint(J.m).items()) for _ in axes(p**k))


def axis_size(m: int, p: int) -> int:
    """Return how many residues the axes of p tell apart in (Z/m)^×: φ of the power of p in m.

    >>> axis_size(45, 3), axis_size(45, 2)
    (6, 1)
    """
    return prod(q for q, _ in axes(p ** factorint(m).get(p, 0)))


def _two_power(k: int) -> tuple[tuple[int, int], ...]:
    if k == 1:
        return ()
    return ((2, 3),) if k == 2 else ((2, 2**k - 1), (2 ** (k - 2), 5))


def _frozen(x: np.ndarray) -> np.ndarray:
    x.setflags(write=False)
    return x


@cache
def classes(n: int) -> tuple[JClass, ...]:
    """Return the classes of Z_n, which partition it, by ascending d. Raises ValueError where n < 2.

    >>> [J.d for J in classes(12)], [J.regular for J in classes(12)]
    ([1, 2, 3, 4, 6, 12], [True, False, True, True, False, True])
    """
    if n < 2:
        raise ValueError(f"n = {n}: must be at least 2")
    return tuple(JClass(n, d) for d in divisors(n))


def prime_powers(n: int) -> tuple[int, ...]:
    """Return the prime powers Q = p^κ with Q ‖ n, primes ascending.

    >>> prime_powers(180)
    (4, 9, 5)
    """
    return tuple(p**k for p, k in sorted(factorint(n).items()))


def jclass(d: int, n: int) -> JClass:
    """Return J_d of Z_n, as in classes(n). Raises ValueError unless n ≥ 2 and d divides n."""
    for J in classes(n):
        if J.d == d:
            return J
    raise ValueError(f"d = {d}: must be one of the divisors of {n}")


def idempotent(d: int, n: int) -> int:
    """Return the e with e ≡ 0 (mod d), e ≡ 1 (mod n/d). Raises ValueError if J_d is not regular.

    >>> [idempotent(d, 6) for d in (1, 2, 3, 6)]
    [1, 4, 3, 0]
    """
    J = JClass(n, d)
    if not J.regular:
        raise ValueError(f"J_{d} of Z_{n} is not regular: it has no idempotent")
    return d * pow(d, -1, J.m) % n


def sharp(c: int, n: int) -> int:
    """Return the local inverse of c in its class: c c^♯ = e_d. Raises ValueError if not regular.

    >>> sharp(12, 15), 12 * 3 % 15 == idempotent(3, 15)
    (3, True)
    """
    d = gcd(c, n)
    return idempotent(d, n) * pow(c, -1, n // d) % n


def unit(a: int, n: int) -> int:
    """Return u(a) = (a/d) mod m in (Z/m)^×, the unit coordinate, with d = gcd(a, n); 0 for m = 1.

    >>> unit(10, 12), unit(2, 12), unit(0, 12)
    (5, 1, 0)
    """
    d = gcd(a, n)
    return a // d % (n // d)


@cache
def algebraic_order(n: int) -> Int[np.ndarray, " n"]:
    """Return all residues, class after class, each class in its algebraic order.

    >>> algebraic_order(6)
    array([1, 5, 4, 2, 3, 0])
    """
    return _frozen(np.concatenate([J.elements for J in classes(n)]))


@cache
def position(n: int) -> Int[np.ndarray, " n"]:
    """Return for each residue its index in the elements, and so the coordinates, of its class.

    >>> position(6)
    array([0, 0, 1, 0, 0, 1])
    """
    places = np.empty(n, dtype=np.int64)
    for J in classes(n):
        places[J.elements] = np.arange(len(J))
    return _frozen(places)


@cache
def frequencies(orders: tuple[int, ...]) -> Int[np.ndarray, "size r"]:
    """Return all tuples of C_q1 × … × C_qr in lexicographic order, as a flattened DFT has them.

    >>> frequencies((2, 2)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return _frozen(np.indices(orders).reshape(len(orders), -1).T.copy())


def chi(
    k: tuple[int, ...] | Int[np.ndarray, " r"], orders: tuple[int, ...]
) -> Complex[np.ndarray, " size"]:
    """Return the character χ_k = exp(2πi Σ_j k_j t_j / q_j) at every element, in algebraic order.

    Raises ValueError unless k has one entry for each axis.
    """
    if len(k) != len(orders):
        raise ValueError(f"k = {tuple(k)}: must have one entry for each of the orders {orders}")
    L = lcm(*orders)  # the phase as an integer modulo L, so that large products lose no digits
    turns = frequencies(orders) * (L // np.array(orders)) @ np.array(k) % L
    return np.exp(2j * np.pi * turns / L)
