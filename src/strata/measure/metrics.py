"""Compute all numbers of one run: what the paper's tables and figures report, with their baselines.

No network runs here: what it answers, and how, comes from ``all_pairs``.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from pydantic import Field

from strata import monoid
from strata.architecture import architecture_of
from strata.measure import (
    accuracy,
    character_fit,
    fourier,
    heads,
    neurons,
    subspaces,
    token_fourier,
)
from strata.measure.accuracy import Accuracy, Epochs, Pairs, StayingEpochs
from strata.measure.all_pairs import AllPairs, Prompts
from strata.measure.character_fit import CharacterFit
from strata.measure.heads import HeadMetrics
from strata.measure.neurons import NeuronMetrics
from strata.measure.token_fourier import TokenOrder
from strata.measure.variance import eta_squared
from strata.params import MetricsParams
from strata.result import Result
from strata.run import Run
from strata.store import Arrays
from strata.task import AnyClass, Task, task_of


class ClassPca(Result):
    """``ClassPca`` counts components of the rows of a class for the share of variance asked for."""

    components: int
    random_mean: float
    """Of as many random residues: mean over draws."""
    random_std: float


class ClassMetrics(Result):
    """``ClassMetrics`` holds the algebra of J_d; spectrum, dimension and character fit are None for
    a class of one element."""

    d: int
    """Its label."""
    m: int | None
    """n / d; None where the task has no modulus."""
    size: int
    """Elements."""
    regular: bool
    """Whether the class is a group."""
    orders: tuple[int, ...]
    """Of its cyclic axes."""
    key: int | None = None
    """Key frequencies."""
    total: int | None = None
    """Frequencies but the constant."""
    fve: float | None = None
    """Share of the Fourier energy of the embedding at key frequencies."""
    fve_uniform: float | None = None
    """The same if energy were even: key / total."""
    enrichment: float | None = None
    """fve / fve_uniform."""
    atomic_share: float | None = None
    """Share of the energy at frequencies on a single axis."""
    atomic_uniform: float | None = None
    key_frequencies: tuple[tuple[int, ...], ...] | None = None
    """Shape (key, axes)."""
    pca: ClassPca | None = None
    character_fit: CharacterFit | None = Field(
        default=None, validation_alias="readout", serialization_alias="readout"
    )
    """In JSON `readout`."""


class MeasureLabel(NamedTuple):
    """``MeasureLabel`` says how tables name a measure: above its column, by its unit, and in a row
    over many runs, or None where it has no such row."""

    heading: str
    unit: str
    row: str | None


# Table 2 and the tables over seeds show these measures of the spectrum of a class, in this order.
SPECTRUM = {
    "fve": MeasureLabel("FVE", "share", "FVE"),
    "fve_uniform": MeasureLabel("uniform", "share", "FVE, uniform"),
    "enrichment": MeasureLabel("enrichment", "ratio", None),
    "atomic_share": MeasureLabel("atomic", "share", "atomic share"),
    "atomic_uniform": MeasureLabel("atomic, uniform", "share", "atomic, uniform"),
}


class LeadingPca(Result):
    """``LeadingPca`` is how much of the variance of the first three components labels explain."""

    classes: float
    modulo: dict[int, float]
    """By a modulo each prime power of n."""


class EmbeddingPca(Result):
    """``EmbeddingPca`` counts components of all residues for the share of variance asked for."""

    components: int
    of: int
    """min(n, d_model)."""
    fve: float
    """The share of variance that they reach."""
    share: float
    """components / of."""
    shown: LeadingPca


class Metrics(Result):
    """``Metrics`` holds all numbers of one run."""

    run: str
    n: int
    task: str | None = Field(default=None, exclude_if=lambda x: x is None)
    """What is learnt; None of multiplication modulo n."""
    seed: int | None
    """None of a model trained elsewhere that does not state it, as is all else that its training is
    needed for."""
    architecture: str
    epochs: int | None
    """Epochs trained."""
    finite: bool
    """Whether weights, logits and loss are finite."""
    generalised: bool | None
    """Whether a finite model's validation accuracy ends at metrics.accuracy or above; None where
    nothing says which pairs are validation."""
    accuracy: Accuracy
    first_099: Epochs
    epoch_099: StayingEpochs
    final_loss: float | None
    """Mean cross-entropy over the training pairs at the last epoch, in nats."""
    pairs: Pairs | None
    classes: tuple[ClassMetrics, ...]
    """Ascending in d."""
    pca: EmbeddingPca | None
    token_order: TokenOrder | None
    neurons: NeuronMetrics | None
    heads: tuple[HeadMetrics, ...]
    """Empty for the MLP-only model."""

    @property
    def order(self) -> int:
        """Return how many tokens may be a or b: n, except for another task."""
        return sum(c.size for c in self.classes)

    def of_class(self, d: int) -> ClassMetrics:
        """Return the measures of J_d. Raises StopIteration where d does not divide n."""
        return next(c for c in self.classes if c.d == d)


def run_metrics(
    run: Run,
    weights: Arrays,
    pairs: Arrays,
    history: pd.DataFrame,
    forward: AllPairs,
    params: MetricsParams,
    task: Task | None = None,
) -> Metrics:
    """Return the metrics of a run from its weights, pair table, history and forward pass.

    A run that diverged has no structure to measure; it is recorded, and answers nothing. Whether it
    generalised is not known where only some of its weights are finite, which no training leaves.
    The pair table of a model trained elsewhere may have no split, and its history no rows. Without
    a task the task is (Z_n, ·).
    """
    task = task_of(task or run.n)
    loss = float(history["loss"].iloc[-1]) if len(history) else None
    finite = forward.finite and bool(np.isfinite(weights["W_E"]).all() and np.isfinite(loss or 0))
    conclusive = finite or not any(np.isfinite(x).any() for x in weights.values())
    accuracies = accuracy.accuracy((forward.prediction == pairs["c"]) & forward.finite, pairs, task)
    if not (architecture := architecture_of(weights)).symmetric:
        accuracies, history = without_mirrors(accuracies, history)
    generalised = None
    if conclusive and accuracies.validation is not None:
        generalised = finite and accuracies.validation >= params.accuracy
    return Metrics(
        run=str(run),
        n=run.n, task=None if task is task_of(run.n) else task.name,
        seed=run.seed, architecture=architecture.name,
        finite=finite,
        generalised=generalised,
        accuracy=accuracies,
        **training_epochs(history, params.accuracy),
        final_loss=loss if finite else None,
        pairs=accuracy.counts(pairs, task.order) if "split" in pairs else None,
        **(structure(weights, forward, task, params) if finite else unmeasured(task)),
    )  # fmt: skip


def without_mirrors(accuracies: Accuracy, history: pd.DataFrame) -> tuple[Accuracy, pd.DataFrame]:
    """Remove the accuracy over mirror-free pairs: to a model that is not symmetric in its operands
    a mirror is no second sight of an example."""
    accuracies = accuracies.model_copy(update={"mirror_free": None})
    return accuracies, history.assign(mirror_free_accuracy=np.nan)


def training_epochs(history: pd.DataFrame, level: float) -> dict[str, Any]:
    """Return how long a run was trained, and when it came to a level of accuracy."""
    return {
        "epochs": len(history) or None,
        "first_099": accuracy.first_epochs(history, level),
        "epoch_099": accuracy.staying_epochs(history, level),
    }


def structure(
    weights: Arrays, forward: AllPairs, task: Task, params: MetricsParams
) -> dict[str, Any]:
    """Return what is measured of the weights and the forward pass of a run."""
    W_E, sums = weights["W_E"][: task.order], forward.logit_sums
    return {
        "classes": [class_metrics(J, task, W_E, sums.get(J.d), params) for J in task.classes],
        "pca": embedding_pca(W_E, task, params),
        "token_order": token_fourier.token_order(W_E) if task.order == task.modulus else None,
        "neurons": neurons.neuron_metrics(forward.neurons),
        "heads": heads.head_metrics(weights, forward.attention, task, params),
    }


def unmeasured(task: Task) -> dict[str, Any]:
    """Return the fields of ``structure`` for a run that diverged: the algebra of its classes."""
    missing = dict.fromkeys(("pca", "token_order", "neurons"))
    return {"classes": [algebra(J) for J in task.classes], **missing, "heads": []}


def algebra(J: AnyClass) -> ClassMetrics:
    """Return what the task alone decides about a class."""
    return ClassMetrics(d=J.d, m=J.m, size=len(J), regular=J.regular, orders=J.orders)


def class_metrics(
    J: AnyClass,
    task: Task,
    W_E: Float[np.ndarray, "n d_model"],
    prompts: Prompts | None,
    params: MetricsParams,
) -> ClassMetrics:
    """Return spectrum, dimension and character fit of a class; for equal rows algebra alone."""
    rows = W_E[J.elements]
    if prompts is None or (rows == rows[0]).all():
        return algebra(J)
    share = fourier.energy_share(rows, J.orders)
    key = fourier.key_frequencies(share, params.key_threshold)
    pca_and_fit = {
        "pca": class_pca(J, W_E, params),
        "character_fit": character_fit.character_fit(
            J, character_fit.default_pair(J.d, task), *prompts, key
        ),
    }
    return algebra(J).model_copy(update=spectrum(J, share, key) | pca_and_fit)


def spectrum(
    J: AnyClass, share: Float[np.ndarray, " size"], key: Bool[np.ndarray, " size"]
) -> dict[str, Any]:
    """Return how much of the energy of a class the key and the atomic frequencies have, and how
    much they would have if it were even."""
    total, fve, atomic = len(J) - 1, fourier.fve(share, key), fourier.atomic(J.orders)
    uniform = float(key.sum() / total)
    return {
        "key": int(key.sum()),
        "total": total,
        "fve": fve,
        "fve_uniform": uniform,
        "enrichment": fve / uniform if uniform else None,
        "atomic_share": fourier.fve(share, atomic),
        "atomic_uniform": float(atomic.sum() / total),
        "key_frequencies": tuple(map(tuple, monoid.frequencies(J.orders)[key].tolist())),
    }


def class_pca(J: AnyClass, W_E: Float[np.ndarray, "n d_model"], params: MetricsParams) -> ClassPca:
    """Count components of a class for the share of variance, and of as many random residues."""
    rng = np.random.default_rng([params.seed, len(W_E), J.d])
    random = subspaces.random_components(W_E, len(J), params.random_subsets, rng, params.variance)
    return ClassPca(
        components=subspaces.components_for(W_E[J.elements], params.variance),
        random_mean=float(random.mean()),
        random_std=float(random.std()),
    )


def embedding_pca(
    W_E: Float[np.ndarray, "n d_model"], n: Task | int, params: MetricsParams
) -> EmbeddingPca:
    """Count components of all elements for the share of variance, and return what they reach.

    ``shown`` is about the first three, which Figure 10 draws: the share of their variance that
    classes explain, and that each direct factor explains, such as a modulo each prime power of n.
    """
    task, points, limit = task_of(n), subspaces.project(W_E, 3), min(W_E.shape)
    components = subspaces.components_for(W_E, params.variance)
    return EmbeddingPca(
        components=components,
        of=limit,
        fve=float(subspaces.cumulative_variance(W_E)[components - 1]),
        share=components / limit,
        shown=LeadingPca(
            classes=eta_squared(points, task.labels),
            modulo={q: eta_squared(points, x) for q, x in task.factors.items()},
        ),
    )
