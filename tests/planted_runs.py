"""Results of runs in which the answer is planted, one instance for all that is known of a run."""

from functools import cache
from typing import Any

import numpy as np
from handmade import changed, run_metrics
from planted_logits import (
    ACCOUNTS,
    prime_table,
    prime_waves,
    profiles,
    recorded,
    scaled,
    shared_keys,
)

from strata.patch.scores import Measures, OperandScores, Scores
from strata.run import Run
from studies.interventions.code.records import Interventions, Specificity
from studies.mechanism.code.records import Embedding, EmbeddingVerdict, Logits
from studies.mechanism.code.study import Case, Choice
from studies.seeds.code.beside_seeds import Studied

CHOICE = Choice(ACCOUNTS.levels, 0.99)
Key = tuple[int, int, str]  # n, seed, kind


@cache
def logits() -> Logits:
    rng = np.random.default_rng(0)
    y = scaled(prime_table(35, rng), prime_waves(35, rng))
    return recorded(profiles(y), shared_keys(35))


def changes(about: dict[str, Any], along: bool) -> Interventions:
    """One axis removed: the pairs that have it break, all others are intact or not."""

    def scores(skill: float) -> Scores:
        return Scores(loss=0.0, accuracy=skill, margin=1.0, skill=skill)

    every = Measures(
        **dict(scores(1.0)), class_accuracy=1.0, modulo={}, by_target={},
        by_operands=OperandScores(loss=(), accuracy=()),
    )  # fmt: skip
    spared = scores(1.0 if along else 0.5)
    axis = Specificity(
        d=1, axis=5, dimension=1, random={}, all=every,
        regions={"own": scores(0.0), "shared": scores(0.0), "spared": spared},
    )  # fmt: skip
    return Interventions(**about, classes=(), draws=1, finite=True, base=every, specificity=(axis,))


def studied(
    key: Key, epoch: int | None = 1000, accuracy: float = 1.0, mixes: bool = False,
    along: bool = True, fve: float = 0.0, components: int = 9, validation: float = 1.0,
    weights_seed: int = -1, variant: str = "", L: str = "primes",
    E: EmbeddingVerdict = "primes",
) -> Studied:  # fmt: skip
    """One run in which this is planted; ``fve`` is added to that of every class, L is primes or
    between."""
    n, seed, kind = key
    name = str(Run(n, seed, "mlp" if kind == "mlp" else variant, weights_seed))
    about: dict[str, Any] = {"run": name, "n": n, "seed": seed, "architecture": kind}
    made = run_metrics(n, seed)
    assert made.pca
    metrics = changed(
        made, **about, pca=changed(made.pca, components=components),
        epoch_099=changed(made.epoch_099, validation=epoch),
        accuracy=changed(made.accuracy, all=accuracy, validation=validation),
        classes=tuple(changed(c, fve=c.fve + fve) if c.fve else c for c in made.classes),
    )  # fmt: skip
    at = logits().at[0].model_copy(update={"mixed": int(mixes)})
    if L == "between":  # without a character no gating says primes
        at = at.model_copy(update={"characters": ()})
    of = {name: about[name] for name in ("run", "n", "architecture")}
    own = logits().model_copy(update=of | {"at": (at,)})
    case = Case(own, Embedding(**about, finite=True, E=E), metrics)
    return Studied(case, changes(about, along))
