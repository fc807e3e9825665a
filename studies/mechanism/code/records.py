"""The logits of a run, and its embedding, described by strata and by primes: what data/logits and
data/embedding hold. Defined in criteria-primes.md, sections 1 and 2.

z is the logit less its mean over all candidates, y(q, c) its mean over the pairs with product q.
Every R² is 1 − (what is left of z)/(Σ z²), over all pairs and candidates unless said otherwise.
Shares, accuracies and skills are fractions; d is that of a class J_d, Q a prime power with Q ‖ n.
"""

from typing import Literal

from strata.patch.scores import Range
from strata.result import Result

Description = Literal["S", "C", "C+", "CS"]


class LogitFit(Result):
    """A description fitted to all of y."""

    rank: int
    r2: float
    accuracy: float
    """Share of all pairs whose product is the largest of the description."""


class HeldOutProducts(Result):
    """Each product of a class of two or more predicted from four folds of five."""

    seed: int
    """Of the dealing into folds."""
    ceiling: float
    """R² of y itself over the held-out pairs."""
    r2: dict[Description, float]
    r2_bias: dict[Description, float]
    """With a bias for each candidate."""


class HeldOutClass(Result):
    """Products of a class predicted by C from all others; S predicts 0 there."""

    d: int
    ceiling: float
    """R² of y itself over the pairs with product in J_d."""
    r2: float
    accuracy: float


class CharacterPart(Result):
    """What a character is at one prime."""

    p: int
    v: int
    """Valuation."""
    k: tuple[int, ...]
    """Frequency on the axes of p."""


class SharedCharacter(Result):
    """A character of C or C+ that is defined in two classes or more, and its coefficients."""

    parts: tuple[CharacterPart, ...]
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


class Balance(Result):
    """Gating that does not change when the logits of a class are scaled: sign(β_de + β_ed)
    √|β_de β_ed| / √(β_dd β_ee), over characters and pairs of classes."""

    median: float | None
    """None where no pair counts."""
    counted: int
    """Pairs with both own coefficients above 0."""
    left_out: int


class InsideClass(Result):
    """Logits of the products and candidates of one class, centred over it, by the characters of C+:
    with coefficients of the class's own, and with one set for all classes. R² over Σ of their
    squares."""

    d: int
    own: float
    shared: float
    strata: float
    """R² of the class's own key characters."""
    cost: float | None
    """(own − shared) / own; None where C+ has no character in the class."""


class LogitsAtKey(Result):
    """All that depends on which frequencies are key."""

    key_threshold: float
    key: int
    """Key frequencies of all classes."""
    of: int
    """Non-constant frequencies of all classes."""
    mixed: int
    """Key frequencies that are not zero on two or more primes, one of ±k, each as often as classes
    have it."""
    fits: dict[Description, LogitFit]
    fits_bias: dict[Description, LogitFit]
    """With a bias for each candidate."""
    unfitted: float
    """Accuracy of C with all coefficients 1."""
    products: HeldOutProducts
    held_out: tuple[HeldOutClass, ...]
    """Classes of two or more."""
    characters: tuple[SharedCharacter, ...]
    balance: Balance
    """Of the characters of C."""
    balance_mixed: Balance
    """Of those that C+ has beside them."""
    inside: tuple[InsideClass, ...]
    """Classes of two or more."""


class Logits(Result):
    """The logits of one run."""

    run: str
    n: int
    architecture: str
    finite: bool
    """Whether all logits are finite, and not all are equal; else nothing is measured."""
    accuracy: float | None
    """Of the model, over all pairs."""
    ceiling: float | None
    """R² of y, any function of product and candidate."""
    accuracy_classes: dict[int, float]
    """Of the model, by d of the class of the product."""
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


class Effect(Result):
    """What the network answers to all pairs with other rows in the place of W_E."""

    accuracy: float
    skill: float | None
    kept: float
    """Over classes d the least accuracy on pairs with an operand in J_d."""
    modulo: dict[int, float | None]
    """Skill modulo Q; 0 is a random element of the right class of Z_Q. None where that is right."""
    modulo_zero: dict[int, float | None]
    """Skill modulo Q; 0 is to answer 0 always."""


class Draws(Result):
    """The same over random draws."""

    skill: Range
    kept: Range


class MainEffects(Result):
    """Main effects of a mod Q in W_E, kept alone and removed."""

    share: float | None
    """Of the variance of W_E that their sum explains."""
    random_share: float
    """That share for random rows, on average."""
    rank: int
    eta: dict[int, float | None]
    """Of the directions of a mod Q, how far classes share them: 1 the same, 0 orthogonal."""
    keep: Effect
    keep_permuted: Draws
    """Main effects of random permutations of the residues, with the energy of the true ones."""
    keep_components: Effect
    """As many principal components."""
    overlap: float | None
    """Of these with the main effects, as spaces of functions of a; 1 is the same space."""
    remove: Effect
    remove_shrunk: Effect
    """Nothing removed, but the energy that the removal leaves."""
    remove_permuted: Draws
    """Main effects of random permutations removed, shrunk to that energy."""
    remove_one: dict[int, Effect]

    @property
    def mean_eta(self) -> float | None:
        """Mean of η over the Q that have one."""
        known = [x for x in self.eta.values() if x is not None]
        return sum(known) / len(known) if known else None


class KeyKept(Result):
    """Key characters of all classes kept alone in the embedding, as in data/interventions."""

    skill: float | None
    highest: float | None
    """Of its controls: other characters, random and additive functions. None without controls."""


class ChangeKind(Result):
    """Changes modulo one Q of elements of one class that make them act as elements of another."""

    Q: int
    source: int
    """d of the class of a."""
    target: int
    """d of the class of a′."""
    trials: int
    success: float
    """Share of trials with the answer a′b."""
    chance: float
    """1 / |J_{a′b}|."""
    random: float
    """Success of a random direction of the same length."""
    exchanged: float
    """Success of the simple exchange of f_Q(a mod Q) for f_Q(r)."""


class Change(Result):
    """Means over kinds of change, each with equal weight."""

    kinds: int
    trials: int
    success: float
    least: float
    """Success of the kind that succeeds least."""
    chance: float
    random: float
    exchanged: float


class Embedding(Result):
    """The embedding of one run under the two accounts; of a run that diverged only that it did."""

    run: str
    n: int
    seed: int
    architecture: str
    finite: bool
    """Whether all weights are."""
    E: EmbeddingVerdict | None = None
    """The verdict at the levels of params.yaml; None where n is a prime power."""
    base: Effect | None = None
    """The unchanged model."""
    main_effects: MainEffects | None = None
    key_kept: KeyKept | None = None
    within: Change | None = None
    crossing: Change | None = None
    changes: tuple[ChangeKind, ...] = ()
