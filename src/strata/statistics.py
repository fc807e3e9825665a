"""Scales that results are read on."""


def above_chance(x: float, chance: float) -> float | None:
    """(x − chance) / (1 − chance): 0 is what chance gives, 1 is all; None where chance is all.

    >>> above_chance(0.75, 0.5), above_chance(1.0, 1.0)
    (0.5, None)
    """
    return (x - chance) / (1 - chance) if chance < 1 - 1e-9 else None
