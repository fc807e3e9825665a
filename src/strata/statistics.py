"""Scales that results are read on, and intervals."""

from collections.abc import Sequence
from typing import TypeVar, overload

import numpy as np
import pandas as pd

Frame = TypeVar("Frame", pd.Series, pd.DataFrame)


@overload
def above_chance(x: float, chance: float) -> float | None: ...
@overload
def above_chance(x: Frame, chance: float | pd.Series) -> Frame: ...
def above_chance(x, chance):
    """(x − chance) / (1 − chance): 0 is what chance gives, 1 is all; None where chance is all.

    Of a series, or of a frame with a chance for each column in their order; there NaN is none.

    >>> above_chance(0.75, 0.5), above_chance(1.0, 1.0)
    (0.5, None)
    >>> above_chance(pd.DataFrame([[0.75, 1.0]]), pd.Series([0.5, 1.0])).to_numpy().tolist()
    [[0.5, nan]]
    """
    known = np.less(chance, 1 - 1e-9)
    if isinstance(x, pd.Series | pd.DataFrame):
        chance = np.where(known, chance, np.nan)
    elif not known:
        return None
    return (x - chance) / (1 - chance)


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
