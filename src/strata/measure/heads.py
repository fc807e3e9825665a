"""Measure each attention head of a run: its OV circuit, and what its attention pattern follows."""

import numpy as np
from jaxtyping import Float, Int

from strata.measure import subspaces
from strata.measure.variance import block_eta_squared
from strata.params import MetricsParams
from strata.result import Result
from strata.store import Arrays
from strata.task import Task, task_of


class MeanStd(Result):
    """``MeanStd`` holds mean and standard deviation over random draws."""

    mean: float
    std: float


class OvCircuit(Result):
    """``OvCircuit`` holds the squared singular values of W_OV over their sum."""

    components: int
    """Singular values for the share of variance asked for."""
    of: int
    """Singular values: min(d_model, d_head)."""
    top: float
    """Share of the leading ones, metrics.top_singular of them."""
    shares: tuple[float, ...]
    """Descending; shape (of)."""


class SelfAttention(Result):
    """``SelfAttention`` is the attention of `=` to itself, over all n² pairs."""

    mean: float
    max: float


class KindScore(MeanStd):
    """``KindScore`` is the block score over the rows of one kind of class; mean and std are over
    shuffled labels."""

    score: float


class BlockScoreByKind(Result):
    """``BlockScoreByKind`` holds block scores over the rows of regular classes and over those of
    the others."""

    regular: KindScore
    non_regular: KindScore


class Alignment(Result):
    """``Alignment`` holds cosines of the principal angles between a head and a class, descending.

    ``above`` counts those of at least metrics.aligned_cosine. ``random`` is the mean count for as
    many random residues.
    """

    read: tuple[float, ...]
    read_above: int
    read_random: float
    write: tuple[float, ...]
    write_above: int
    write_random: float


class HeadMetrics(Result):
    """``HeadMetrics`` holds the OV circuit of one head and its attention from `=`."""

    head: int
    ov: OvCircuit
    self_attention: SelfAttention
    block_score: float
    """Share of the variance of the attention to a that blocks (class of a, class of b) explain."""
    block_score_shuffled: MeanStd
    block_score_by_kind: BlockScoreByKind | None
    """None where every class is regular."""
    alignment: dict[int, Alignment]
    """By class."""


Spans = dict[int, list[Float[np.ndarray, "count d_model"]]]


def head_metrics(
    weights: Arrays,
    attention: Float[np.ndarray, "pairs n_heads 3"],
    n: Task | int,
    params: MetricsParams,
) -> tuple[HeadMetrics, ...]:
    """Measure OV circuit and attention pattern of each head; the MLP-only model has none."""
    if not attention.shape[1]:
        return ()
    task = task_of(n)
    random = random_spans(weights["W_E"][: task.order], task, params)
    return tuple(
        measure_head(h, weights, attention[:, h], task, random, params)
        for h in range(attention.shape[1])
    )


def measure_head(
    h: int,
    weights: Arrays,
    attention: Float[np.ndarray, "pairs 3"],
    task: Task,
    random: Spans,
    params: MetricsParams,
) -> HeadMetrics:
    """Measure one head: rank of W_OV, alignment with classes, attention to `=`, block structure."""
    n, labels = task.order, task.labels
    to_a, seeds = attention[:, 0].reshape(n, n), [params.seed, n, h]
    rngs = (np.random.default_rng(seeds) for _ in range(2))
    return HeadMetrics(
        head=h,
        ov=ov_circuit(weights["W_V"][h], weights["W_O"][h], params),
        self_attention=SelfAttention(
            mean=float(attention[:, 2].mean()), max=float(attention[:, 2].max())
        ),
        block_score=block_eta_squared(to_a, labels),
        block_score_shuffled=shuffled_block_score(to_a, labels, next(rngs), params.shuffles),
        block_score_by_kind=block_scores_by_kind(to_a, task, next(rngs), params.shuffles),
        alignment=alignment(h, weights, task, random, params),
    )


