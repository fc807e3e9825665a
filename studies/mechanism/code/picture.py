"""What a page draws of the outputs of one network: votes of its primes, and the rival account."""

from typing import Any

import numpy as np
from jaxtyping import Float

from strata.monoid import classes, prime_powers
from studies.mechanism.code.dictionary import fitted
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.votes import remainders, share

Json = dict[str, Any]


def network(y: Profile) -> Json:
    """Votes fitted to all products, under "all", and to all but those of each class of two elements
    or more, under its d; classes sorted first; what each explains of y."""
    n = len(y.y)
    fits = {"all": votes(y, y.N)}
    for J in (J for J in classes(n) if len(J) > 1):
        fits[str(J.d)] = votes(y, np.where(np.isin(np.arange(n), J.elements), 0, y.N))
    first, drawn = sorted_first(y)
    shares = {"votes": share(y), "classes": y.share(drawn)}
    return {"fits": fits, "classes": first, "shares": shares, "N": y.N.tolist()}


def votes(y: Profile, weight: Float[np.ndarray, " n"]) -> list[Any]:
    """What each prime gives each candidate, for each remainder: y ≈ Σ_p g_p(q mod p, c). What a
    candidate gets whatever the product, the mean over all pairs, comes from all primes alike."""
    n, powers = len(y.y), prime_powers(len(y.y))
    found = np.split(fitted(remainders(n), y.y, weight), np.cumsum(powers)[:-1])
    weights = [np.bincount(np.arange(n) % p, y.N) / y.N.sum() for p in powers]
    means = [w @ g for w, g in zip(weights, found, strict=True)]
    alike = np.mean(means, axis=0)
    return [rounded(g - mean + alike) for g, mean in zip(found, means, strict=True)]


def sorted_first(y: Profile) -> tuple[Json, Float[np.ndarray, "n n"]]:
    """The account of classes at its freest, by least squares: the class of q scores the candidates
    as it likes, and inside of it counts the quotient, y ≈ f_d(c) + [c in J_d] h_d(q/c); and what
    this makes of every product."""
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
        found[str(J.d)] = {"class": rounded(f), "quotient": rounded(h)}
    return found, drawn


def rounded(x: Float[np.ndarray, "..."]) -> list[Any]:
    """As a page needs it."""
    return np.round(x, 3).tolist()
