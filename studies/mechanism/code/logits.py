"""Two descriptions of the logits of a run: criteria-primes.md, section 1."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse import csr_array

from strata.architecture import architecture_of
from strata.measure.activations import blocks
from strata.measure.all_pairs import large
from strata.measure.character_fit import centred
from strata.monoid import classes, prime_powers
from strata.patch.projections import Masks, keys
from strata.run import Run
from strata.statistics import folds
from strata.store import Arrays
from strata.task import operation
from studies.mechanism.code import gating
from studies.mechanism.code.descriptions import Description, describe, fit, held_out, weights_of
from studies.mechanism.code.records import Logits, LogitsAtKey
from studies.params import LogitsParams, LogitsSettings


@dataclass(frozen=True)
class Profiles:
    """The logits of all pairs, by their products. N(q) pairs have product q."""

    y: Float[np.ndarray, "n n"]  # mean of z over the pairs with product q, by candidate
    squares: Float[np.ndarray, " n"]  # Σ z² over these pairs and all candidates

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


def profiles(logits: Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]], n: int) -> Profiles:
    """The sums over blocks of a, b and logits, all pairs together."""
    y, squares = np.zeros((n, n)), np.zeros(n)
    for a, b, block in logits:
        q, z = operation(a, b, n), centred(block)
        one = csr_array((np.ones(len(q)), (q, np.arange(len(q)))), shape=(n, len(q)))
        y += one @ z
        squares += one @ (z**2).sum(axis=1)
    return Profiles(y / weights_of(n)[:, None], squares)


def measure(
    run: Run, weights: Arrays, settings: LogitsSettings, key: Arrays | None = None
) -> Logits:
    """Both descriptions of a run; of a run that diverged, that it did.

    `key`: weights whose key frequencies are used, by default the run's own.
    """
    n = run.n
    about = {"run": str(run), "n": n, "architecture": architecture_of(weights).name}
    diverged = Logits(**about, finite=False, ceiling=None, at=None)
    if not all(np.isfinite(x).all() for x in weights.values()):
        return diverged
    found = profiles(((a, b, x.logits) for a, b, x in blocks(weights, n)), n)
    if not 0 < found.total < np.inf:
        return diverged
    masks = keys((key or weights)["W_E"][:n], n, settings.key_threshold)
    ceiling = found.ceiling(np.ones(n, dtype=bool))
    return Logits(**about, finite=True, ceiling=ceiling, at=at_key(found, masks, settings))


def at_key(by_product: Profiles, key: Masks, params: LogitsParams) -> LogitsAtKey:
    """All measures with these key frequencies."""
    n, y = by_product.n, by_product.y
    N, described = weights_of(n), describe(n, key)
    plus, every = described["C+"].characters, np.ones(n, dtype=bool)
    fold = folds(n, params.seed, params.folds)
    shared = gating.shared(y, plus, by_product.total)
    return LogitsAtKey(
        key=int(sum(mask.sum() for mask in key.values())),
        of=sum(len(J) - 1 for J in classes(n)),
        mixed=sum(len(x) > 1 for x in described["S"].characters.labels),
        r2={name: by_product.r2(fit(y, N, x), every) for name, x in described.items()},
        held_out={
            name: by_product.r2(held_out(y, N, x, fold), fold >= 0) for name, x in described.items()
        },
        held_out_ceiling=by_product.ceiling(fold >= 0),
        tau=tau(by_product, described["C"]),
        characters=tuple(shared),
        balanced=gating.balanced(x for x in shared if len(x.parts) == 1),
        cost=gating.cost(y, plus),
    )


def tau(by_product: Profiles, description: Description) -> float | None:
    """The median over classes of two or more of R² of the class predicted from the fit to all
    others, over the ceiling of the class; None where n is a power of a prime."""
    shares = []
    for J in large(by_product.n):
        here = np.isin(np.arange(by_product.n), J.elements)
        predicted = fit(by_product.y, np.where(here, 0, weights_of(by_product.n)), description)
        if (ceiling := by_product.ceiling(here)) > 0:
            shares.append(by_product.r2(predicted, here) / ceiling)
    return float(np.median(shares)) if shares and len(prime_powers(by_product.n)) > 1 else None