def shuffled_block_score(
    to_a: Float[np.ndarray, "n n"],
    labels: Int[np.ndarray, " n"],
    rng: np.random.Generator,
    shuffles: int,
) -> MeanStd:
    """Return mean and std of the block score with the labels of the elements shuffled."""
    draws = (rng.permutation(labels) for _ in range(shuffles))
    return mean_std([block_eta_squared(to_a, x) for x in draws])


def mean_std(draws: list[float]) -> MeanStd:
    """Return mean and standard deviation of a number over random draws."""
    return MeanStd(mean=float(np.mean(draws)), std=float(np.std(draws)))


def ov_circuit(
    W_V: Float[np.ndarray, "d_model d_head"],
    W_O: Float[np.ndarray, "d_head d_model"],
    params: MetricsParams,
) -> OvCircuit:
    """Return how many directions W_OV has, and what the leading ones hold."""
    shares = subspaces.ov_shares(W_V, W_O)
    return OvCircuit(
        components=subspaces.count_for(np.cumsum(shares), params.variance),
        of=len(shares),
        top=float(shares[: params.top_singular].sum()),
        shares=tuple(shares.tolist()),
    )


def random_spans(
    W_E: Float[np.ndarray, "n d_model"], n: Task | int, params: MetricsParams
) -> Spans:
    """Return the leading directions of random residues: for each class, sets of as many as it has
    elements, and as many sets as class labels are shuffled.

    The more residues a set has, the more directions of the embedding it spans, and a head reads
    directions of the embedding. So some of them are near those of a class, whatever the class is.
    """
    order = len(W_E)
    rng = np.random.default_rng([params.seed, order])
    return {
        J.d: [
            subspaces.leading(W_E[rng.choice(order, len(J), replace=False)], params.top_directions)
            for _ in range(params.shuffles)
        ]
        for J in task_of(n).classes
    }


def alignment(
    h: int, weights: Arrays, n: Task | int, random: Spans, params: MetricsParams
) -> dict[int, Alignment]:
    """Return how near directions of a head are to those of each class and of as many residues."""
    W_OV, k = subspaces.W_OV(weights["W_V"][h], weights["W_O"][h]), params.top_directions
    head, alignments = subspaces.head_directions(W_OV, k), {}
    for J in task_of(n).classes:
        measured = {}
        class_directions = subspaces.leading(weights["W_E"][J.elements], k)
        for side, directions in head._asdict().items():
            cosines = subspaces.cosines(class_directions, directions)
            drawn = [subspaces.cosines(x, directions) for x in random[J.d]]
            aligned = [int((x >= params.aligned_cosine).sum()) for x in drawn]
            measured[side] = tuple(cosines.tolist())
            measured[f"{side}_above"] = int((cosines >= params.aligned_cosine).sum())
            measured[f"{side}_random"] = float(np.mean(aligned))
        alignments[J.d] = Alignment(**measured)
    return alignments


def block_scores_by_kind(
    to_a: Float[np.ndarray, "n n"], n: Task | int, rng: np.random.Generator, shuffles: int
) -> BlockScoreByKind | None:
    """Return the block score over the rows of regular classes alone, and over those of the others.

    Beside each are mean and standard deviation with labels shuffled among these rows and among all
    columns. Returns None where every class is regular, and the score of the head is that of its
    kind.
    """
    labels, regular = task_of(n).labels, task_of(n).regular
    if regular.all():
        return None
    scores = {}
    for kind, rows in {"regular": regular, "non_regular": ~regular}.items():
        x, row_labels = to_a[rows], labels[rows]
        draws = ((rng.permutation(row_labels), rng.permutation(labels)) for _ in range(shuffles))
        random = mean_std([block_eta_squared(x, *draw) for draw in draws])
        score = block_eta_squared(x, row_labels, labels)
        scores[kind] = KindScore(score=score, mean=random.mean, std=random.std)
    return BlockScoreByKind(**scores)
