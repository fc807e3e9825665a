"""What each attention head does for the answer: its pattern, its OV circuit, and its absence.

Definitions and criteria: docs/interventions.md, section 4.
"""

import numpy as np
from jaxtyping import Float, Int

from strata.measure import subspaces
from strata.measure.variance import block_means
from strata.monoid import JClass, classes
from strata.patch.ablations import Subject
from strata.patch.patching import Outcome, Rig
from strata.patch.specificity import key_part, row_space

Heads = tuple[int, ...]


def with_block_means(subject: Subject, heads: Heads, labels: Int[np.ndarray, " n"]) -> Outcome:
    """The patterns of these heads replaced by their means over (label of a, label of b)."""
    rig, pattern = subject.rig, subject.state.attention.copy()
    for h in heads:
        mean = block_means(to_first(rig, subject.state.attention[:, h]), labels)
        to_a, to_b = mean[rig.a, rig.b], mean[rig.b, rig.a]
        pattern[:, h] = np.stack([to_a, to_b, 1 - to_a - to_b], axis=1)
    return rig.with_heads(rig.weighted_values(pattern))


def to_first(rig: Rig, pattern: Float[np.ndarray, "rows 3"]) -> Float[np.ndarray, "n n"]:
    """The weight on a for every ordered pair (a, b); a row a ≤ b holds that of (b, a) as well."""
    to_a, to_b = rig.square(pattern[:, 0]), rig.square(pattern[:, 1])
    return np.where(np.tri(rig.n, dtype=bool).T, to_a, to_b)


def ablated(subject: Subject, heads: Heads) -> Outcome:
    """What these heads write replaced by its mean over all ordered pairs."""
    mix = subject.rig.weighted_values(subject.state.attention)
    for h in heads:
        mix[:, h] = mean_mix(subject.rig, mix, h)
    return subject.rig.with_heads(mix)


def mean_mix(
    rig: Rig, mix: Float[np.ndarray, "rows n_heads d_head"], h: int
) -> Float[np.ndarray, " d_head"]:
    """The mean over all ordered pairs of what a head mixes."""
    return (rig.count / rig.count.sum()) @ mix[:, h].astype(np.float64)


def W_OV(rig: Rig, h: int) -> Float[np.ndarray, "d_model d_model"]:
    """The OV circuit of a head, x ↦ x @ W_OV."""
    return subspaces.W_OV(rig.weights["W_V"][h], rig.weights["W_O"][h])


def with_OV(rig: Rig, circuits: dict[int, Float[np.ndarray, "d_model d_model"]]) -> Outcome:
    """The OV circuits of some heads replaced by others of no larger rank; their bias stays."""
    names = ("W_V", "b_V", "W_O", "b_O")
    W_V, b_V, W_O, b_O = (rig.weights[name].copy() for name in names)
    d_head = W_V.shape[2]
    for h, circuit in circuits.items():
        U, S, Vt = np.linalg.svd(circuit)
        b_O += b_V[h] @ W_O[h]  # attention sums to 1, so the bias of the values is a constant
        b_V[h] = 0
        W_V[h] = U[:, :d_head] * S[:d_head]
        W_O[h] = Vt[:d_head]
    return rig.with_weights(dict(zip(names, (W_V, b_V, W_O, b_O), strict=True)))


def low_rank(x: Float[np.ndarray, "d d"], rank: int) -> Float[np.ndarray, "d d"]:
    """The nearest matrix of that rank (Eckart and Young, 1936)."""
    U, S, Vt = np.linalg.svd(x)
    return U[:, :rank] * S[:rank] @ Vt[:rank]


def class_directions(subject: Subject) -> Float[np.ndarray, "k d_model"]:
    """A basis of S: the key parts of all classes, and their means less the mean of these."""
    n, W_E = subject.rig.n, subject.rows_of_W_E
    means = np.stack([W_E[J.elements].mean(axis=0) for J in classes(n)])
    parts = [key_part(subject, JClass(n, d), mask) for d, mask in subject.masks.items()]
    return row_space(np.concatenate([means - means.mean(axis=0), *parts]))
