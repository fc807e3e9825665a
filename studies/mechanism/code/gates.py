"""Statement 1 of criteria-2.md: the logits are functions of zeros, key characters and gates.

A gate [r | q]·χ is the character χ where r divides q, and 0 elsewhere. Gates are looked for in what
the votes of statement 0 leave, so in what depends on several primes of the product.
"""

from dataclasses import dataclass, replace
from math import nan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import factorint

from strata.monoid import classes
from strata.patch.projections import Masks
from studies.mechanism.code import characters
from studies.mechanism.code import dictionary as functions
from studies.mechanism.code.characters import Characters
from studies.mechanism.code.dictionary import Dictionary, Gate, determined, fitted, gated
from studies.mechanism.code.profile import Profile
from studies.mechanism.code.votes import remainders
from studies.params import MechanismSettings


class Limits(NamedTuple):
    """No gates where the votes leave at most ``smallest`` of y; else until characters of several
    primes and gates explain ``enough`` of what they leave, or there are ``most``."""

    smallest: float
    enough: float
    most: int

    @classmethod
    def of(cls, settings: MechanismSettings) -> "Limits":
        return cls(settings.many, settings.enough, settings.gates)


@dataclass(frozen=True)
class Code:
    """φ of a network: zeros and characters, and the gates among them that its logits ask for."""

    n: int
    characters: Characters
    gates: tuple[Gate, ...] = ()

    @property
    def plain(self) -> Dictionary:
        """Zeros and characters."""
        primes = [tuple(part.p for part in label) for label in self.characters.labels]
        zeros = functions.dictionary(self.n, {})
        return zeros + functions.real(self.characters.values, primes)

    @property
    def functions(self) -> Dictionary:
        """All functions of φ."""
        return self.plain + gated(self.n, list(self.gates))

    @property
    def several(self) -> Characters:
        """The characters of several primes."""
        some = [i for i, label in enumerate(self.characters.labels) if len(label) > 1]
        labels = tuple(self.characters.labels[i] for i in some)
        return Characters(labels, self.characters.values[:, some])

    @property
    def possible(self) -> list[Gate]:
        """Every gate of one of its characters by another prime."""
        primes, every = sorted(factorint(self.n)), self.characters.labels
        return [Gate(p, x) for x in every for p in primes if p not in {part.p for part in x}]

    @property
    def beside_votes(self) -> Float[np.ndarray, "n some"]:
        """What there is without gates: the votes of statement 0, and characters of several."""
        some = functions.real(self.several.values, [()] * len(self.several.labels)).values
        return np.concatenate([remainders(self.n), some], axis=1)

    def explains(self, y: Profile, chosen: list[Gate]) -> float:
        """What these gates explain, beside its characters, of what the votes leave of y."""
        votes, base = remainders(self.n), self.beside_votes
        wider = np.concatenate([base, gated(self.n, chosen).values], axis=1)
        left, without, with_gates = (
            y.error(functions.explained(y, x)) for x in (votes, base, wider)
        )
        return (without - with_gates) / left if left else nan


def code(y: Profile, key: Masks, limits: Limits) -> Code:
    """φ of a network, from its key characters and its mean logits."""
    found = Code(len(y.y), characters.key_in_any_class(len(y.y), key))
    return replace(found, gates=gates(found, y, y.N, limits))


def gates(
    phi: Code, y: Profile, weight: Float[np.ndarray, " n"], limits: Limits
) -> tuple[Gate, ...]:
    """The gates that explain what votes leave of the products of some weight: each the one that
    lessens the error most beside all before it."""
    root, free, chosen = np.sqrt(weight)[:, None], phi.possible, list[Gate]()
    whole, votes = root * y.y, root * remainders(phi.n)
    left = squares(beside(whole, basis(votes)))
    if left <= limits.smallest * squares(whole):
        return ()
    base = root * phi.beside_votes
    columns = {gate: root * gated(phi.n, [gate]).values for gate in free}
    rest = beside(whole, span := basis(base))
    while free and len(chosen) < limits.most and squares(rest) > (1 - limits.enough) * left:
        gains = [explained(rest, beside(columns[gate], span)) for gate in free]
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


def held_out(phi: Code, y: Profile, group: Int[np.ndarray, " n"], limits: Limits) -> float:
    """The rest of each group of products, predicted by the fit to all others with the gates that
    those ask for; NaN where they determine less than half of what is asked. Group −1 is always
    fitted."""
    full, (by_zeros, _) = phi.functions.design, functions.held_out(phi.plain.zeros, y, group)
    predicted, known = np.zeros_like(y.y), group >= 0
    for i in range(int(group.max()) + 1):
        here = group == i
        weight = np.where(here, 0, y.N)
        found = replace(phi, gates=gates(phi, y, weight, limits))
        design = found.functions.design
        predicted[here] = design[here] @ fitted(design, y.y, weight)
        known[here] = determined(full[here], full[~here])
    if not known.any() or 2 * known.sum() < (group >= 0).sum():
        return nan
    return 1 - y.error(predicted, known) / y.error(by_zeros, known)


def squares(x: np.ndarray) -> float:
    """Σ x²."""
    return float((x**2).sum())


def basis(columns: Float[np.ndarray, "n some"]) -> Float[np.ndarray, "n rank"]:
    """An orthonormal basis of their span."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > functions.ZERO * sizes.max(initial=1e-300)]


def beside(
    x: Float[np.ndarray, "n width"], span: Float[np.ndarray, "n rank"]
) -> Float[np.ndarray, "n width"]:
    """What the span of an orthonormal basis leaves of x."""
    return x - span @ (span.T @ x)


def explained(rest: Float[np.ndarray, "n width"], columns: Float[np.ndarray, "n some"]) -> float:
    """Σ over what columns that are orthogonal to all that was fitted explain of the rest: nothing
    where rounding alone is left of them."""
    if np.linalg.norm(columns) <= 1e-6 * np.sqrt(len(columns)):
        return 0.0
    return squares(basis(columns).T @ rest)
