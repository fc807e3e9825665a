"""Whether classes are apart in the embedding during training, and in what training has added to it.

The initial weights decay while classes form, so a share of the variance of W_E(t) rises late
however early the classes are there. Definitions: criteria.md.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from strata.monoid import classes
from strata.patch import specificity
from strata.run import TrainParams
from strata.statistics import folds
from studies.dynamics.code.table import Row

FOLDS, SHUFFLES, SEED = 5, 100, 0  # studies/mechanism/criteria-primes.md, sections 1.2 and 3.5
Rows = Float[np.ndarray, "n d_model"]


def observe(W_E: Rows, first: Rows, epoch: int, train: TrainParams) -> Iterator[Row]:
    """The measures of the residues' embedding after that many epochs; ``first`` is that before
    training."""
    yield Row("class_share", "", class_share(W_E))
    if epoch:
        yield Row("class_share_added", "", class_share(added(W_E, first, epoch, train)))
    accuracy, shuffled = probe(W_E.astype(np.float64))
    yield Row("probe", "", accuracy)
    yield Row("probe_shuffled", "", float(shuffled.mean()))
    yield Row("probe_shuffled_high", "", float(shuffled.max()))


def class_share(W_E: Rows) -> float:
    """Share of the variance of the residues' embeddings that lies between the means of classes."""
    total = W_E - W_E.mean(axis=0, dtype=np.float64)
    inside = specificity.deviations(W_E, len(W_E))
    return 1 - float(np.vdot(inside, inside) / np.vdot(total, total))


def added(W_E: Rows, first: Rows, epoch: int, train: TrainParams) -> Rows:
    """G(t) = W_E(t) − (1 − lr·wd)^t W_E(0): what the steps along gradients have added, as the decay
    of AdamW is decoupled from them. Loshchilov and Hutter, Decoupled Weight Decay Regularization,
    2019."""
    fade = (1 - train.lr * train.weight_decay) ** epoch
    return W_E.astype(np.float64) - fade * first.astype(np.float64)


def probe(W_E: Rows) -> tuple[float, Float[np.ndarray, " shuffles"]]:
    """Balanced accuracy of the nearest class mean on residues that it has not seen, in five folds;
    and the same where the rows are shuffled among the residues."""
    n, rng = len(W_E), np.random.default_rng(SEED)
    label = np.searchsorted([J.d for J in classes(n)], np.gcd(np.arange(n), n))
    fold = folds(n, SEED, FOLDS)
    drawn = [_balanced(W_E[rng.permutation(n)], label, fold) for _ in range(SHUFFLES)]
    return _balanced(W_E, label, fold), np.array(drawn)


def _balanced(W_E: Rows, label: Int[np.ndarray, " n"], fold: Int[np.ndarray, " n"]) -> float:
    """The mean over classes of two elements or more of the share that is put to its class; a class
    of one has a mean in every fold."""
    right = np.zeros(len(W_E), dtype=bool)
    for i in range(fold.max() + 1):
        here, member = fold == i, np.eye(label.max() + 1)[:, label] * (fold != i)
        count = member.sum(axis=1, keepdims=True)
        means = member @ W_E / np.maximum(count, 1)
        apart = (means**2).sum(axis=1) - 2 * W_E[here] @ means.T  # less the square of the row
        apart[:, count[:, 0] == 0] = np.inf
        right[here] = apart.argmin(axis=1) == label[here]
    scored = fold >= 0
    hits, of = (np.bincount(label[x], minlength=label.max() + 1) for x in (scored & right, scored))
    return float((hits[of > 0] / of[of > 0]).mean())
