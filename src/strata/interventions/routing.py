"""What each attention head does for the answer: its pattern, its OV circuit, and its absence.

Definitions and criteria: docs/interventions.md, section 4.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from strata.analysis import subspaces
from strata.analysis.variance import block_means
from strata.interventions import ablations, outcomes, patching
from strata.interventions.ablations import Subject
from strata.interventions.outcomes import Outcome
from strata.interventions.patching import Rig
from strata.monoid import JClass, classes

Json = dict[str, Any]
RANKS = (1, 2, 4, 8, 16)


def routing(it: Subject, draws: int, rng: np.random.Generator) -> list[Json]:
    """Every change of the heads, of one, of pairs and of all; none for the MLP-only model."""
    if not it.rig.attends:
        return []
    count = it.state.attention.shape[1]
    each, every = [(h,) for h in range(count)], tuple(range(count))
    groups = each + ([every] if count > 1 else [])
    pairs = list(combinations(range(count), 2)) if count > 2 else []
    return [
        *(record for heads in groups for record in _patterns(it, heads, draws, rng)),
        *(record for heads in groups for record in _circuits(it, heads, draws, rng)),
        *(_record("ablate", heads, it, ablated(it, heads)) for heads in [*each, *pairs, every]),
    ]


def _record(change: str, heads: tuple[int, ...], it: Subject, found: Outcome, **more: Any) -> Json:
    return {"change": change, "heads": list(heads), **more, "all": patching.measures(it.rig, found)}


def _draws(change: str, heads: tuple[int, ...], it: Subject, found: list[Outcome]) -> Json:
    drawn = outcomes.interval([patching.brief(it.rig, x) for x in found])
    return {"change": change, "heads": list(heads), "draws": drawn}


def _patterns(
    it: Subject, heads: tuple[int, ...], draws: int, rng: np.random.Generator
) -> Iterator[Json]:
    n = it.rig.n
    labels, one = np.gcd(np.arange(n), n), np.zeros(n, dtype=np.int64)
    yield _record("pattern, mean", heads, it, with_block_means(it, heads, one))
    yield _record("pattern, class", heads, it, with_block_means(it, heads, labels))
    shuffled = [with_block_means(it, heads, rng.permutation(labels)) for _ in range(draws)]
    yield _draws("pattern, shuffled", heads, it, shuffled)


def with_block_means(it: Subject, heads: tuple[int, ...], labels: Int[np.ndarray, " n"]) -> Outcome:
    """The patterns of these heads replaced by their means over (label of a, label of b)."""
    rig, pattern = it.rig, it.state.attention.copy()
    for h in heads:
        mean = block_means(to_first(rig, it.state.attention[:, h]), labels)
        to_a, to_b = mean[rig.a, rig.b], mean[rig.b, rig.a]
        pattern[:, h] = np.stack([to_a, to_b, 1 - to_a - to_b], axis=1)
    return rig.with_heads(rig.mixed(pattern))


def to_first(rig: Rig, pattern: Float[np.ndarray, "rows 3"]) -> Float[np.ndarray, "n n"]:
    """The weight on a for every ordered pair (a, b); a row a ≤ b holds that of (b, a) as well."""
    to_a, to_b = rig.square(pattern[:, 0]), rig.square(pattern[:, 1])
    return np.where(np.tri(rig.n, dtype=bool).T, to_a, to_b)


def ablated(it: Subject, heads: tuple[int, ...]) -> Outcome:
    """What these heads write replaced by its mean over all ordered pairs."""
    rig = it.rig
    mix, weight = rig.mixed(it.state.attention), rig.count / rig.count.sum()
    for h in heads:
        mix[:, h] = weight @ mix[:, h].astype(np.float64)
    return rig.with_heads(mix)


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


def class_directions(it: Subject) -> Float[np.ndarray, "k d_model"]:
    """A basis of S: the key parts of all classes, and their means less the mean of these."""
    means = np.stack([it.rows_of_W_E[J.elements].mean(axis=0) for J in classes(it.rig.n)])
    parts = [ablations.key_part(it, JClass(it.rig.n, d), mask) for d, mask in it.masks.items()]
    return ablations.row_space(np.concatenate([means - means.mean(axis=0), *parts]))


def _circuits(
    it: Subject, heads: tuple[int, ...], draws: int, rng: np.random.Generator
) -> Iterator[Json]:
    """Low rank; onto and off S, on the read and on the write side, with random subspaces; on the
    read side also with random subspaces of what the embedding spreads over."""
    rig, full = it.rig, {h: W_OV(it.rig, h) for h in heads}
    for rank in (r for r in RANKS if r < rig.weights["W_V"].shape[2]):
        found = with_OV(rig, {h: low_rank(x, rank) for h, x in full.items()})
        yield _record("rank", heads, it, found, rank=rank)
    basis = class_directions(it)
    for side in ("read", "write"):
        for change, found in zip(("onto", "off"), _projected(rig, full, basis, side), strict=True):
            yield _record(f"{change}, {side}", heads, it, found, dimension=len(basis))
        if len(heads) > 1 or len(it.state.attention[0]) == 1:
            shape = (draws, *basis.shape)
            drawn = [
                _projected(rig, full, ablations.row_space(x), side) for x in rng.normal(size=shape)
            ]
            for change, found in zip(("onto", "off"), zip(*drawn, strict=True), strict=True):
                yield _draws(f"random {change}, {side}", heads, it, list(found))
    if len(heads) > 1 or len(it.state.attention[0]) == 1:
        deviations = it.rows_of_W_E - it.rows_of_W_E.mean(axis=0)
        mixes = rng.normal(size=(draws, len(basis), rig.n)) @ deviations
        drawn = [_projected(rig, full, ablations.row_space(x), "read") for x in mixes]
        for change, found in zip(("onto", "off"), zip(*drawn, strict=True), strict=True):
            yield _draws(f"spread {change}, read", heads, it, list(found))


def _projected(
    rig: Rig, full: dict[int, np.ndarray], basis: Float[np.ndarray, "k d_model"], side: str
) -> tuple[Outcome, Outcome]:
    P = basis.T @ basis
    onto = {h: P @ x if side == "read" else x @ P for h, x in full.items()}
    return with_OV(rig, onto), with_OV(rig, {h: x - onto[h] for h, x in full.items()})
