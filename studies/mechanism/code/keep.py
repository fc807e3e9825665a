"""Main effects of the embedding kept alone and removed, with controls of their rank and energy.

Definitions: criteria-primes.md, section 2.2.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from jaxtyping import Float

from strata.monoid import classes, prime_powers
from strata.patch import projections
from strata.patch.ablations import key_spans, with_embedding
from strata.patch.patching import Outcome, Rig
from strata.patch.projections import Masks, Spans, control_spans
from strata.patch.scores import (
    always_zero,
    class_known,
    draw_range,
    scores,
    short,
)
from strata.statistics import above_chance
from studies.mechanism.code.main_effects import (
    additive,
    deviations,
    effects,
    energy,
    functions,
    permuted,
    share,
    shared_directions,
)
from studies.mechanism.code.records import Draws, Effect, KeyKept, MainEffects


def effect(rig: Rig, outcome: Outcome) -> Effect:
    """What an outcome is over all pairs, class by class and modulo each prime power."""
    n, powers = rig.n, prime_powers(rig.n)
    members = [np.gcd(np.arange(n), n) == J.d for J in classes(n)]
    chance = float(np.average(rig.chance, weights=rig.count))

    def skills(chance: Callable[[int], float]) -> dict[int, float | None]:
        return {Q: _rounded(above_chance(agrees[Q], chance(Q))) for Q in powers}

    less = outcome.answer - rig.label
    agrees = {Q: float(np.average(less % Q == 0, weights=rig.count)) for Q in powers}
    right = rig.square(less == 0)
    return Effect(
        accuracy=short(right.mean()),
        skill=_rounded(above_chance(float(right.mean()), chance)),
        kept=short(min(right[own[:, None] | own].mean() for own in members)),
        modulo=skills(class_known),
        modulo_zero=skills(always_zero),
    )


def _rounded(x: float | None) -> float | None:
    return None if x is None else short(x)


def main_effects(rig: Rig, draws: int, rng: np.random.Generator) -> MainEffects:
    """Shares and directions of the main effects, and what the network answers with and without."""
    n, rows = rig.n, rig.weights["W_E"][: rig.n].astype(np.float64)
    less, table, powers = deviations(rows), additive(rows), prime_powers(rig.n)
    space = functions(table)
    components = functions(less)[:, : space.shape[1]]
    return MainEffects(
        share=_rounded(share(rows)),
        random_share=short(sum(Q - 1 for Q in powers) / (n - 1)),
        rank=space.shape[1],
        eta={Q: _rounded(shared_directions(rows, Q)) for Q in powers},
        keep_components=_put(rig, components @ (components.T @ less)),
        overlap=_rounded(_overlap(space, components)),
        remove_one={Q: _put(rig, less - effects(rows, Q)[np.arange(n) % Q]) for Q in powers},
        **_with_and_without(rig, less, table, [permuted(rows, rng) for _ in range(draws)]),
    )


def _with_and_without(
    rig: Rig, less: np.ndarray, table: np.ndarray, others: list[np.ndarray]
) -> dict[str, Any]:
    """Keep and remove of the sum of main effects, a table, and of those of permutations."""
    left = less - table
    return {
        "keep": _put(rig, table),
        "keep_permuted": _drawn(_put(rig, _scaled(x, table)) for x in others),
        "remove": _put(rig, left),
        "remove_shrunk": _put(rig, _scaled(less, left)),
        "remove_permuted": _drawn(_put(rig, _scaled(less - x, left)) for x in others),
    }


def _put(rig: Rig, x: Float[np.ndarray, "n d_model"]) -> Effect:
    """What the network answers with these deviations from the mean row in the place of its own."""
    W_E = rig.weights["W_E"]
    rows = W_E[: rig.n].mean(axis=0, dtype=np.float64) + x
    return effect(rig, with_embedding(rig, rows.astype(W_E.dtype)))


def _scaled(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """x with the energy of another table; 0 stays 0."""
    return x * np.sqrt(energy(like) / (energy(x) or 1))


def _overlap(one: Float[np.ndarray, "n k"], other: Float[np.ndarray, "n k"]) -> float | None:
    """tr(P P′)/k of the projections onto two spaces; None where they are of dimension 0."""
    return energy(one.T @ other) / one.shape[1] if one.shape[1] else None


def _drawn(effects: Iterable[Effect]) -> Draws:
    found = list(effects)
    return Draws(skill=draw_range(x.skill for x in found), kept=draw_range(x.kept for x in found))


def key_kept(rig: Rig, masks: Masks, draws: int, rng: np.random.Generator) -> KeyKept:
    """Keep at the embedding, all classes at once, as studies/interventions/criteria.md defines it.

    It has controls where some class has key characters and others.
    """
    rows = rig.weights["W_E"][: rig.n]

    def skill(spans: Spans) -> float | None:
        return scores(rig, with_embedding(rig, projections.split(rows, spans, rig.n).keep)).skill

    known: list[float | None] = []
    if any(0 < mask.sum() < len(mask) - 1 for mask in masks.values()):
        for _ in range(draws):
            known += [skill(spans) for spans in control_spans(rig.n, masks, rng).values()]
    return KeyKept(skill=skill(key_spans(rig.n, masks)), highest=draw_range(known).high)
