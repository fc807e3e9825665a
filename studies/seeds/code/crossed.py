"""Two crossed factors with one value in each cell: Searle, Casella & McCulloch, Variance
Components, 1992, chapter 4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import f


class Crossed(NamedTuple):
    """y_ij = μ + s_i + w_j + e_ij, by the mean squares of the rows, of the columns, and of what is
    left."""

    squares: tuple[float, float, float]
    components: tuple[float, float, float]  # estimates of the variances, negative as they come
    p: tuple[float, float]  # of the F-tests of rows and columns

    @property
    def total(self) -> float:
        """Return the sum of the components, where negative ones count as 0."""
        return float(np.maximum(self.components, 0).sum())

    @property
    def shares(self) -> tuple[float, float, float]:
        """Return the share of each component in that sum, where negative ones count as 0."""
        rows, columns, residual = np.maximum(self.components, 0) / self.total
        return float(rows), float(columns), float(residual)


def analyse(y: Float[np.ndarray, "rows columns"]) -> Crossed | None:
    """Analyse the variance; return None where both factors explain all.

    >>> analyse(np.array([[1.0, 2.0], [4.0, 3.0]])).squares
    (4.0, 0.0, 1.0)
    """
    (r, c), centred = y.shape, y - y.mean()
    rows, columns = centred.mean(axis=1), centred.mean(axis=0)
    residual = float(((centred - rows[:, None] - columns) ** 2).sum() / ((r - 1) * (c - 1)))
    if residual <= 1e-18 * float((centred**2).sum()):
        return None
    of_rows = float(c * (rows**2).sum() / (r - 1))
    of_columns = float(r * (columns**2).sum() / (c - 1))
    return Crossed(
        (of_rows, of_columns, residual),
        ((of_rows - residual) / c, (of_columns - residual) / r, residual),
        (float(f.sf(of_rows / residual, r - 1, (r - 1) * (c - 1))),
         float(f.sf(of_columns / residual, c - 1, (r - 1) * (c - 1)))),
    )  # fmt: skip
