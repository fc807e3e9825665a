"""Scales that results are read on, intervals, components of variance."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar, overload

import numpy as np
import pandas as pd
from jaxtyping import Float

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


class Crossed(NamedTuple):
    """Two crossed factors with one value in each cell, y_ij = μ + s_i + w_j + e_ij, by the mean
    squares of the rows, of the columns, and of what is left."""

    squares: tuple[float, float, float]
    components: tuple[float, float, float]  # estimates of the variances, negative as they come
    p: tuple[float, float]  # of the F-tests of rows and columns

    @property
    def total(self) -> float:
        """The sum of the components, where negative ones count as 0."""
        return float(np.maximum(self.components, 0).sum())

    @property
    def shares(self) -> tuple[float, float, float]:
        """Of each component in that sum, where negative ones count as 0."""
        rows, columns, rest = np.maximum(self.components, 0) / self.total
        return float(rows), float(columns), float(rest)


def crossed(y: Float[np.ndarray, "rows columns"]) -> Crossed | None:
    """The analysis of variance; None where both factors explain all. Searle, Casella & McCulloch,
    Variance Components, 1992, chapter 4.

    >>> crossed(np.array([[1.0, 2.0], [4.0, 3.0]])).squares
    (4.0, 0.0, 1.0)
    """
    from scipy.stats import f

    (r, c), centred = y.shape, y - y.mean()
    rows, columns = centred.mean(axis=1), centred.mean(axis=0)
    rest = float(((centred - rows[:, None] - columns) ** 2).sum() / ((r - 1) * (c - 1)))
    if rest <= 1e-18 * float((centred**2).sum()):
        return None
    of_rows = float(c * (rows**2).sum() / (r - 1))
    of_columns = float(r * (columns**2).sum() / (c - 1))
    p = (f.sf(of_rows / rest, r - 1, (r - 1) * (c - 1)),
         f.sf(of_columns / rest, c - 1, (r - 1) * (c - 1)))  # fmt: skip
    return Crossed(
        (of_rows, of_columns, rest),
        ((of_rows - rest) / c, (of_columns - rest) / r, rest),
        (float(p[0]), float(p[1])),
    )
