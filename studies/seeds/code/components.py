"""Components of variance of two crossed factors."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


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
