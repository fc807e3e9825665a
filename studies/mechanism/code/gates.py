"""Statement 1 of criteria-2.md: the logits are functions of zeros, key characters and gates.

A gate [r | q]·χ is the character χ where r divides q, and 0 elsewhere. Gates are looked for in what
the votes of statement 0 leave, so in what depends on several primes of the product.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np
from jaxtyping import Float, Int

from strata.arithmetic import factorint
from strata.monoid import classes
from strata.patch.projections import Masks
from studies.mechanism.code import characters
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.characters import Characters
from studies.mechanism.code.dictionary import Gate, basis, energy, prediction, real, residual
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.votes import remainders
from studies.params import MechanismMeasures


@dataclass(frozen=True)
class Code:
    """φ of a network: zeros and characters, and the gates among them that its logits ask for."""

    n: int
    characters: Characters
    gates: tuple[Gate, ...] = ()

    @property
    def zeros(self) -> Float[np.ndarray, "n some"]:
        """Return 1 and zeros."""
        return functions.zeros(self.n)

    @property
    def plain(self) -> Float[np.ndarray, "n some"]:
        """Return 1, zeros and characters."""
        return np.concatenate([self.zeros, real(self.characters.values)], axis=1)

    @cached_property
    def functions(self) -> Float[np.ndarray, "n some"]:
        """Return 1 and all functions of φ."""
        return np.concatenate([self.plain, functions.gate_functions(self.n, self.gates)], axis=1)

    @cached_property
    def mixed(self) -> Characters:
        """Return the characters of several primes."""
        labels = [label for label in self.characters.labels if len(label) > 1]
        return characters.characters_of(self.n, labels)

    @property
    def possible_gates(self) -> list[Gate]:
        """Return every gate of one of the characters by another prime."""
        primes, labels = sorted(factorint(self.n)), self.characters.labels
        return [Gate(p, x) for x in labels for p in primes if p not in {part.p for part in x}]

    @property
    def ungated(self) -> Float[np.ndarray, "n some"]:
        """Return what there is without gates: the votes of statement 0, and characters of several
        primes."""
        return np.concatenate([remainders(self.n), real(self.mixed.values)], axis=1)

    def share_beyond_zeros(self, y: Profile) -> float:
        """Return the share that all functions explain of what zeros leave."""
        return 1 - y.error(prediction(y, self.functions)) / y.error(prediction(y, self.zeros))

    def explains(self, y: Profile, chosen: list[Gate]) -> float:
        """Return the share of what the votes leave of y that these gates explain beyond
        characters."""
        votes, base = remainders(self.n), self.ungated
        wider = np.concatenate([base, functions.gate_functions(self.n, chosen)], axis=1)
        votes_left, base_left, wider_left = (
            y.error(prediction(y, x)) for x in (votes, base, wider)
        )
        return (base_left - wider_left) / votes_left if votes_left else nan


def code(y: Profile, key: Masks, limits: MechanismMeasures) -> Code:
    """Build φ of a network from its key characters and its mean logits."""
    phi = Code(len(y.y), characters.key_in_any_class(len(y.y), key))
    return replace(phi, gates=choose_gates(phi, y, y.N, limits))


def choose_gates(
    phi: Code, y: Profile, weight: Float[np.ndarray, " n"], limits: MechanismMeasures
) -> tuple[Gate, ...]:
    """Choose the gates that explain what votes leave of the products of some weight, greedily: each
    gate lessens the error most after all before it. There is no gate where the votes leave at most
    ``many`` of y; else gates are added until they and characters of several primes explain
    ``enough`` of what votes leave, or there are ``gates``."""
    root, free, chosen = np.sqrt(weight)[:, None], phi.possible_gates, list[Gate]()
    target, votes = root * y.y, root * remainders(phi.n)
    votes_error = energy(residual(target, basis(votes)))
    if votes_error <= limits.many * energy(target):
        return ()
    base = root * phi.ungated
    columns = {gate: root * functions.gate_functions(phi.n, [gate]) for gate in free}
    span, enough = basis(base), (1 - limits.enough) * votes_error
    unexplained = residual(target, span)
    while free and len(chosen) < limits.gates and energy(unexplained) > enough:
        gains = [gain(unexplained, residual(columns[gate], span)) for gate in free]
        chosen.append(free.pop(int(np.argmax(gains))))
        base = np.concatenate([base, columns[chosen[-1]]], axis=1)
        span = basis(base)
        unexplained = residual(target, span)
    return tuple(chosen)


def random_gates(phi: Code, rng: np.random.Generator) -> list[Gate]:
    """Draw for each gate another one by the same prime, of a random character of the same primes
    that is not key."""
    full = {J.d: np.arange(len(J)) > 0 for J in classes(phi.n)}
    all_labels = characters.key_in_any_class(phi.n, full).labels
    drawn = list[Gate]()
    for gate in phi.gates:
        places = [part[:2] for part in gate.label]
        free = [x for x in all_labels if [part[:2] for part in x] == places]
        free = [x for x in free if x not in phi.characters.labels]
        if free:
            drawn.append(Gate(gate.p, free[rng.integers(len(free))]))
    return drawn


def held_out_share(
    phi: Code, y: Profile, group: Int[np.ndarray, " n"], limits: MechanismMeasures
) -> float:
    """Return the share that gates and characters explain of what zeros leave of held-out products.
    Each group is predicted from the fit to all others, with the gates that those choose; group −1
    is always fitted. NaN where less than half of the held-out products is determined."""
    full, (by_zeros, _) = phi.functions, functions.predict_held_out(phi.zeros, y, group)
    predicted, certain = np.zeros_like(y.y), group >= 0
    for i in range(int(group.max()) + 1):
        fold = group == i
        weight = np.where(fold, 0, y.N)
        design = replace(phi, gates=choose_gates(phi, y, weight, limits)).functions
        predicted[fold] = design[fold] @ functions.least_squares(design, y.y, weight)
        certain[fold] = functions.determined(full[fold], full[~fold])
    if not certain.any() or 2 * certain.sum() < (group >= 0).sum():
        return nan
    return 1 - y.error(predicted, certain) / y.error(by_zeros, certain)


def gain(unexplained: Float[np.ndarray, "n width"], columns: Float[np.ndarray, "n some"]) -> float:
    """Return how much of the unexplained energy columns explain that are orthogonal to all that was
    fitted: nothing where rounding alone is left of them."""
    if np.linalg.norm(columns) <= 1e-6 * np.sqrt(len(columns)):
        return 0.0
    return energy(basis(columns).T @ unexplained)
