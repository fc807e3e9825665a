"""Every change of the heads: patterns by blocks, circuits of low rank or projected, heads ablated.

Definitions and criteria: criteria.md, section 4.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from sympy.ntheory import factorint

from strata.measure import subspaces
from strata.measure.variance import block_means
from strata.monoid import JClass, classes
from strata.patch.ablations import Subject
from strata.patch.patching import Outcome, Rig
from strata.patch.routing import Heads, ablated
from strata.patch.scores import measures, ranges, scores
from strata.patch.specificity import key_part, row_space
from studies.interventions.code.records import Blocks, Change, Draw, HeadChange, Side

RANKS = (1, 2, 4, 8, 16)


# Projections onto and off S and, where no head is left as it is, subspaces of equal dimension.
PROJECTIONS: tuple[tuple[Side, Draw | None], ...] = (
    ("read", None), ("read", "random"), ("write", None), ("write", "random"), ("read", "spread"),
)  # fmt: skip


ONTO_OFF: tuple[Change, Change] = ("onto", "off")


def routing(subject: Subject, draws: int, rng: np.random.Generator) -> list[HeadChange]:
    """Every change of the heads, of one, of sets and of all; none for the MLP-only model."""
    if not subject.rig.attends:
        return []
    count = subject.state.attention.shape[1]
    each, every = [(h,) for h in range(count)], tuple(range(count))
    groups = each + ([every] if count > 1 else [])
    sets = [x for size in every for x in combinations(every, size + 1)]
    return [
        *(record for heads in groups for record in _patterns(subject, heads, draws, rng)),
        *(record for heads in groups for record in _circuits(subject, heads, draws, rng)),
        *(_changed(subject, "ablate", heads, ablated(subject, heads)) for heads in sets),
        *(x for heads in dict.fromkeys(((0,), every))
          for x in _residues(subject, heads, draws, rng)),
    ]  # fmt: skip


def _changed(
    subject: Subject, change: Change, heads: Heads, outcome: Outcome, **more: Any
) -> HeadChange:
    return HeadChange(change=change, heads=heads, all=measures(subject.rig, outcome), **more)


def _drawn(
    subject: Subject, change: Change, heads: Heads, outcomes: list[Outcome], **more: Any
) -> HeadChange:
    over = ranges([scores(subject.rig, x) for x in outcomes])
    return HeadChange(change=change, heads=heads, draws=over, **more)


def _patterns(
    subject: Subject, heads: Heads, draws: int, rng: np.random.Generator
) -> Iterator[HeadChange]:
    n = subject.rig.n
    mean = with_block_means(subject, heads, np.zeros(n, dtype=np.int64))
    yield _changed(subject, "pattern", heads, mean, blocks="mean")
    labels = np.gcd(np.arange(n), n)
    yield from _blocks(subject, heads, labels, ("class", "shuffled"), draws, rng)


def _residues(
    subject: Subject, heads: Heads, draws: int, rng: np.random.Generator
) -> Iterator[HeadChange]:
    """Blocks by residues modulo each prime power q of n, and by shuffled ones; not where q = n, for
    a block is then one pair."""
    n = subject.rig.n
    names: tuple[Blocks, Blocks] = ("residues", "residues shuffled")
    for q in (p**k for p, k in sorted(factorint(n).items()) if p**k < n):
        labels = np.arange(n) % q
        yield from _blocks(subject, heads, labels, names, draws, rng, modulus=q)


def _blocks(
    subject: Subject, heads: Heads, labels: Int[np.ndarray, " n"], names: tuple[Blocks, Blocks],
    draws: int, rng: np.random.Generator, **more: int,
) -> Iterator[HeadChange]:  # fmt: skip
    """Blocks by labels of the residues, and by the same ones shuffled."""
    own = with_block_means(subject, heads, labels)
    yield _changed(subject, "pattern", heads, own, blocks=names[0], **more)
    shuffled = [with_block_means(subject, heads, rng.permutation(labels)) for _ in range(draws)]
    yield _drawn(subject, "pattern", heads, shuffled, blocks=names[1], **more)


def _circuits(
    subject: Subject, heads: Heads, draws: int, rng: np.random.Generator
) -> Iterator[HeadChange]:
    """Low rank; onto and off S, on the read and on the write side, with their controls."""
    rig, S = subject.rig, class_directions(subject)
    circuits = {h: W_OV(rig, h) for h in heads}
    for rank in (r for r in RANKS if r < rig.weights["W_V"].shape[2]):
        nearest = with_OV(rig, {h: low_rank(x, rank) for h, x in circuits.items()})
        yield _changed(subject, "rank", heads, nearest, rank=rank)
    every = len(heads) == subject.state.attention.shape[1]
    for side, control in PROJECTIONS:
        if control is None:
            for change, outcome in zip(ONTO_OFF, _projected(rig, circuits, S, side), strict=True):
                yield _changed(subject, change, heads, outcome, side=side, dimension=len(S))
        elif every:
            bases = _subspaces(subject, S.shape, control, draws, rng)
            projected = (_projected(rig, circuits, x, side) for x in bases)
            for change, outcomes in zip(ONTO_OFF, zip(*projected, strict=True), strict=True):
                yield _drawn(subject, change, heads, list(outcomes), side=side, control=control)


def _subspaces(
    subject: Subject, shape: tuple[int, int], control: Draw, draws: int, rng: np.random.Generator
) -> list[Float[np.ndarray, "k d_model"]]:
    """Bases of random subspaces, or of ones that random mixtures of the embedding's rows span."""
    if control == "random":
        rows = rng.normal(size=(draws, *shape))
    else:
        W_E = subject.rows_of_W_E
        rows = rng.normal(size=(draws, shape[0], len(W_E))) @ (W_E - W_E.mean(axis=0))
    return [row_space(x) for x in rows]


def _projected(
    rig: Rig, circuits: dict[int, np.ndarray], basis: Float[np.ndarray, "k d_model"], side: Side
) -> tuple[Outcome, Outcome]:
    P = basis.T @ basis
    onto = {h: P @ x if side == "read" else x @ P for h, x in circuits.items()}
    return with_OV(rig, onto), with_OV(rig, {h: x - onto[h] for h, x in circuits.items()})


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


def W_OV(rig: Rig, h: int) -> Float[np.ndarray, "d_model d_model"]:
    """The OV circuit of a head, x ↦ x @ W_OV."""
    return subspaces.W_OV(rig.weights["W_V"][h], rig.weights["W_O"][h])
