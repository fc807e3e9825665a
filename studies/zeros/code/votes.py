"""Whether what is said inside a class is votes of primes."""

import numpy as np
from jaxtyping import Float

from strata.measure.activations import blocks
from strata.store import Arrays
from strata.task import Residues


def profile(weights: Arrays, task: Residues) -> Float[np.ndarray, "order order"]:
    """Return y(q, c): the mean over the pairs with product q of the logit of c, less its mean over
    c."""
    sums = np.zeros((task.order, task.order))
    for a, b, forward in blocks(weights, task):
        z = forward.logits.astype(np.float64)
        np.add.at(sums, task.product(a, b), z - z.mean(axis=1, keepdims=True))
    return sums / count_pairs(task)[:, None]


def count_pairs(task: Residues) -> Float[np.ndarray, " order"]:
    """Count the pairs with each product."""
    return np.bincount(task.table.ravel()).astype(np.float64)


def inside_classes(y: Float[np.ndarray, "order order"], task: Residues) -> float:
    """Return the share that votes Σ_p g_p(q mod p, c), every g_p free, explain of y(q, c), each
    less its mean over the products of the class of q. A product counts as often as there are pairs.
    """
    members = [np.equal.outer(task.modulo(p), np.arange(p)) for p in task.factors]
    columns = np.concatenate(members, axis=1).astype(np.float64)
    root = np.sqrt(count_pairs(task))[:, None]
    y, columns = (root * less_class(x, task) for x in (y, columns))
    residual = y - columns @ np.linalg.lstsq(columns, y, rcond=1e-10)[0]
    return 1 - float((residual**2).sum() / (y**2).sum())


def less_class(
    values: Float[np.ndarray, "order width"], task: Residues
) -> Float[np.ndarray, "order width"]:
    """Subtract from each row the mean of its class. A class is one of units times an element, so
    all of its products have the same number of pairs."""
    centred = np.empty_like(values)
    for J in task.classes:
        centred[J.elements] = values[J.elements] - values[J.elements].mean(axis=0)
    return centred
