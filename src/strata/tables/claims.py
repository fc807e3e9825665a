"""The numbers of the paper's text, and those of ours that belong beside them.

Nothing is rounded here: shares are fractions, what the paper does not print is missing, a
difference is ours − paper.
"""

import math
import operator
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float

from strata.measure.accuracy import ACCURACIES, Epochs
from strata.measure.heads import HeadMetrics
from strata.measure.metrics import Metrics
from strata.measure.neurons import NeuronMetrics
from strata.params import MetricsParams, Params
from strata.tables.format import STYLES, percent
from strata.tables.printed import Printed
from strata.tables.table import Column, Record

CLAIM = ["id", "claim", "where", "unit", "relation", "paper", "ours"]
Claim = tuple[str, str, str, str, str, float | None, float | None]
BOUNDS = {"<": operator.lt, ">": operator.gt}  # relations of a claim: ours to the paper’s


def _printed(row: Record) -> str:
    """Return the paper's number, after its relation where that is a bound."""
    text = STYLES[row["unit"]](row["paper"])
    return f"{row['relation']} {text}" if row["relation"] in BOUNDS else text


COLUMNS = {
    "claim": Column("claim", "symbols", r"p{0.5\linewidth}"),
    "where": Column("where", align="l"),
    "paper": Column("paper", _printed),
    "ours": Column("ours", "unit"),
    "difference": Column("ours − paper’s", "unit difference"),
}


def by_pairs(epochs: Epochs) -> dict[str, int | None]:
    """Return the epoch of each accuracy, by the pairs that the accuracy is over."""
    return {name.replace("_", "-"): getattr(epochs, name) for name in ACCURACIES}


def text_claims(metrics: Metrics, printed: Printed, params: Params) -> pd.DataFrame:
    """Return the numbers of the paper's text, and those of ours that belong beside them, by row."""
    limit, heads = params.tables.square_free_up_to, metrics.heads
    density, paper = square_free_density(limit), printed_for(printed, metrics)
    about = f"square-free integers up to {limit:,}, and 6/π²"
    rows: list[Claim] = [
        *_accuracy_claims(metrics, paper, params.metrics),
        *_embedding_claims(metrics, paper, params.metrics),
        *(claim for h in heads[:1] for claim in _ov_claims(h, paper, params.metrics)),
        *(claim for h in heads for claim in _attention_claims(h)),
        *_block_claims(heads),
        *_neuron_claims(metrics.neurons),
        ("square-free", about, "Table 1, appendix D.2", "share", "=", 6 / math.pi**2, density),
    ]
    frame = pd.DataFrame(rows, columns=CLAIM).astype({"paper": float, "ours": float})
    return frame.assign(difference=frame["ours"] - frame["paper"])


def _accuracy_claims(
    metrics: Metrics, paper: Printed | None, params: MetricsParams
) -> Iterator[Claim]:
    squares, accuracy, beyond = metrics.order**2, metrics.accuracy, "beyond the paper"
    # The paper says complete mastery of the whole table, of the run that its numbers are about.
    theirs = paper.training.final_accuracy_on_all_pairs if paper else None
    wrong = None if theirs is None else round((1 - theirs) * squares)
    yield "accuracy-all", "accuracy on all pairs", "3.1", "share", "=", theirs, accuracy.all
    ours = round((1 - accuracy.all) * squares)
    yield "wrong", f"wrong answers among all {squares:,} pairs", "3.1", "count", "=", wrong, ours
    claim, where = "accuracy on the validation pairs", "appendix B"
    yield "accuracy-validation", claim, where, "share", "", None, accuracy.validation
    free, pairs = accuracy.mirror_free, metrics.pairs
    leak = pairs.validation_mirrored_share if pairs else None
    claim += " without a mirror in training"
    yield "accuracy-mirror-free", claim, beyond, "share", "", None, free
    claim = "validation pairs with their mirror in training"
    yield "mirrored", claim, beyond, "share", "", None, leak
    yield from _epoch_claims(metrics, f"{percent(params.accuracy)} %")


def _epoch_claims(metrics: Metrics, level: str) -> Iterator[Claim]:
    first, staying = by_pairs(metrics.first_099), by_pairs(metrics.epoch_099)
    for pairs in first:
        where = "beyond the paper" if pairs == "mirror-free" else "appendix B"
        claim = f"first epoch at which the {pairs} accuracy is {level} or more"
        yield f"first-{pairs}", claim, where, "count", "", None, first[pairs]
        claim = f"epoch from which the {pairs} accuracy stays at {level} or more"
        yield f"stays-{pairs}", claim, where, "count", "", None, staying[pairs]
    claim = f"epochs whose train accuracy falls below {level} again"
    relapses = metrics.epoch_099.train_relapses
    yield "relapses-train", claim, "beyond the paper", "count", "", None, relapses


