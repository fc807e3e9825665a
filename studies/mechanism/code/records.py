"""What a character is made of."""

from typing import NamedTuple


class Part(NamedTuple):
    """A character of (Z/p^(κ−v))^× with frequency k, nonzero, on residues of valuation v."""

    p: int
    v: int
    k: tuple[int, ...]


Label = tuple[Part, ...]  # what a character is at each prime where it is not 1, by ascending p
