"""Statement 1 of criteria-2.md: the logits are functions of zeros, key characters and gates.

A gate [r | q]·χ is the character χ where r divides q, and 0 elsewhere. Gates are looked for in what
the votes of statement 0 leave, so in what depends on several primes of the product.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import factorint

from strata.monoid import classes
from strata.patch.projections import Masks
from studies.mechanism.code import characters
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.characters import Characters
from studies.mechanism.code.dictionary import Gate, basis, beside, energy, explained, gated, real
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
        """1 and zeros."""
        return functions.zeros(self.n)

    @property
    def plain(self) -> Float[np.ndarray, "n some"]:
        """1, zeros and characters."""
        return np.concatenate([self.zeros, real(self.characters.values)], axis=1)

    @cached_property
    def functions(self) -> Float[np.ndarray, "n some"]:
        """1 and all functions of φ."""
        return np.concatenate([self.plain, gated(self.n, self.gates)], axis=1)

    @cached_property
    def several(self) -> Characters:
        """The characters of several primes."""
        several = [label for label in self.characters.labels if len(label) > 1]
        return characters.of_labels(self.n, several)

    @property
    def possible(self) -> list[Gate]:
        """Every gate of one of its characters by another prime."""
        primes, every = sorted(factorint(self.n)), self.characters.labels
        return [Gate(p, x) for x in every for p in primes if p not in {part.p for part in x}]

    @property
    def beside_votes(self) -> Float[np.ndarray, "n some"]:
        """What there is without gates: the votes of statement 0, and characters of several."""
        return np.concatenate([remainders(self.n), real(self.several.values)], axis=1)

    def rest(self, y: Profile) -> float:
        """What all functions explain of what zeros leave."""
        return 1 - y.error(explained(y, self.functions)) / y.error(explained(y, self.zeros))

    def explains(self, y: Profile, chosen: list[Gate]) -> float:
        """What these gates explain, beside its characters, of what the votes leave of y."""
        votes, base = remainders(self.n), self.beside_votes
        wider = np.concatenate([base, gated(self.n, chosen)], axis=1)
        left, without, with_gates = (y.error(explained(y, x)) for x in (votes, base, wider))
        return (without - with_gates) / left if left else nan


def code(y: Profile, key: Masks, limits: MechanismMeasures) -> Code:
    """φ of a network, from its key characters and its mean logits."""
    found = Code(len(y.y), characters.key_in_any_class(len(y.y), key))
    return replace(found, gates=gates(found, y, y.N, limits))


def gates(
    phi: Code, y: Profile, weight: Float[np.ndarray, " n"], limits: MechanismMeasures
) -> tuple[Gate, ...]:
    """The gates that explain what votes leave of the products of some weight: each the one that
    lessens the error most beside all before it. None where the votes leave at most ``many`` of y;
    else until characters of several primes and gates explain ``enough`` of what they leave, or
    there are ``gates``."""
    root, free, chosen = np.sqrt(weight)[:, None], phi.possible, list[Gate]()
    whole, votes = root * y.y, root * remainders(phi.n)
    left = energy(beside(whole, basis(votes)))
    if left <= limits.many * energy(whole):
        return ()
    base = root * phi.beside_votes
    columns = {gate: root * gated(phi.n, [gate]) for gate in free}
    rest = beside(whole, span := basis(base))
    while free and len(chosen) < limits.gates and energy(rest) > (1 - limits.enough) * left:
        gains = [gained(rest, beside(columns[gate], span)) for gate in free]
        chosen.append(free.pop(int(np.argmax(gains))))
        base = np.concatenate([base, columns[chosen[-1]]], axis=1)
        rest = beside(whole, span := basis(base))
    return tuple(chosen)


def others(phi: Code, rng: np.random.Generator) -> list[Gate]:
    """For each of its gates one by the same prime of a random character of the same primes that is
    not key."""
    full = {J.d: np.arange(len(J)) > 0 for J in classes(phi.n)}
    every = characters.key_in_any_class(phi.n, full).labels
    found = list[Gate]()
    for gate in phi.gates:
        where = [part[:2] for part in gate.label]
        free = [x for x in every if [part[:2] for part in x] == where]
        free = [x for x in free if x not in phi.characters.labels]
        if free:
            found.append(Gate(gate.p, free[rng.integers(len(free))]))
    return found


def held_out(
    phi: Code, y: Profile, group: Int[np.ndarray, " n"], limits: MechanismMeasures
) -> float:
    """The rest of each group of products, predicted by the fit to all others with the gates that
    those ask for; NaN where they determine less than half of what is asked. Group −1 is always
    fitted."""
    full, (by_zeros, _) = phi.functions, functions.held_out(phi.zeros, y, group)
    predicted, known = np.zeros_like(y.y), group >= 0
    for i in range(int(group.max()) + 1):
        here = group == i
        weight = np.where(here, 0, y.N)
        design = replace(phi, gates=gates(phi, y, weight, limits)).functions
        predicted[here] = design[here] @ functions.fitted(design, y.y, weight)
        known[here] = functions.determined(full[here], full[~here])
    if not known.any() or 2 * known.sum() < (group >= 0).sum():
        return nan
    return 1 - y.error(predicted, known) / y.error(by_zeros, known)


def gained(rest: Float[np.ndarray, "n width"], columns: Float[np.ndarray, "n some"]) -> float:
    """Σ over what columns that are orthogonal to all that was fitted explain of the rest: nothing
    where rounding alone is left of them."""
    if np.linalg.norm(columns) <= 1e-6 * np.sqrt(len(columns)):
        return 0.0
    return energy(basis(columns).T @ rest)
