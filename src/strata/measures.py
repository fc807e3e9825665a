"""All numbers of one run: what the paper's tables and figures report, and the baselines beside
them.

Shares are fractions. A measure that a class or an architecture does not have is None.
"""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from strata import fourier, monoid, readout, subspaces
from strata.activations import blocks
from strata.monoid import JClass, classes
from strata.params import MetricsParams
from strata.run import Run
from strata.store import Arrays
from strata.task import TRAIN, VALIDATION

Measures = dict[str, Any]


def measure(
    run: Run, weights: Arrays, split: Arrays, history: pd.DataFrame, params: MetricsParams
) -> Measures:
    """The metrics of a run from its weights, its pair table and its history."""
    n = run.n
    W_E = weights["W_E"][:n]
    logits, attention = outputs(weights, n)
    right = logits.argmax(axis=1) == split["c"]
    # A run that diverged has no structure to measure; it is recorded, with its accuracy.
    loss = float(history["loss"].iloc[-1])
    finite = bool(np.isfinite(logits).all() and np.isfinite(W_E).all() and np.isfinite(loss))
    accuracies = accuracy(right, split, n)
    return {
        "run": str(run),
        "n": n,
        "seed": run.seed,
        "architecture": run.architecture,
        "epochs": len(history),
        "finite": finite,
        "generalised": bool(accuracies["validation"] >= params.accuracy),
        "accuracy": accuracies,
        "epoch_099": epochs_to(history, params.accuracy),
        "final_loss": loss if finite else None,
        "pairs": counts(split, n),
        "classes": [
            class_measures(J, W_E, logits, n, params) if finite else algebra(J) for J in classes(n)
        ],
        "pca": embedding_pca(W_E, params) if finite else None,
        "heads": heads(weights, attention, n, params) if finite else [],
    }


def outputs(weights: Arrays, n: int) -> tuple[Float[np.ndarray, "pairs n"], np.ndarray]:
    """Logits (pairs, n) and attention (pairs, n_heads, 3) over all pairs, block by block."""
    parts = [(found.logits.numpy(), found.attention.numpy()) for _, _, found in blocks(weights, n)]
    logits, attention = zip(*parts, strict=True)
    return np.concatenate(logits), np.concatenate(attention)


def accuracy(right: Bool[np.ndarray, " pairs"], split: Arrays, n: int) -> Measures:
    """Shares of right answers: over all pairs, by split, by class of ab, by classes of a and b."""
    validation = split["split"] == VALIDATION
    free = right[validation & ~split["mirror_in_train"]]
    return {
        "all": float(right.mean()),
        "train": float(right[split["split"] == TRAIN].mean()),
        "validation": float(right[validation].mean()),
        "mirror_free": float(free.mean()) if len(free) else None,
        "by_target": {str(J.d): float(right[split["class_c"] == J.d].mean()) for J in classes(n)},
        "by_operands": {
            f"{J.d}x{K.d}": float(right.reshape(n, n)[np.ix_(J.elements, K.elements)].mean())
            for J, K in product(classes(n), repeat=2)
        },
    }


def epochs_to(history: pd.DataFrame, level: float) -> dict[str, int | None]:
    """The first validated epoch from which each accuracy is at least ``level`` at every later one.

    Full-batch AdamW leaves the minimum now and then for a few epochs, so beside it: how many epochs
    fall below the level in training after it was first reached, ``train_relapses``.
    """
    names = ("train", "validation", "mirror_free")
    validated = history.dropna(subset=["validation_accuracy"])
    found = {name: reached(validated, f"{name}_accuracy", level) for name in names}
    below = history["train_accuracy"].to_numpy() < level
    relapses = int(below[np.argmin(below) :].sum()) if not below.all() else None
    return found | {"train_relapses": relapses}


def reached(history: pd.DataFrame, column: str, level: float) -> int | None:
    """The first epoch from which the accuracy stays at the level; None where there is none."""
    known = history.loc[history[column].notna(), ["epoch", column]]
    below = np.flatnonzero(known[column] < level)
    first = below[-1] + 1 if len(below) else 0
    return int(known["epoch"].iloc[first]) if first < len(known) else None


def counts(split: Arrays, n: int) -> Measures:
    """Sizes of the split, and the share of validation pairs whose mirror is a training pair."""
    train, validation = (split["split"] == name for name in (TRAIN, VALIDATION))
    a, b = split["a"][train], split["b"][train]
    return {
        "train": int(train.sum()),
        "train_distinct": len(np.unique(np.minimum(a, b) * n + np.maximum(a, b))),
        "validation": int(validation.sum()),
        "validation_mirrored_share": float(split["mirror_in_train"][validation].mean()),
    }


def algebra(J: JClass) -> Measures:
    """What the modulus alone decides about a class; its measures are still None."""
    known = {"d": J.d, "m": J.m, "size": len(J), "regular": J.regular, "orders": list(J.orders)}
    measured = ("key", "total", "fve", "fve_uniform", "enrichment", "atomic_share")
    return known | dict.fromkeys((*measured, "atomic_uniform", "key_frequencies", "pca", "readout"))


