"""The embedding of one run under the two accounts: criteria-primes.md, section 2."""

from typing import Any, NamedTuple

import numpy as np

from strata.architecture import architecture_of
from strata.patch import patching, projections
from strata.patch.patching import Rig
from strata.run import Run
from strata.store import Arrays
from studies.mechanism.code import keep, transport
from studies.mechanism.code.records import Change, Embedding, EmbeddingVerdict, KeyKept, MainEffects
from studies.params import EmbeddingLevels, EmbeddingParams


def measure(
    run: Run,
    weights: Arrays,
    params: EmbeddingParams,
    threshold: float,
    key: Arrays | None = None,
) -> Embedding:
    """All of section 2 on a run. ``threshold`` is that of its key frequencies, which are those of
    its own embedding or of that in the weights ``key``."""
    about: dict[str, Any] = {"run": str(run), "n": run.n, "seed": run.seed}
    about |= {"architecture": architecture_of(weights).name}
    if not all(np.isfinite(x).all() for x in weights.values()):
        return Embedding(**about, finite=False)
    rig = patching.rig(weights, run.n)
    masks = projections.keys((key or weights)["W_E"][: run.n], run.n, threshold)
    found = _causal(rig, masks, params)
    return Embedding(
        **about,
        finite=True,
        E=verdict(params.levels, **{name: found[name] for name in VOTES}),
        base=keep.effect(rig, rig.base),
        **found,
    )


class Account(NamedTuple):
    """The account that a verdict on the embedding is for, and of strata whether classes have
    coordinates of their own."""

    account: str
    coordinates: str = ""


ACCOUNTS: dict[EmbeddingVerdict, Account] = {
    "primes": Account("primes"),
    "strata, shared coordinates": Account("strata", "shared"),
    "strata, own coordinates": Account("strata", "own"),
    "neither": Account("neither"),
    "between": Account("between"),
}
VOTES = ("main_effects", "key_kept", "within", "crossing")


def _causal(rig: Rig, masks: projections.Masks, params: EmbeddingParams) -> dict[str, Any]:
    """What the verdict rests on. Each test has draws of its own."""

    def rng(test: int) -> np.random.Generator:
        return np.random.default_rng([params.seed, rig.n, test])

    kinds = transport.changes(rig, params.residues, params.seed)
    return {
        "main_effects": keep.main_effects(rig, params.draws, rng(2)),
        "key_kept": keep.key_kept(rig, masks, params.draws, rng(1)),
        "within": transport.within(kinds),
        "crossing": transport.crossing(kinds),
        "changes": tuple(kinds),
    }


def succeeds(change: Change, levels: EmbeddingLevels) -> bool:
    """Whether nearly all trials give a′b, far more than by chance or by a random direction."""
    against = max(change.chance, change.random)
    return change.success >= levels.succeeds and change.success - against >= levels.differ


def key_suffices(kept: KeyKept, levels: EmbeddingLevels) -> bool:
    """Whether *keep at the embedding, all classes* passes with its controls."""
    if kept.skill is None or kept.highest is None:
        return False
    return kept.skill >= levels.intact and kept.skill - kept.highest >= levels.differ


def sum_counts(effects: MainEffects, levels: EmbeddingLevels) -> bool:
    """Whether the main effects alone answer far more than those of permuted residues."""
    skill, highest = effects.keep.skill, effects.keep_permuted.skill.high
    return skill is not None and highest is not None and skill - highest >= levels.differ


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
    kept = main_effects.keep.kept
    if inside and across and kept > levels.kept_least and sum_counts(main_effects, levels):
        return "primes"
    if inside and no_across and kept < levels.kept_whole:
        return "strata, shared coordinates"
    if no_inside and no_across and not key_suffices(key_kept, levels):
        return "neither"
    if no_inside and no_across and kept < levels.kept_whole:
        return "strata, own coordinates"
    return "between"
