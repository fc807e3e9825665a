"""Statement 0 of criteria-2.md: each prime votes for candidates by the remainder of the product,
and the votes are added.

y(q, c) = Σ_Q g_Q(q mod Q, c) over the prime powers Q ‖ n, every g_Q free: whatever a network does
with the remainders modulo one prime at a time has this form, and a class of products that it was
not fitted to is predicted by the others.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from strata.measure.activations import answers
from strata.monoid import classes, prime_powers
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.profile import Profile


class LeftOut(NamedTuple):
    """Each class of two elements or more predicted by the fit to all other products."""

    shares: Float[np.ndarray, " classes"]  # R² of each class; NaN where nothing is determined
    right: float  # of the products that are predicted, how many are answered rightly
    determined: float  # of those that are left out, how many the others determine

    @property
    def median(self) -> float:
        """The median R² over the classes; NaN where less than half of all is determined."""
        return float(np.nanmedian(self.shares)) if self.determined >= 0.5 else nan


def remainders(n: int) -> Float[np.ndarray, "n columns"]:
    """For each prime power Q ‖ n one column for each r: 1 where q ≡ r modulo Q."""
    every = np.arange(n)
    members = [np.equal.outer(every % Q, np.arange(Q)) for Q in prime_powers(n)]
    return np.concatenate(members, axis=1).astype(np.float64)


def share(y: Profile) -> float:
    """How much of y the votes explain."""
    return y.share(functions.explained(y, remainders(len(y.y))))


def left_out(y: Profile, columns: Float[np.ndarray, "n columns"]) -> LeftOut:
    """Class after class predicted from the others by these functions of the product."""
    group, n = functions.by_class(len(y.y)), len(y.y)
    predicted, known = functions.held_out(columns, y, group)
    own = [known & (group == i) for i in range(int(group.max()) + 1)]
    shares = [y.share(predicted, x) if x.any() else np.nan for x in own]
    right = (answers(predicted) == np.arange(n))[known]
    part = float(known.sum() / max((group >= 0).sum(), 1))
    return LeftOut(np.array(shares), float(right.mean()) if known.any() else nan, part)


def relabelled(n: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    """A permutation of the residues within each class."""
    order = np.arange(n)
    for J in classes(n):
        order[J.elements] = rng.permutation(J.elements)
    return order


def control(y: Profile, draws: int, rng: np.random.Generator) -> float:
    """The right answers of left-out classes where the products have remainders of others of their
    class: the mean of some draws."""
    columns = remainders(len(y.y))
    drawn = [left_out(y, columns[relabelled(len(y.y), rng)]).right for _ in range(draws)]
    return float(np.mean(drawn))
