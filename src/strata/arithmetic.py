"""Primes, divisors and primitive roots of moduli, by trial division.

sympy has them for numbers of any size, and its import takes half a second in every stage.
"""

from functools import cache


@cache
def _factors(n: int) -> tuple[tuple[int, int], ...]:
    if n < 1:
        raise ValueError(f"{n} has no factorisation: only numbers from 1 on do")
    powers, p = [], 2
    while p * p <= n:
        exponent = 0
        while n % p == 0:
            n, exponent = n // p, exponent + 1
        if exponent:
            powers.append((p, exponent))
        p += 1
    return (*powers, (n, 1)) if n > 1 else tuple(powers)


def factorint(n: int) -> dict[int, int]:
    """Return the exponent of each prime of n, smallest prime first.

    >>> factorint(360)
    {2: 3, 3: 2, 5: 1}
    """
    return dict(_factors(int(n)))


def primefactors(n: int) -> list[int]:
    """Return the primes that divide n, smallest first.

    >>> primefactors(360)
    [2, 3, 5]
    """
    return [p for p, _ in _factors(int(n))]


def divisors(n: int) -> list[int]:
    """Return the divisors of n, smallest first.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    products = [1]
    for p, exponent in _factors(int(n)):
        products = [d * p**i for d in products for i in range(exponent + 1)]
    return sorted(products)


def primitive_root(q: int) -> int:
    """Return the least g whose powers are all units modulo q: q is 2, 4 or a power of an odd prime.

    >>> primitive_root(23)
    5
    """
    [(p, _)] = _factors(int(q))
    order = q - q // p
    exponents = [order // r for r in primefactors(order)]
    units = (g for g in range(1, q) if g % p)
    return next(g for g in units if all(pow(g, x, q) != 1 for x in exponents))
