"""Metrics made by hand: numbers that are easy to follow, one instance for each part of a run."""

from typing import Any, TypeVar

from strata import monoid
from strata.measure import character_fit
from strata.measure.accuracy import Accuracy, Epochs, Pairs, StayingEpochs
from strata.measure.character_fit import CharacterFit
from strata.measure.heads import Alignment, HeadMetrics, MeanStd, OvCircuit, SelfAttention
from strata.measure.metrics import ClassMetrics, ClassPca, EmbeddingPca, Metrics, ShownPca
from strata.measure.neurons import NeuronMetrics
from strata.measure.token_fourier import TokenOrder, bands
from strata.result import Result
from strata.run import Run

R = TypeVar("R", bound=Result)


def changed(result: R, **values: Any) -> R:
    """The same with other values of some fields."""
    return type(result)(**(dict(result) | values))


def class_metrics(J: monoid.JClass) -> ClassMetrics:
    """Measures that differ from class to class; none for a class of one element."""
    algebra = ClassMetrics(d=J.d, m=J.m, size=len(J), regular=J.regular, orders=J.orders)
    if len(J) == 1:
        return algebra
    pca = ClassPca(components=min(10, len(J) - 1), random_mean=9.0, random_std=0.5)
    return changed(
        algebra, key=2, total=len(J) - 1, fve=1 - 1 / (2 * len(J)),
        fve_uniform=min(1.0, 2 / (len(J) - 1)), enrichment=None if J.d == 1 else 4.5,
        atomic_share=0.25, atomic_uniform=0.125, key_frequencies=(), pca=pca,
        character_fit=fitted(J, 1 / (1 + J.d)),
    )  # fmt: skip


def fitted(J: monoid.JClass, r2: float) -> CharacterFit:
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
    """A run that generalised; values are of fields of ``Metrics``."""
    found = Metrics(
        run=str(Run(n, seed)), n=n, seed=seed, architecture="transformer", epochs=25000,
        finite=True, generalised=True, final_loss=1e-7,
        accuracy=Accuracy(
            all=0.9999, train=1.0, validation=0.999, mirror_free=0.998,
            by_target={J.d: 1.0 for J in monoid.classes(n)}, by_operands={},
        ),
        first_099=Epochs(train=300, validation=6500, mirror_free=7000),
        epoch_099=StayingEpochs(train=400, validation=6700, mirror_free=None, train_relapses=3),
        pairs=Pairs(
            train=8168, train_distinct=7000, validation=8168, validation_mirrored_share=0.296
        ),
        classes=tuple(class_metrics(J) for J in monoid.classes(n)),
        pca=EmbeddingPca(
            components=9, of=min(n, 128), fve=0.96, share=9 / min(n, 128),
            shown=ShownPca(classes=0.01, modulo={q: q / n for q in bands(n)}),
        ),
        token_order=TokenOrder(share=0.96, uniform=0.1),
        neurons=NeuronMetrics(
            varying=512, classes=0.28, one_power=0.92, modulo=dict.fromkeys(bands(n), 0.3),
            neurons={q: 512 // q for q in bands(n)},
        ),
        heads=tuple(head_metrics(h, n) for h in range(4)),
    )  # fmt: skip
    return changed(found, **values)
