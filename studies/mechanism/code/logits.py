"""Two descriptions of the logits of a run: criteria-primes.md, section 1."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse import csr_array

from strata.architecture import architecture_of
from strata.measure.activations import answers, blocks
from strata.measure.all_pairs import large
from strata.measure.character_fit import centred
from strata.monoid import classes
from strata.patch.projections import Masks, keys
from strata.run import Run
from strata.statistics import folds
from strata.store import Arrays
from strata.task import operation
from studies.mechanism.code import descriptions, gating
from studies.mechanism.code.descriptions import Description, fit, held_out, weights_of
from studies.mechanism.code.records import Description as Name
from studies.mechanism.code.records import (
    HeldOutClass,
    HeldOutProducts,
    LogitFit,
    Logits,
    LogitsAtKey,
)
from studies.params import LogitsParams


@dataclass(frozen=True)
class Profiles:
    """The logits of all pairs, by their products. N(q) pairs have product q."""

    y: Float[np.ndarray, "n n"]  # mean of z over the pairs with product q, by candidate
    squares: Float[np.ndarray, " n"]  # Σ z² over these pairs and all candidates
    inside: Float[np.ndarray, " n"]  # over the candidates of q's class, z centred over it
    right: Float[np.ndarray, " n"]  # how many of these pairs are answered rightly

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def total(self) -> float:
        """Σ z² over all pairs and candidates."""
        return float(self.squares.sum())

    def r2(self, predicted: Float[np.ndarray, "n n"], over: Bool[np.ndarray, " n"]) -> float:
        """1 − what a prediction leaves of z / Σ z², over the pairs with some products; 0 where
        there is nothing to explain."""
        N = weights_of(self.n)
        total = float(self.squares[over].sum())
        gained = N * ((self.y**2).sum(axis=1) - ((self.y - predicted) ** 2).sum(axis=1))
        return float(gained[over].sum()) / total if total else 0.0

    def ceiling(self, over: Bool[np.ndarray, " n"]) -> float:
        """R² of y itself."""
        return self.r2(self.y, over)

    def accuracy(self, over: Bool[np.ndarray, " n"]) -> float:
        """Share of the pairs with some products that the model answers rightly."""
        return float(self.right[over].sum() / weights_of(self.n)[over].sum())


def profiles(logits: Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]], n: int) -> Profiles:
    """The sums over blocks of a, b and logits, all pairs together."""
    y, of_pairs = np.zeros((n, n)), np.zeros((3, n))
    for a, b, block in logits:
        q, z = operation(a, b, n), centred(block)
        one = csr_array((np.ones(len(q)), (q, np.arange(len(q)))), shape=(n, len(q)))
        own = np.zeros(len(q))
        for J in classes(n):
            rows = np.flatnonzero(np.gcd(q, n) == J.d)
            own[rows] = (centred(z[np.ix_(rows, J.elements)]) ** 2).sum(axis=1)
        y += one @ z
        of_pairs += (one @ np.stack([(z**2).sum(axis=1), own, answers(block) == q], axis=1)).T
    return Profiles(y / weights_of(n)[:, None], *of_pairs)


def measure(
    run: Run, weights: Arrays, params: LogitsParams, threshold: float, key: Arrays | None = None
) -> Logits:
    """Both descriptions of a run; of a run that diverged, that it did.

    `key`: weights whose key frequencies are used, by default the run's own.
    """
    n = run.n
    about = {"run": str(run), "n": n, "architecture": architecture_of(weights).name}
    nothing = {"accuracy": None, "ceiling": None, "accuracy_classes": {}, "at": None}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return Logits(**about, finite=False, **nothing)
    found = profiles(((a, b, x.logits) for a, b, x in blocks(weights, n)), n)
    if not 0 < found.total < np.inf:
        return Logits(**about, finite=False, **nothing)
    every, of = np.ones(n, dtype=bool), np.gcd(np.arange(n), n)
    key_frequencies = keys((key or weights)["W_E"][:n], n, threshold)
    return Logits(
        **about,
        finite=True,
        accuracy=found.accuracy(every),
        ceiling=found.ceiling(every),
        accuracy_classes={J.d: found.accuracy(of == J.d) for J in classes(n)},
        at=at_key(found, key_frequencies, threshold, params),
    )


def at_key(found: Profiles, key: Masks, threshold: float, params: LogitsParams) -> LogitsAtKey:
    """All measures with these key frequencies."""
    n, described = found.n, descriptions.describe(found.n, key)
    plus, strata = described["C+"].characters, described["S"].characters
    shared = gating.shared(found.y, plus, found.total)
    single, several = ([x for x in shared if (len(x.parts) > 1) == many] for many in (False, True))
    return LogitsAtKey(
        key_threshold=threshold,
        key=int(sum(mask.sum() for mask in key.values())),
        of=sum(len(J) - 1 for J in classes(n)),
        mixed=sum(len(x) > 1 for x in strata.labels),
        fits={name: fitted(found, x, False) for name, x in described.items()},
        fits_bias={name: fitted(found, x, True) for name, x in described.items()},
        unfitted=accuracy(descriptions.unfitted(described["C"]), np.ones(n, dtype=bool)),
        products=products(found, described, params.seed, params.folds),
        held_out=tuple(held_out_class(found, described["C"], J.d) for J in large(n)),
        characters=tuple(shared),
        balance=gating.balance(single),
        balance_mixed=gating.balance(several),
        inside=tuple(gating.inside(found.y, plus, strata, found.inside)),
    )


def accuracy(predicted: Float[np.ndarray, "n n"], over: Bool[np.ndarray, " n"]) -> float:
    """Share of the pairs with some products whose product is the largest prediction."""
    N, right = weights_of(len(predicted)), answers(predicted) == np.arange(len(predicted))
    return float((N * right)[over].sum() / N[over].sum())


def fitted(found: Profiles, description: Description, bias: bool) -> LogitFit:
    """A description fitted to all pairs."""
    every = np.ones(found.n, dtype=bool)
    predicted = fit(found.y, weights_of(found.n), description, bias)
    right = accuracy(predicted, every)
    return LogitFit(rank=description.rank(bias), r2=found.r2(predicted, every), accuracy=right)


def products(
    found: Profiles, described: dict[Name, Description], seed: int, count: int
) -> HeldOutProducts:
    """Held-out products, with and without a bias for each candidate."""
    fold, N = folds(found.n, seed, count), weights_of(found.n)

    def r2(bias: bool) -> dict[Name, float]:
        return {
            name: found.r2(held_out(found.y, N, x, fold, bias), fold >= 0)
            for name, x in described.items()
        }

    ceiling = found.ceiling(fold >= 0)
    return HeldOutProducts(seed=seed, ceiling=ceiling, r2=r2(False), r2_bias=r2(True))


def held_out_class(found: Profiles, description: Description, d: int) -> HeldOutClass:
    """The products of J_d predicted from the fit to all others."""
    here = np.gcd(np.arange(found.n), found.n) == d
    predicted = fit(found.y, np.where(here, 0, weights_of(found.n)), description)
    r2, right = found.r2(predicted, here), accuracy(predicted, here)
    return HeldOutClass(d=d, ceiling=found.ceiling(here), r2=r2, accuracy=right)
