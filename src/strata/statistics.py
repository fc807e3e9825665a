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


def t_interval(
    values: Sequence[float], confidence: float, share: bool = False
) -> tuple[float, float] | None:
    """mean ± t √(variance / count), Student's interval of a mean; None of fewer than two values. Of
    shares that all lie in 0 … 1 the part of it that does.

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


def share_interval(held: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of Clopper and Pearson (Biometrika 26, 1934) for a share; all of 0 … 1 of no
    run. Its ends are one-sided limits of (1 + confidence) / 2.

    >>> [round(share_interval(*x, 0.9)[0], 3) for x in ((9, 10), (8, 10), (5, 5), (0, 0))]
    [0.606, 0.493, 0.549, 0.0]
    """
    from scipy.stats import binomtest

    if not runs:
        return 0.0, 1.0
    ends = binomtest(held, runs).proportion_ci(confidence, method="exact")
    return float(ends.low), float(ends.high)


def welch(values: Sequence[float | int], mean: float, std: float, seeds: int = 10) -> float | None:
    """p of Welch's test of some values against a mean and a deviation over seeds that are printed:
    the larger of those with n and with n − 1 as the divisor of the deviation, for the paper does
    not say which. None of fewer than two values, or where neither side varies."""
    from scipy.stats import ttest_ind_from_stats

    if len(values) < 2 or not (std or np.ptp(values)):
        return None
    own = (np.mean(values), np.std(values, ddof=1), len(values))
    theirs = (std, std * (seeds / (seeds - 1)) ** 0.5)
    tests = (ttest_ind_from_stats(*own, mean, x, seeds, equal_var=False) for x in theirs)
    return max(float(test.pvalue) for test in tests)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number. Holm, A Simple Sequentially Rejective Multiple Test
    Procedure, 1979.

    >>> holm([0.25, 0.0625, None, 0.1875]), holm([0.75, 0.5])
    ([0.375, 0.1875, None, 0.375], [1.0, 1.0])
    """
    known = sorted((x, i) for i, x in enumerate(p) if x is not None)
    found: list[float | None] = [None] * len(p)
    least = 0.0
    for rank, (x, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * x))
        found[i] = least
    return found


def folds(n: int, seed: int, count: int) -> Int[np.ndarray, " n"]:
    """The fold of each residue: the elements of each class of two or more, permuted, are dealt in
    turn, and the counter goes on over classes. −1 for the element of a class of one."""
    rng, start, found = np.random.default_rng(seed), 0, np.full(n, -1)
    for J in classes(n):
        if len(J) > 1:
            found[rng.permutation(J.elements)] = (start + np.arange(len(J))) % count
            start += len(J)
    return found
