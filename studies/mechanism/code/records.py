"""The logits of a run, and its embedding, described by strata and by primes: what data/logits and
data/embedding hold. Defined in criteria-primes.md, sections 1 and 2.

z is the logit less its mean over all candidates, y(q, c) its mean over the pairs with product q.
Every R² is 1 − (what is left of z)/(Σ z²), over all pairs and candidates unless said otherwise.
Shares, accuracies and skills are fractions; d is that of a class J_d, Q a prime power with Q ‖ n.
"""

from typing import Literal, NamedTuple

import numpy as np

from strata.result import Result

Description = Literal["S", "C", "C+"]


class Part(NamedTuple):
    """A character of (Z/p^(κ−v))^× with frequency k, nonzero, on residues of valuation v."""

    p: int
    v: int
    k: tuple[int, ...]


Label = tuple[Part, ...]  # what a character is at each prime where it is not 1, by ascending p


class SharedCharacter(Result):
    """A character of C or C+ that is defined in two classes or more, and its coefficients."""

    parts: Label
    """Two or more for one that C+ has beside C."""
    same: float
    """Coefficient where product and candidate are in one class."""
    different: float
    """Where they are in different classes."""
    explained: float
    """Share of Σ z² that its part of one class explains."""
    classes: tuple[int, ...]
    """d of the classes where it is defined."""
    beta: tuple[tuple[float, ...], ...]
    """Coefficient for the products of one class (row) and the candidates of another (column)."""

    @property
    def gating(self) -> float:
        """γ: the coefficient between classes over that inside them."""
        return self.different / self.same


class LogitsAtKey(Result):
    """All that depends on which frequencies are key."""

    key: int
    """Key frequencies of all classes."""
    of: int
    """Non-constant frequencies of all classes."""
    mixed: int
    """Key frequencies that are not zero on two or more primes, one of ±k, each as often as classes
    have it."""
    r2: dict[Description, float]
    """R² fitted to all products."""
    held_out: dict[Description, float]
    """R² of products of classes of two or more, each predicted from four folds of five."""
    held_out_ceiling: float
    """R² of y itself over these products."""
    tau: float | None
    """Median over classes of two or more of R², over its ceiling, where C is fitted to all other
    classes; None where n is a power of a prime."""
    characters: tuple[SharedCharacter, ...]
    balanced: float | None
    """γ_b: gating of the characters of C that does not change when the logits of a class are
    scaled; None where no pair of classes counts."""
    cost: float | None
    """What one set of coefficients for all classes costs: mean over classes of the share of what
    the class's own explain; None without a character."""


class Logits(Result):
    """The logits of one run."""

    run: str
    n: int
    architecture: str
    finite: bool
    """Whether all logits are finite, and not all are equal; else nothing is measured."""
    ceiling: float | None
    """R² of y, any function of product and candidate."""
    at: LogitsAtKey | None
    """With the key frequencies of metrics.key_threshold; None of a run that is not finite."""

    @property
    def found(self) -> LogitsAtKey:
        """What is measured of a run that is finite."""
        assert self.at is not None
        return self.at


EmbeddingVerdict = Literal[
    "primes", "strata, shared coordinates", "strata, own coordinates", "neither", "between"
]
STRATA = {"strata, shared coordinates", "strata, own coordinates"}


class MainEffects(Result):
    """Main effects of a mod Q in W_E, kept alone and removed: the skill that is left."""

    share: float | None
    """Of the variance of W_E that their sum explains."""
    eta: dict[int, float | None]
    """Of the directions of a mod Q, how far classes share them: 1 the same, 0 orthogonal."""
    kept: float
    """With their sum alone: over classes d the least accuracy on pairs with an operand in J_d."""
    keep: float | None
    keep_permuted: float | None
    """Main effects of random permutations of the residues, with the energy of the true ones: the
    highest of all draws."""
    keep_components: float | None
    """As many principal components."""
    remove: float | None
    remove_shrunk: float | None
    """Nothing removed, but the energy that the removal leaves."""

    @property
    def mean_eta(self) -> float | None:
        """Over the Q that have one."""
        known = [x for x in self.eta.values() if x is not None]
        return float(np.mean(known)) if known else None


class KeyKept(Result):
    """Key characters of all classes kept alone in the embedding, as in data/interventions."""

    skill: float | None
    highest: float | None
    """Of its controls: other characters, random and additive functions. None without controls."""


class Change(Result):
    """Changes of a modulo one Q that make it act as another residue; of several kinds, by Q and the
    classes of both, the mean with equal weight."""

    success: float
    """Share of trials with the answer that the algebra names."""
    chance: float
    """1 / the size of the class of that answer."""
    random: float
    """Success of a random direction of the same length."""


class Embedding(Result):
    """The embedding of one run under the two accounts; of a run that diverged only that it did."""

    run: str
    n: int
    architecture: str
    finite: bool
    """Whether all weights are."""
    E: EmbeddingVerdict | None = None
    """The verdict at the levels of params.yaml; None where n is a prime power."""
    main_effects: MainEffects | None = None
    key_kept: KeyKept | None = None
    within: Change | None = None
    """Changes that leave the class as it is."""
    crossing: Change | None = None
    """Changes to another class."""
