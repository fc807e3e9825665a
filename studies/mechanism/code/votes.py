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


def boards(
    y: Profile, weight: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, " n"], list[Float[np.ndarray, "Q n"]]]:
    """What each candidate gets whatever the product, the mean over all pairs; and what each prime
    power adds for each remainder: y ≈ bias(c) + Σ_Q g_Q(q mod Q, c), fitted with these weights."""
    n, powers = len(y.y), prime_powers(len(y.y))
    found = np.split(functions.fitted(remainders(n), y.y, weight), np.cumsum(powers)[:-1])
    means = [
        np.bincount(np.arange(n) % Q, y.N) @ g / y.N.sum()
        for Q, g in zip(powers, found, strict=True)
    ]
    return np.sum(means, axis=0), [g - x for g, x in zip(found, means, strict=True)]


def favoured(y: Profile) -> float:
    """How many remainders, of all prime powers together, have the most votes, on average, for the
    candidates with that remainder."""
    n, best = len(y.y), []
    for g in boards(y, y.N)[1]:
        own = np.arange(len(g))
        means = [g[:, np.arange(n) % len(g) == r].mean(axis=1) for r in own]
        best += list(np.argmax(means, axis=0) == own)
    return float(np.mean(best))


class Rule(NamedTuple):
    """What the account of classes says of the products of one class."""

    scores: Float[np.ndarray, " n"]  # of each candidate
    ratios: Float[np.ndarray, " m"]  # added to candidates of the class, by q/c


def sorted_first(y: Profile) -> tuple[dict[int, Rule], Float[np.ndarray, "n n"]]:
    """The account of classes at its freest, by least squares, of a square-free n: the class of q
    scores the candidates as it likes, and inside of it counts the quotient,
    y ≈ f_d(c) + [c in J_d] h_d(q/c); and what this makes of every product."""
    n, drawn, found = len(y.y), np.zeros_like(y.y), {}
    for J in classes(n):
        q, m = J.elements, J.m
        f = y.y[q].mean(axis=0)
        inverse = [pow(int(c), -1, m) if m > 1 else 0 for c in q]
        quotient = np.outer(q, inverse) % m
        # Each quotient is there once for each q and each c: both means are what least squares say.
        inside = y.y[np.ix_(q, q)] - f[q]
        h = np.bincount(quotient.ravel(), inside.ravel(), minlength=m) / len(J)
        drawn[q] = f
        drawn[np.ix_(q, q)] += h[quotient]
        found[J.d] = Rule(f, h)
    return found, drawn


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