def _embedding_claims(
    metrics: Metrics, paper: Printed | None, params: MetricsParams
) -> Iterator[Claim]:
    pca, share = metrics.pca, percent(params.variance)
    if not pca:
        return
    bound = paper.embedding_pca.share(params.variance) if paper else None
    largest = max((c.pca.components for c in metrics.classes if c.pca), default=0) / pca.of
    measure = f"share of the {pca.of} principal components for {share} % of the variance"
    claim = f"{measure}, largest over the classes"
    yield "components-classes", claim, "5.1", "share", "<", bound, largest
    yield "components-all", f"{measure}, all residues", "5.1", "share", "", None, pca.share
    if order := metrics.token_order:
        claim = "energy of the plain Fourier transform where the period is a prime power"
        yield "token-order", claim, "Figure 7", "share", "", None, order.share
        claim += ", if even"
        yield "token-order-even", claim, "Figure 7", "share", "", None, order.uniform
    measure, leading = "variance of the first three principal components", pca.shown
    claim = f"{measure}: classes explain"
    yield "shown-classes", claim, "Figure 10", "share", "", None, leading.classes
    for q, explained in leading.modulo.items() if len(leading.modulo) > 1 else ():
        claim = f"{measure}: a modulo {q} explains"
        yield f"shown-{q}", claim, "Figure 10", "share", "", None, explained


def _ov_claims(head: HeadMetrics, paper: Printed | None, params: MetricsParams) -> Iterator[Claim]:
    ov, theirs = head.ov, paper.ov_circuit_head_0 if paper else None
    share, top, beyond = percent(params.variance), params.top_singular, "beyond the paper"
    id, measure = f"head-{head.head}", f"head {head.head}, {ov.of} singular values of OV"
    count = theirs.components(params.variance) if theirs else None
    claim = f"{measure}: needed for {share} %"
    yield f"{id}-components", claim, "5.2", "count", "=", count, ov.components
    [bound] = fractions([theirs.top_percent(top) if theirs else None])
    yield f"{id}-top", f"{measure}: share of the top {top}", "5.2", "share", ">", bound, ov.top
    for d in sorted(head.alignment)[:2]:  # the paper names J_1 and J_3, its first two
        cosine, ours = params.aligned_cosine, head.alignment[d]
        measure = f"head {head.head}, directions of J{d} with a cosine ≥ {cosine:g}"
        id, where = f"head-{head.head}-J{d}", "5.2, Figure 4"
        # The paper's count is that of the read side, though its text speaks of the output.
        count = paper.principal_angles_head_0.above(cosine, d) if paper else None
        yield f"{id}-read", f"{measure}: read", where, "count", "=", count, ours.read_above
        claim = f"{measure}: read, by as many random residues"
        yield f"{id}-read-random", claim, beyond, "ratio", "", None, ours.read_random
        yield f"{id}-written", f"{measure}: written", where, "count", "", None, ours.write_above


def _attention_claims(head: HeadMetrics) -> Iterator[Claim]:
    claim, where = f"head {head.head}, attention of ‘=’ to itself", "appendix B.3"
    for name, value in (("mean", head.self_attention.mean), ("max", head.self_attention.max)):
        yield f"head-{head.head}-self-{name}", f"{claim}, {name}", where, "share", "", None, value


def _block_claims(heads: tuple[HeadMetrics, ...]) -> Iterator[Claim]:
    measure, beyond = "variance of the attention to a that class blocks explain", "beyond the paper"
    for head in heads:
        id, claim = f"head-{head.head}-blocks", f"head {head.head}, {measure}"
        yield id, claim, beyond, "share", "", None, head.block_score
    if heads:
        shuffled = max(head.block_score_shuffled.mean for head in heads)
        claim = f"{measure}, shuffled classes, largest over heads"
        yield "blocks-shuffled", claim, beyond, "share", "", None, shuffled


def _neuron_claims(neurons: NeuronMetrics | None) -> Iterator[Claim]:
    if neurons:
        measure, where = "variance of the MLP’s activations that", "Figure 11"
        claim = f"{measure} the classes of a and b explain"
        yield "neurons-classes", claim, where, "share", "", None, neurons.classes
        if len(neurons.modulo) > 1:
            claim = f"{measure} a and b explain modulo one prime power for each neuron"
            yield "neurons-one-power", claim, where, "share", "", None, neurons.one_power


def square_free_density(limit: int) -> float:
    """Return the share of square-free integers among 1 … limit, by a sieve; it tends to 6/π².

    >>> square_free_density(10)
    0.7
    """
    free = np.ones(limit, dtype=bool)
    for k in range(2, math.isqrt(limit) + 1):
        free[k * k - 1 :: k * k] = False
    return float(free.mean())


def printed_for(printed: Printed, metrics: Metrics) -> Printed | None:
    """Return what the paper prints if its numbers are about this run, or else None."""
    theirs = (printed.n, printed.seed, "transformer")
    ours = (metrics.n, metrics.seed, metrics.architecture)
    return printed if ours == theirs and metrics.task is None else None


def fractions(percents: Iterable[float | None]) -> Float[np.ndarray, " rows"]:
    """Return percentages as fractions, and NaN for None, which the paper does not print."""
    return np.round(np.array(list(percents), dtype=float) / 100, 9)
