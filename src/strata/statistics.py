"""Scales that results are read on, intervals, tests, folds."""

from collections.abc import Sequence
from typing import TypeVar, overload

import numpy as np
import pandas as pd
from jaxtyping import Int

from strata.monoid import classes

Frame = TypeVar("Frame", pd.Series, pd.DataFrame)


@overload
def above_chance(x: float, chance: float) -> float | None: ...
@overload
def above_chance(x: Frame, chance: float | pd.Series) -> Frame: ...
def above_chance(x, chance):
    """Return (x − chance) / (1 − chance), which is 0 at chance and 1 at all; None where chance is
    all.

    x may be a series, or a frame with a chance for each column in their order. There NaN stands for
    None.

    >>> above_chance(0.75, 0.5), above_chance(1.0, 1.0)
    (0.5, None)
    >>> above_chance(pd.DataFrame([[0.75, 1.0]]), pd.Series([0.5, 1.0])).to_numpy().tolist()
    [[0.5, nan]]
    """
    defined = np.less(chance, 1 - 1e-9)
    if isinstance(x, pd.Series | pd.DataFrame):
        chance = np.where(defined, chance, np.nan)
    elif not defined:
        return None
    return (x - chance) / (1 - chance)


def t_interval(
    values: Sequence[float], confidence: float, share: bool = False
) -> tuple[float, float] | None:
    """Return mean ± t √(variance / count), Student's interval of a mean, or None for fewer than two
    values. For shares that all lie in 0 … 1 the interval is cut to 0 … 1.

    >>> [round(x, 3) for x in t_interval([1.0, 2.0, 3.0], 0.95)]
    [-0.484, 4.484]
    >>> [round(x, 3) for x in t_interval([0.9, 1.0], 0.95, share=True)]
    [0.315, 1.0]
    """
    from scipy.stats import t  # a second to import, for tables alone

    x = np.array(values, dtype=np.float64)
    if len(x) < 2:
        return None
    half = float(t.ppf((1 + confidence) / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)))
    low, high = float(x.mean()) - half, float(x.mean()) + half
    inside = share and x.min() >= 0 and x.max() <= 1
    return (max(low, 0.0), min(high, 1.0)) if inside else (low, high)


def share_interval(successes: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson (Biometrika 26, 1934) for a share, which is all of
    0 … 1 where there are no runs. Its ends are one-sided limits of (1 + confidence) / 2.

    >>> [round(share_interval(*x, 0.9)[0], 3) for x in ((9, 10), (8, 10), (5, 5), (0, 0))]
    [0.606, 0.493, 0.549, 0.0]
    """
    from scipy.stats import binomtest

    if not runs:
        return 0.0, 1.0
    ends = binomtest(successes, runs).proportion_ci(confidence, method="exact")
    return float(ends.low), float(ends.high)


def welch(values: Sequence[float | int], mean: float, std: float, seeds: int = 10) -> float | None:
    """Return p of Welch's test of some values against a printed mean and deviation over seeds. The
    larger p of those with n and with n − 1 as the divisor of the deviation is taken, because the
    paper does not say which. None for fewer than two values, or where neither side varies."""
    from scipy.stats import ttest_ind_from_stats

    if len(values) < 2 or not (std or np.ptp(values)):
        return None
    ours = (np.mean(values), np.std(values, ddof=1), len(values))
    theirs = (std, std * (seeds / (seeds - 1)) ** 0.5)
    tests = (ttest_ind_from_stats(*ours, mean, x, seeds, equal_var=False) for x in theirs)
    return max(float(test.pvalue) for test in tests)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number. Holm, A Simple Sequentially Rejective Multiple Test
    Procedure, 1979.

    >>> holm([0.25, 0.0625, None, 0.1875]), holm([0.75, 0.5])
    ([0.375, 0.1875, None, 0.375], [1.0, 1.0])
    """
    ranked = sorted((x, i) for i, x in enumerate(p) if x is not None)
    corrected: list[float | None] = [None] * len(p)
    least = 0.0
    for rank, (x, i) in enumerate(ranked):
        least = max(least, min(1.0, (len(ranked) - rank) * x))
        corrected[i] = least
    return corrected


def folds(n: int, seed: int, count: int) -> Int[np.ndarray, " n"]:
    """Return the fold of each residue. The elements of each class of two or more are permuted and
    dealt in turn, and the counter goes on over classes. The element of a class of one has −1."""
    rng, start, fold = np.random.default_rng(seed), 0, np.full(n, -1)
    for J in classes(n):
        if len(J) > 1:
            fold[rng.permutation(J.elements)] = (start + np.arange(len(J))) % count
            start += len(J)
    return fold
