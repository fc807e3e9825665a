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
        """Return the median R² over the classes; NaN where less than half of all is determined."""
        return float(np.nanmedian(self.shares)) if self.determined >= 0.5 else nan


def remainders(n: int) -> Float[np.ndarray, "n columns"]:
    """Return for each prime power Q ‖ n one column for each r: 1 where q ≡ r modulo Q."""
    residues = np.arange(n)
    members = [np.equal.outer(residues % Q, np.arange(Q)) for Q in prime_powers(n)]
    return np.concatenate(members, axis=1).astype(np.float64)


def share(y: Profile) -> float:
    """Return the share of y that the votes explain."""
    return y.share(functions.prediction(y, remainders(len(y.y))))


def boards(
    y: Profile, weight: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, " n"], list[Float[np.ndarray, "Q n"]]]:
    """Return what each candidate gets whatever the product, the mean over all pairs; and what each
    prime power adds for each remainder: y ≈ bias(c) + Σ_Q g_Q(q mod Q, c), fitted with these
    weights."""
    n, powers = len(y.y), prime_powers(len(y.y))
    by_power = np.split(functions.least_squares(remainders(n), y.y, weight), np.cumsum(powers)[:-1])
    means = [
        np.bincount(np.arange(n) % Q, y.N) @ g / y.N.sum()
        for Q, g in zip(powers, by_power, strict=True)
    ]
    return np.sum(means, axis=0), [g - x for g, x in zip(by_power, means, strict=True)]


def preferences(y: Profile) -> Float[np.ndarray, " pairs"]:
    """Return g(r, r) + g(s, s) − g(r, s) − g(s, r) for every two remainders r ≠ s of every prime
    power, where g(r, s) is the mean vote of remainder r for the candidates with remainder s.

    This is above 0 where the prime prefers each of the two for its own products. Adding a function
    of the candidate to the votes of one prime and subtracting it from those of another changes no
    logit, and changes none of these numbers.
    """
    n, numbers = len(y.y), []
    for g in boards(y, y.N)[1]:
        own_candidates = np.equal.outer(np.arange(n) % len(g), np.arange(len(g)))
        mean = g @ (own_candidates / own_candidates.sum(axis=0))
        diagonal = np.diag(mean)
        margin = diagonal[:, None] + diagonal - mean - mean.T
        numbers.append(margin[np.triu_indices(len(g), 1)])
    return np.concatenate(numbers)


class Rule(NamedTuple):
    """What the account of classes says of the products of one class."""

    scores: Float[np.ndarray, " n"]  # of each candidate
    ratios: Float[np.ndarray, " m"]  # added to candidates of the class, by q/c


def classes_first(y: Profile) -> tuple[dict[int, Rule], Float[np.ndarray, "n n"]]:
    """Fit the account of classes at its freest, by least squares, for a square-free n, and predict
    every product. The class of q scores the candidates as it likes, and inside of it counts the
    quotient: y ≈ f_d(c) + [c in J_d] h_d(q/c)."""
    n, prediction, rules = len(y.y), np.zeros_like(y.y), {}
    for J in classes(n):
        q, m = J.elements, J.m
        f = y.y[q].mean(axis=0)
        inverse = [pow(int(c), -1, m) if m > 1 else 0 for c in q]
        quotient = np.outer(q, inverse) % m
        # Each quotient is there once for each q and each c: both means are what least squares say.
        inside = y.y[np.ix_(q, q)] - f[q]
        h = np.bincount(quotient.ravel(), inside.ravel(), minlength=m) / len(J)
        prediction[q] = f
        prediction[np.ix_(q, q)] += h[quotient]
        rules[J.d] = Rule(f, h)
    return rules, prediction


def predict_left_out(y: Profile, columns: Float[np.ndarray, "n columns"]) -> LeftOut:
    """Predict class after class from the others by these functions of the product."""
    group, n = functions.by_class(len(y.y)), len(y.y)
    predicted, certain = functions.predict_held_out(columns, y, group)
    class_masks = [certain & (group == i) for i in range(int(group.max()) + 1)]
    shares = [y.share(predicted, x) if x.any() else np.nan for x in class_masks]
    right = (answers(predicted) == np.arange(n))[certain]
    determined = float(certain.sum() / max((group >= 0).sum(), 1))
    return LeftOut(np.array(shares), float(right.mean()) if certain.any() else nan, determined)


def permute_within_classes(n: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    """Return a permutation of the residues within each class."""
    order = np.arange(n)
    for J in classes(n):
        order[J.elements] = rng.permutation(J.elements)
    return order


def control(y: Profile, draws: int, rng: np.random.Generator) -> float:
    """Return the right answers of left-out classes where each product has the remainders of another
    one of its class: the mean of some draws."""
    columns = remainders(len(y.y))
    orders = (permute_within_classes(len(y.y), rng) for _ in range(draws))
    drawn = [predict_left_out(y, columns[order]).right for order in orders]
    return float(np.mean(drawn))
