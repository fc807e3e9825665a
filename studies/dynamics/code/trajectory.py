"""The measures of a run's weights at one checkpoint, for a long table over all of them.

Definitions, and which are whose: criteria.md. Shares are fractions. What a class, a model or a
checkpoint does not have is no row.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float

from strata.measure import all_pairs, character_fit, fourier, subspaces, variance
from strata.measure.all_pairs import AllPairs
from strata.monoid import JClass, classes
from strata.patch import ablations, projections
from strata.patch.ablations import Subject
from strata.patch.patching import Rig
from strata.patch.projections import Masks
from strata.store import Arrays
from strata.task import TRAIN, VALIDATION
from studies.dynamics.code.table import Row
from studies.params import DynamicsParams


def keys(weights: Arrays, n: int, params: DynamicsParams) -> Masks:
    """The key frequencies of each class in these weights: the last ones give the final keys."""
    return projections.keys(weights["W_E"][:n], n, params.key_threshold)


def observe(
    weights: Arrays, split: Arrays, n: int, final: Masks, params: DynamicsParams
) -> list[Row]:
    """Every measure of these weights but those of ``apart``. ``split`` is the pair table, ``final``
    the final keys."""
    subject, forward = ablations.subject(weights, n, final), all_pairs.over_all_pairs(weights, n)
    rows = [*of_outcomes(subject, split), *of_heads(weights, forward, n, params)]
    rows += [*of_norms(weights)]
    rows += [x for J in classes(n) for x in of_class(J, weights, forward, final, params)]
    W_E = weights["W_E"][:n]
    components = subspaces.components_for(W_E, params.variance)
    return [*rows, Row("pca_components", "", components)]


def subsets(split: Arrays) -> dict[str, Bool[np.ndarray, " pairs"]]:
    """The ordered pairs that losses and accuracies are taken over."""
    validation = split["split"] == VALIDATION
    return {
        "all": np.ones(len(validation), dtype=bool),
        "train": split["split"] == TRAIN,
        "validation": validation,
        "mirror_free": validation & ~split["mirror_in_train"],
    }


def of_outcomes(subject: Subject, split: Arrays) -> Iterator[Row]:
    """Loss, accuracy, answers in the right class, restricted and excluded loss: over each subset,
    and there by class of ab."""
    rig = subject.rig
    spans = ablations.key_spans(rig.n, subject.masks)
    ablated = ablations.at_site("logits", subject, spans, rig.every)
    values = {
        "loss": rig.base.loss,
        "accuracy": rig.base.answer == rig.label,
        "class_accuracy": np.gcd(rig.base.answer, rig.n) == np.gcd(rig.label, rig.n),
        "restricted_loss": ablations.restricted(subject).loss,
        # A class of one element has no characters; its pairs were once left as they are.
        "restricted_loss_unaveraged": ablated["keep"].loss,
        "excluded_loss": ablated["remove"].loss,
    }
    for name, by_row in values.items():
        for subset, inside in subsets(split).items():
            yield from _means(f"{subset}_{name}", by_row, inside, rig)


def _means(
    measure: str, by_row: np.ndarray, inside: Bool[np.ndarray, " pairs"], rig: Rig
) -> Iterator[Row]:
    """The mean over the pairs inside, and over those of each target class; none of no pairs."""
    row = rig.row.ravel()
    values, target = by_row[row][inside], np.gcd(rig.label, rig.n)[row][inside]
    if len(values):
        yield Row(measure, "", float(values.mean()))
    for J in classes(rig.n):
        in_class = values[target == J.d]
        if len(in_class):
            yield Row(measure, f"J{J.d}", float(in_class.mean()))


def of_class(
    J: JClass, weights: Arrays, forward: AllPairs, final: Masks, params: DynamicsParams
) -> Iterator[Row]:
    """Spectrum, dimension and character fit of one class; nothing where its rows are all equal."""
    of, rows = f"J{J.d}", weights["W_E"][J.elements]
    if len(J) == 1 or (rows == rows[0]).all() or J.d not in final:
        return
    share = fourier.energy_share(rows, J.orders)
    current = fourier.key_frequencies(share, params.key_threshold)
    yield Row("fve", of, fourier.fve(share, final[J.d]))
    yield Row("fve_current", of, fourier.fve(share, current))
    yield Row("key_current", of, int(current.sum()))
    yield Row("key_common", of, int((current & final[J.d]).sum()))
    yield Row("atomic_share", of, fourier.fve(share, fourier.atomic(J.orders)))
    yield Row("class_components", of, subspaces.components_for(rows, params.variance))
    yield Row("gini_W_E", of, gini(norms(rows, J.orders)))
    W_L = (weights["W_out"] @ weights["W_U"][:, J.elements]).T
    yield Row("gini_W_L", of, gini(norms(W_L, J.orders)))
    pair, every = forward.logit_sums[J.d]
    if pair.squares and every.squares:
        all_frequencies = np.arange(len(J)) > 0
        yield Row("r2", of, character_fit.fit(pair, J.orders, final[J.d]).r2)
        yield Row("r2_current", of, character_fit.fit(pair, J.orders, current).r2)
        yield Row("r2_ceiling", of, character_fit.fit(pair, J.orders, all_frequencies).r2)
        yield Row("r2_all", of, character_fit.fit(every, J.orders, final[J.d]).r2)


def norms(
    x: Float[np.ndarray, "size d"], orders: tuple[int, ...]
) -> Float[np.ndarray, " frequencies"]:
    """The norm of the Fourier component at each frequency but the constant."""
    return np.sqrt(fourier.energy(x, orders)[1:])


def gini(x: Float[np.ndarray, " count"]) -> float:
    """The Gini coefficient of numbers ≥ 0: 0 where all are equal, (count − 1)/count where one has
    all, 0 where all are 0. Hurley and Rickard, Comparing Measures of Sparsity, 2009.

    >>> gini(np.array([1.0, 1.0])), gini(np.array([0.0, 0.0, 0.0, 1.0]))
    (0.0, 0.75)
    """
    ranks = 2 * np.arange(1, len(x) + 1) - len(x) - 1
    return float(ranks @ np.sort(x) / (len(x) * x.sum())) if x.any() else 0.0


def of_heads(weights: Arrays, forward: AllPairs, n: int, params: DynamicsParams) -> Iterator[Row]:
    """Rank of W_OV and block score of each head; none of the MLP-only model."""
    labels, attention = np.gcd(np.arange(n), n), forward.attention
    for h in range(attention.shape[1]):
        shares = np.cumsum(subspaces.ov_shares(weights["W_V"][h], weights["W_O"][h]))
        yield Row("ov_components", f"head {h}", subspaces.count_for(shares, params.variance))
        to_a = attention[:, h, 0].reshape(n, n)
        yield Row("block_score", f"head {h}", variance.block_eta_squared(to_a, labels))


def of_norms(weights: Arrays) -> Iterator[Row]:
    """The Frobenius norm of each tensor, and the sum of all squared weights."""
    doubles = {name: x.astype(np.float64) for name, x in weights.items()}
    squares = {name: float(np.vdot(x, x)) for name, x in doubles.items()}
    yield from (Row("norm", name, square**0.5) for name, square in squares.items())
    yield Row("sum_of_squared_weights", "", sum(squares.values()))
