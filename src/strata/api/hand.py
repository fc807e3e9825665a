"""Build a model whose weights are written by hand: by_hand.py, second_adder.py, thrifty.py."""

from operator import index
from typing import Any

from strata.api import by_hand as doubled
from strata.api import second_adder
from strata.api import thrifty as heads_at_zeros
from strata.api.model import Model, Source, model_of
from strata.arithmetic import factorint
from strata.inputs import InputError


def by_hand(n: Any, attention: bool = False, thrifty: bool = False) -> Model:
    """Return a network that is written down, not trained, of the shape of the trained ones, for
    square-free n of 2 … 1024. Where two angles are opposite their waves cancel. Frequencies that
    are doubled in the embedding fill this hole, or, with ``attention``, pairs of heads do, as in
    trained networks; then n may have the primes 2 and 3 and at most two of 5, 7, 11 and 13. With
    ``thrifty`` each prime has a head that looks at the operands that it divides, and the norm of
    the weights is smaller for most n. Raises InputError for any other n, and for both at once.

    >>> model = by_hand(165)
    >>> int(model(12, 35).argmax()), 12 * 35 % 165
    (90, 90)
    >>> by_hand(143, attention=True).accuracy()
    1.0
    """
    allowed = f"must be a square-free integer from 2 to {doubled.LARGEST}"
    try:
        n = index(n)
    except TypeError:
        raise InputError(f"n = {n!r:.60}: {allowed}") from None
    if not 2 <= n <= doubled.LARGEST:
        raise InputError(f"n = {n}: {allowed}")
    for p, power in factorint(n).items():
        if power > 1:
            raise InputError(f"n = {n}: {p}² divides it; {allowed}")
    if attention and thrifty:
        raise InputError("attention and thrifty are two networks: give one of them")
    write = heads_at_zeros if thrifty else second_adder if attention else doubled
    weights = write.weights(n)
    return model_of(None, weights, Source("by hand", "strata"))
