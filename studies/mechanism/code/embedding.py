"""The embedding of one run under the two accounts: criteria-primes.md, section 2."""

from typing import Any

import numpy as np
from jaxtyping import Float

from strata.architecture import architecture_of
from strata.monoid import classes, prime_powers
from strata.patch import patching, projections
from strata.patch.ablations import key_spans, with_embedding
from strata.patch.patching import Outcome, Rig
from strata.patch.projections import Masks, control_spans
from strata.patch.scores import draw_range, scores, short
from strata.run import Run
from strata.store import Arrays
from studies.mechanism.code import main_effects as effects
from studies.mechanism.code import transport
from studies.mechanism.code.dictionary import basis, energy
from studies.mechanism.code.records import Change, Embedding, EmbeddingVerdict, KeyKept, MainEffects
from studies.params import EmbeddingLevels, EmbeddingSettings


def measure(
    run: Run, weights: Arrays, settings: EmbeddingSettings, key: Arrays | None = None
) -> Embedding:
    """All of section 2 on a run. Its key frequencies are those of its own embedding or of that in
    the weights ``key``."""
    about: dict[str, Any] = {"run": str(run), "n": run.n}
    about |= {"architecture": architecture_of(weights).name}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return Embedding(**about, finite=False)
    rig = patching.rig(weights, run.n)
    masks = projections.keys((key or weights)["W_E"][: run.n], run.n, settings.key_threshold)
    # Each test has draws of its own.
    of_key, of_effects = (np.random.default_rng([settings.seed, run.n, i]) for i in (1, 2))
    within, crossing = transport.changes(rig, settings.residues, settings.seed)
    found = {
        "main_effects": main_effects(rig, settings.draws, of_effects),
        "key_kept": key_kept(rig, masks, settings.draws, of_key),
        "within": within,
        "crossing": crossing,
    }
    return Embedding(**about, finite=True, E=verdict(settings.levels, **found), **found)


def main_effects(rig: Rig, draws: int, rng: np.random.Generator) -> MainEffects:
    """Main effects kept alone and removed, with controls of their rank and energy."""
    n, rows = rig.n, rig.weights["W_E"][: rig.n].astype(np.float64)
    less, table = effects.deviations(rows), effects.additive(rows)
    left, rank = less - table, basis(table).shape[1]
    components = basis(less)[:, :rank]
    permuted = [effects.permuted(rows, rng) for _ in range(draws)]
    alone = put(rig, table)

    def skill(x: Float[np.ndarray, "n d_model"]) -> float | None:
        return scores(rig, put(rig, x)).skill

    return MainEffects(
        share=rounded(effects.share(rows)),
        eta={Q: rounded(effects.shared_directions(rows, Q)) for Q in prime_powers(n)},
        kept=min(scores(rig, alone, rig.operand_in(J.d)).accuracy for J in classes(n)),
        keep=skill(table),
        keep_permuted=draw_range(skill(scaled(x, table)) for x in permuted).high,
        keep_components=skill(components @ (components.T @ less)),
        remove=skill(left),
        remove_shrunk=skill(scaled(less, left)),
    )


def rounded(x: float | None) -> float | None:
    return None if x is None else short(x)


def put(rig: Rig, x: Float[np.ndarray, "n d_model"]) -> Outcome:
    """What the network answers with these deviations from the mean row in the place of its own."""
    W_E = rig.weights["W_E"]
    rows = W_E[: rig.n].mean(axis=0, dtype=np.float64) + x
    return with_embedding(rig, rows.astype(W_E.dtype))


def scaled(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """x with the energy of another table; 0 stays 0."""
    return x * np.sqrt(energy(like) / (energy(x) or 1))


def key_kept(rig: Rig, masks: Masks, draws: int, rng: np.random.Generator) -> KeyKept:
    """Keep at the embedding, all classes at once, as studies/interventions/criteria.md defines it.

    It has controls where some class has key characters and others.
    """
    rows = rig.weights["W_E"][: rig.n]

    def skill(spans: projections.Spans) -> float | None:
        return scores(rig, with_embedding(rig, projections.split(rows, spans, rig.n).keep)).skill

    known: list[float | None] = []
    if any(0 < mask.sum() < len(mask) - 1 for mask in masks.values()):
        for _ in range(draws):
            known += [skill(spans) for spans in control_spans(rig.n, masks, rng).values()]
    return KeyKept(skill=skill(key_spans(rig.n, masks)), highest=draw_range(known).high)


def exceeds(x: float | None, control: float | None, differ: float, least: float = -np.inf) -> bool:
    """Whether a number, of which there are controls, is far above the highest, and high enough."""
    return x is not None and control is not None and x >= least and x - control >= differ


def succeeds(change: Change, levels: EmbeddingLevels) -> bool:
    """Whether nearly all trials give a′b, far more than by chance or by a random direction."""
    against = max(change.chance, change.random)
    return exceeds(change.success, against, levels.differ, levels.succeeds)


def verdict(
    levels: EmbeddingLevels,
    main_effects: MainEffects,
    key_kept: KeyKept,
    within: Change | None,
    crossing: Change | None,
) -> EmbeddingVerdict | None:
    """E, by the levels given; None where no change could be tried, as for a prime power."""
    if within is None or crossing is None:
        return None
    inside, across = succeeds(within, levels), succeeds(crossing, levels)
    no_inside, no_across = (x.success <= levels.fails for x in (within, crossing))
    kept = main_effects.kept
    counts = exceeds(main_effects.keep, main_effects.keep_permuted, levels.differ)
    suffice = exceeds(key_kept.skill, key_kept.highest, levels.differ, levels.intact)
    if inside and across and kept > levels.kept_least and counts:
        return "primes"
    if inside and no_across and kept < levels.kept_whole:
        return "strata, shared coordinates"
    if no_inside and no_across and not suffice:
        return "neither"
    if no_inside and no_across and kept < levels.kept_whole:
        return "strata, own coordinates"
    return "between"
