"""Runs made by hand: metrics that are easy to follow, and what studies measured of them."""

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from strata import monoid
from strata.measure import character_fit
from strata.measure.accuracy import Accuracy, Epochs, Pairs, StayingEpochs
from strata.measure.character_fit import CharacterFit
from strata.measure.heads import Alignment, HeadMetrics, MeanStd, OvCircuit, SelfAttention
from strata.measure.metrics import ClassMetrics, ClassPca, EmbeddingPca, LeadingPca, Metrics
from strata.measure.neurons import NeuronMetrics
from strata.measure.token_fourier import TokenOrder, bands
from strata.result import Result
from strata.results import FAILS, HOLDS, Row
from strata.run import Run

R = TypeVar("R", bound=Result)


def changed(result: R, **values: Any) -> R:
    """Return the same result with other values of some fields."""
    return type(result)(**(dict(result) | values))


def class_metrics(J: monoid.JClass, seed: int = 1) -> ClassMetrics:
    """Return measures that differ from class to class, and in the FVE from seed to seed; a class of
    one element has none."""
    algebra = ClassMetrics(d=J.d, m=J.m, size=len(J), regular=J.regular, orders=J.orders)
    if len(J) == 1:
        return algebra
    pca = ClassPca(components=min(10, len(J) - 1), random_mean=9.0, random_std=0.5)
    return changed(
        algebra, key=2, total=len(J) - 1, fve=1 - 1 / (2 * len(J)) - (seed - 1) / 1000,
        fve_uniform=min(1.0, 2 / (len(J) - 1)), enrichment=None if J.d == 1 else 4.5,
        atomic_share=0.25, atomic_uniform=0.125, key_frequencies=(), pca=pca,
        character_fit=fit_of(J, 1 / (1 + J.d)),
    )  # fmt: skip


def fit_of(J: monoid.JClass, r2: float) -> CharacterFit:
    d = J.d
    return CharacterFit(
        pair=character_fit.default_pair(d, J.n), prompts=10 * d, largest=1.0, r2=r2, r2_ceiling=r2,
        r2_product=2 / (2 + d), r2_uniform=r2 / 2, frequencies=(), coefficients=(),
        prompts_all=30 * d, r2_all=1 / (2 + d),
    )  # fmt: skip


def head_metrics(head: int, n: int) -> HeadMetrics:
    aligned = Alignment(
        read=(), read_above=8 - head, read_random=6.5, write=(), write_above=2, write_random=0.5
    )
    return HeadMetrics(
        head=head,
        ov=OvCircuit(components=5 + head, of=32, top=0.9996, shares=()),
        self_attention=SelfAttention(mean=0.0001 * head, max=0.02),
        block_score=0.1 + 0.01 * head,
        block_score_shuffled=MeanStd(mean=0.04 - 0.001 * head, std=0.01),
        block_score_by_kind=None,
        alignment={J.d: aligned for J in monoid.classes(n)},
    )


def run_metrics(n: int = 165, seed: int = 1, **values: Any) -> Metrics:
    """Return the metrics of a run that generalised, some of which follow its seed; ``values``
    replace fields of ``Metrics``."""
    metrics = Metrics(
        run=str(Run(n, seed)), n=n, seed=seed, architecture="transformer", epochs=25000,
        finite=True, generalised=True, final_loss=1e-7,
        accuracy=Accuracy(
            all=0.9999, train=1.0, validation=0.999, mirror_free=0.998,
            by_target={J.d: 1.0 for J in monoid.classes(n)}, by_operands={},
        ),
        first_099=Epochs(train=300 * seed, validation=6500 * seed, mirror_free=7000 * seed),
        epoch_099=StayingEpochs(
            train=400 * seed, validation=6700 * seed, mirror_free=None, train_relapses=3
        ),
        pairs=Pairs(
            train=8168, train_distinct=7000, validation=8168, validation_mirrored_share=0.296
        ),
        classes=tuple(class_metrics(J, seed) for J in monoid.classes(n)),
        pca=EmbeddingPca(
            components=8 + seed, of=min(n, 128), fve=0.96, share=(8 + seed) / min(n, 128),
            shown=LeadingPca(classes=0.01, modulo={q: q / n for q in bands(n)}),
        ),
        token_order=TokenOrder(share=0.96, uniform=0.1),
        neurons=NeuronMetrics(
            varying=512, classes=0.28, one_power=0.91 + seed / 100,
            modulo=dict.fromkeys(bands(n), 0.3), neurons={q: 512 // q for q in bands(n)},
        ),
        heads=tuple(head_metrics(h, n) for h in range(4)),
    )  # fmt: skip
    return changed(metrics, **values)


NEVER = Epochs(train=None, validation=None, mirror_free=None)
DIVERGED = {
    "finite": False, "generalised": False, "pca": None, "token_order": None, "neurons": None,
    "heads": (), "first_099": NEVER, "epoch_099": StayingEpochs(**dict(NEVER), train_relapses=None),
    "accuracy": Accuracy(
        all=0.01, train=0.01, validation=0.01, mirror_free=0.01, by_target={}, by_operands={}
    ),
}  # fmt: skip

Key = tuple[int, int, str]  # n, seed, kind


class Studied(NamedTuple):
    """One run."""

    metrics: Metrics
    rows: list[Row]


def long_table(runs: Sequence[Studied]) -> pd.DataFrame:
    """Return the long table of what studies measured."""
    return pd.DataFrame([row for run in runs for row in run.rows], columns=list(Row._fields))


def studied(
    key: Key, epoch: int | None = 1000, accuracy: float = 1.0, mixes: bool = False,
    along: bool = True, fve: float = 0.0, components: int = 9, validation: float = 1.0,
    weights_seed: int | None = None, variant: str = "", L: str = "primes", E: str = "primes",
    gating: float = 1.0, first: int | None = 500,
) -> Studied:  # fmt: skip
    """Return one run with these properties planted; ``fve`` is added to that of every class."""
    n, seed, kind = key
    name = str(Run(n, seed, "mlp" if kind == "mlp" else variant, weights_seed))
    base = run_metrics(n)
    assert base.pca
    metrics = changed(
        base, run=name, n=n, seed=seed, architecture=kind,
        generalised=validation >= 0.99, pca=changed(base.pca, components=components),
        first_099=changed(base.first_099, validation=first),
        epoch_099=changed(base.epoch_099, validation=epoch),
        accuracy=changed(base.accuracy, all=accuracy, validation=validation),
        classes=tuple(changed(c, fve=c.fve + fve) if c.fve else c for c in base.classes),
    )  # fmt: skip
    several_powers = base.neurons and len(base.neurons.modulo) > 1
    verdicts = {"mixing": HOLDS if mixes else FAILS, "logits": L, "embedding": E}
    rows = [Row(name, id, f"{id}: a sentence", verdict=x if several_powers else "")
            for id, x in verdicts.items()]  # fmt: skip
    rows.append(Row(name, "gating", "gating γ", "", "index", gating if several_powers else nan))
    rows.append(Row(name, "directions", "go with primes", verdict=HOLDS if along else FAILS))
    return Studied(metrics, rows)
