"""What a page draws of the outputs of one network: votes of its primes, and the rival account."""

from typing import Any

import numpy as np
from jaxtyping import Float

from strata.monoid import classes
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.votes import boards, classes_first, share

Json = dict[str, Any]


def drawing(y: Profile) -> Json:
    """Return the votes, the account of classes and what each explains of y. Votes are fitted to all
    products, under "all", and to all but those of each class of two elements or more, under its
    d."""
    n = len(y.y)
    fits = {"all": votes(y, y.N)}
    for J in (J for J in classes(n) if len(J) > 1):
        fits[str(J.d)] = votes(y, np.where(np.isin(np.arange(n), J.elements), 0, y.N))
    account, prediction = classes_first(y)
    rules = {str(d): {"class": rounded(f), "quotient": rounded(h)} for d, (f, h) in account.items()}
    shares = {"votes": share(y), "classes": y.share(prediction)}
    return {"fits": fits, "classes": rules, "shares": shares, "N": y.N.tolist()}


def votes(y: Profile, weight: Float[np.ndarray, " n"]) -> list[Any]:
    """Return what each prime gives each candidate, for each remainder: y ≈ Σ_p g_p(q mod p, c).
    What a candidate gets whatever the product, the mean over all pairs, comes from all primes
    alike."""
    bias, by_prime = boards(y, weight)
    return [rounded(g + bias / len(by_prime)) for g in by_prime]


def rounded(x: Float[np.ndarray, "..."]) -> list[Any]:
    """Round numbers to the three digits that a page shows."""
    return np.round(x, 3).tolist()
