"""The logits of a run described by strata and by primes: docs/strata-or-primes.md, section 1.

z is the logit less its mean over all candidates, y(q, c) its mean over the pairs with product q.
Every R² is 1 − (what is left of z)/(Σ z²), over all pairs and candidates unless told otherwise.
"""

from typing import Literal

from strata.schema.base import Result

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
    beta: tuple[tuple[float, ...], ...] | None
    """Coefficient for the products of one class (row) and the candidates of another (column); kept
    at the first key threshold alone."""


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
    products: tuple[HeldOutProducts, ...]
    """By seed of the folds."""
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
    at: tuple[LogitsAtKey, ...]
    """By key threshold; the first is metrics.key_threshold."""
