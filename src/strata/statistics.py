"""Scales that results are read on, and intervals."""

from collections.abc import Sequence

import numpy as np


def above_chance(x: float, chance: float) -> float | None:
    """(x − chance) / (1 − chance): 0 is what chance gives, 1 is all; None where chance is all.

    >>> above_chance(0.75, 0.5), above_chance(1.0, 1.0)
    (0.5, None)
    """
    return (x - chance) / (1 - chance) if chance < 1 - 1e-9 else None


def t_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """mean ± t √(variance / count), Student's interval of a mean; None of fewer than two values.

    >>> [round(x, 3) for x in t_interval([1.0, 2.0, 3.0], 0.95)]
    [-0.484, 4.484]
    """
    from scipy.stats import t  # a second to import, for tables alone

    x = np.array(values, dtype=np.float64)
    if len(x) < 2:
        return None
    half = float(t.ppf((1 + confidence) / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)))
    return float(x.mean()) - half, float(x.mean()) + half