def class_measures(
    J: JClass,
    W_E: Float[np.ndarray, "n d_model"],
    logits: Float[np.ndarray, "pairs n"],
    n: int,
    params: MetricsParams,
) -> Measures:
    """Spectrum, dimension and readout of one class; None throughout for a class of one element."""
    rows = W_E[J.elements]
    if len(J) == 1 or (rows == rows[0]).all():
        return algebra(J)
    share = fourier.energy_share(rows, J.orders)
    key, atomic = fourier.key_frequencies(share, params.key_threshold), fourier.atomic(J.orders)
    total, fve = len(J) - 1, fourier.fve(share, key)
    uniform = float(key.sum() / total)
    rng = np.random.default_rng([params.seed, n, J.d])
    random = subspaces.random_components(W_E, len(J), params.random_subsets, rng, params.variance)
    return algebra(J) | {
        "key": int(key.sum()),
        "total": total,
        "fve": fve,
        "fve_uniform": uniform,
        "enrichment": fve / uniform if uniform else None,
        "atomic_share": fourier.fve(share, atomic),
        "atomic_uniform": float(atomic.sum() / total),
        "key_frequencies": monoid.frequencies(J.orders)[key].tolist(),
        "pca": {
            "components": subspaces.components_for(rows, params.variance),
            "random_mean": float(random.mean()),
            "random_std": float(random.std()),
        },
        "readout": read(J, logits, n, key),
    }


def read(
    J: JClass, logits: Float[np.ndarray, "pairs n"], n: int, key: Bool[np.ndarray, " size"]
) -> Measures:
    """The character fit over the prompts of one pair of operand classes, and over all prompts."""
    a, b = np.divmod(np.arange(n * n), n)
    c = a * b % n
    d1, d2 = readout.default_pair(J.d, n)
    all_prompts = np.gcd(c, n) == J.d
    of_pair = all_prompts & (np.gcd(a, n) == d1) & (np.gcd(b, n) == d2)
    place = monoid.position(n)[c]
    pair, every = (
        readout.fit(logits[which][:, J.elements], place[which], J.orders, key)
        for which in (of_pair, all_prompts)
    )
    return {
        "pair": [d1, d2],
        "prompts": pair.prompts,
        "r2": pair.r2,
        "frequencies": [list(k) for k in pair.frequencies],
        "coefficients": list(pair.coefficients),
        "prompts_all": every.prompts,
        "r2_all": every.r2,
    }


def embedding_pca(W_E: Float[np.ndarray, "n d_model"], params: MetricsParams) -> Measures:
    """Components of all residues for the share of the variance, and the share they reach."""
    components = subspaces.components_for(W_E, params.variance)
    of = min(W_E.shape)
    reached = subspaces.cumulative_variance(W_E)[components - 1]
    return {"components": components, "of": of, "fve": float(reached), "share": components / of}


def heads(weights: Arrays, attention: np.ndarray, n: int, params: MetricsParams) -> list[Measures]:
    """OV circuit and attention pattern of each head; none for the MLP-only model."""
    return [
        head_measures(h, weights, attention[:, h], n, params) for h in range(attention.shape[1])
    ]


def head_measures(
    h: int, weights: Arrays, attention: Float[np.ndarray, "pairs 3"], n: int, params: MetricsParams
) -> Measures:
    """One head: rank of W_OV, alignment with every class, attention to `=`, block structure."""
    W_V, W_O = weights["W_V"][h], weights["W_O"][h]
    shares, W_OV = subspaces.ov_shares(W_V, W_O), subspaces.W_OV(W_V, W_O)
    to_a = attention[:, 0].reshape(n, n)
    labels = np.gcd(np.arange(n), n)
    rng = np.random.default_rng([params.seed, n, h])
    shuffled = [block_score(to_a, rng.permutation(labels)) for _ in range(params.shuffles)]
    return {
        "head": h,
        "ov": {
            "components": subspaces.count_for(np.cumsum(shares), params.variance),
            "of": len(shares),
            "top": float(shares[: params.top_singular].sum()),
            "shares": shares.tolist(),
        },
        "self_attention": {
            "mean": float(attention[:, 2].mean()),
            "max": float(attention[:, 2].max()),
        },
        "block_score": block_score(to_a, labels),
        "block_score_shuffled": {"mean": float(np.mean(shuffled)), "std": float(np.std(shuffled))},
        "alignment": {
            str(J.d): _aligned(W_OV, weights["W_E"][J.elements], params) for J in classes(n)
        },
    }


def _aligned(W_OV: np.ndarray, rows: np.ndarray, params: MetricsParams) -> Measures:
    found: Measures = {}
    for side in ("read", "write"):
        cosines = subspaces.alignment(W_OV, rows, side, params.top_directions)
        found[side] = cosines.tolist()
        found[f"{side}_above"] = int((cosines >= params.aligned_cosine).sum())
    return found


def block_score(x: Float[np.ndarray, "n n"], labels: np.ndarray) -> float:
    """Share of the variance of x that the means over (label of row, label of column) explain."""
    member = (labels[:, None] == np.unique(labels)).astype(float)  # n classes
    sizes = member.sum(axis=0)
    centred = x - x.mean(dtype=float)
    means = member.T @ centred @ member / np.outer(sizes, sizes)
    total = float((centred**2).sum())
    return float((means**2 * np.outer(sizes, sizes)).sum()) / total if total else 0.0
