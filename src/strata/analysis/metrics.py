"""All numbers of one run: what the paper's tables and figures report, and the baselines beside
them.

Shares are fractions. A measure that a class or an architecture does not have is None.
"""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from strata import monoid
from strata.analysis import (
    activations,
    directions,
    fourier,
    heads,
    neurons,
    readout,
    subspaces,
    token_fourier,
)
from strata.analysis.all_pairs import Sweep, sweep
from strata.analysis.products import Products
from strata.analysis.variance import eta_squared
from strata.architecture import architecture_of
from strata.monoid import JClass, classes
from strata.run import Run
from strata.store import Arrays
from strata.task import TRAIN, VALIDATION
from strata.thresholds import MetricsParams

Measures = dict[str, Any]
ACCURACIES = ("train", "validation", "mirror_free")


def measure(
    run: Run, weights: Arrays, split: Arrays, history: pd.DataFrame, params: MetricsParams
) -> Measures:
    """The metrics of a run from its weights, its pair table and its history."""
    n = run.n
    W_E = weights["W_E"][:n]
    seen = sweep(weights, n)
    # A run that diverged has no structure to measure; it is recorded, and answers nothing.
    right = (seen.prediction == split["c"]) & seen.finite
    loss = float(history["loss"].iloc[-1])
    finite = bool(seen.finite and np.isfinite(W_E).all() and np.isfinite(loss))
    accuracies = accuracy(right, split, n)
    moments, products = second_pass(weights, n) if finite else (None, None)
    return {
        "run": str(run),
        "n": n,
        "seed": run.seed,
        "architecture": architecture_of(weights).name,
        "epochs": len(history),
        "finite": finite,
        "generalised": bool(accuracies["validation"] >= params.accuracy),
        "accuracy": accuracies,
        "first_099": first_epochs(history, params.accuracy),
        "epoch_099": epochs_to(history, params.accuracy),
        "final_loss": loss if finite else None,
        "pairs": counts(split, n),
        "classes": [
            class_measures(J, W_E, seen, products, params) if products else algebra(J)
            for J in classes(n)
        ],
        "pca": embedding_pca(W_E, params) if finite else None,
        "token_order": token_fourier.share(W_E) if finite else None,
        "neurons": neurons.measure(moments) if moments else None,
        "heads": head_measures(weights, seen, n, params) if finite else [],
    }


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


def first_epochs(history: pd.DataFrame, level: float) -> dict[str, int | None]:
    """The first epoch at which each accuracy is at least ``level``; None where there is none.

    The training accuracy is known at every epoch, the others where the model was validated.
    """
    at = {name: history.loc[history[f"{name}_accuracy"] >= level, "epoch"] for name in ACCURACIES}
    return {name: int(epochs.iloc[0]) if len(epochs) else None for name, epochs in at.items()}


def epochs_to(history: pd.DataFrame, level: float) -> dict[str, int | None]:
    """The first epoch from which each accuracy is at least ``level`` at every later one.

    Full-batch AdamW leaves the minimum now and then for a few epochs, so this may come long after
    ``first_epochs``. Beside it: how many epochs fall below the level in training after it was first
    reached, ``train_relapses``.
    """
    found = {name: reached(history, f"{name}_accuracy", level) for name in ACCURACIES}
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
    seen: Sweep,
    products: Products,
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
    rng = np.random.default_rng([params.seed, J.n, J.d])
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
        "readout": read(J, seen, products, key),
    }


def read(
    J: JClass, seen: Sweep, products: Products, key: Bool[np.ndarray, " size"]
) -> Measures | None:
    """The character fit over the prompts of one pair of operand classes, and over all prompts.

    `r2_ceiling` is R² with every frequency: what depends on the quotient of ab and c alone;
    `r2_uniform` what as many frequencies drawn at random explain on average; `r2_product` what the
    mean logits of each product explain. None where the logits of the pair's prompts are all equal,
    which leaves nothing to fit.
    """
    if not seen.readouts[J.d][0].squares:
        return None
    pair, every = (readout.fit(sums, J.orders, key) for sums in seen.readouts[J.d])
    ceiling = readout.fit(seen.readouts[J.d][0], J.orders, np.arange(len(J)) > 0)
    return {
        "pair": list(readout.default_pair(J.d, J.n)),
        "prompts": pair.prompts,
        "largest": seen.readouts[J.d][0].largest,
        "r2": pair.r2,
        "r2_ceiling": ceiling.r2,
        "r2_product": products.squares(J.d) / seen.readouts[J.d][0].squares,
        "r2_uniform": ceiling.r2 * len(pair.frequencies) / len(ceiling.frequencies),
        "frequencies": [list(k) for k in pair.frequencies],
        "coefficients": list(pair.coefficients),
        "prompts_all": every.prompts,
        "r2_all": every.r2,
    }


def second_pass(weights: Arrays, n: int) -> tuple[neurons.Moments, Products]:
    """The moments of the MLP over all pairs, by class and by residue modulo each prime power of n;
    and the logits by product. Both take finite numbers alone, so a first pass comes before."""
    moments, products = neurons.Moments(neurons.labels(n), weights["W_in"].shape[1]), Products(n)
    for a, b, found in activations.blocks(weights, n):
        moments.add(a, b, found.mlp)
        products.add(a, b, found.logits)
    return moments, products


def head_measures(weights: Arrays, seen: Sweep, n: int, params: MetricsParams) -> list[Measures]:
    """The numbers of each head, and beside its directions of a class those of random residues."""
    found = heads.heads(weights, seen.attention, n, params)
    for head, beside in zip(found, directions.random(weights, n, params), strict=True):
        head["alignment"] = {d: own | beside[d] for d, own in head["alignment"].items()}
    return found


def embedding_pca(W_E: Float[np.ndarray, "n d_model"], params: MetricsParams) -> Measures:
    """Components of all residues for the share of the variance, and the share they reach.

    ``shown`` is about the first three, which Figure 10 draws: the share of their variance that
    classes explain, and that a modulo each prime power of n explains.
    """
    n, points = len(W_E), subspaces.project(W_E, 3)
    modulo = {str(q): eta_squared(points, np.arange(n) % q) for q in token_fourier.bands(n)}
    shown = {"classes": eta_squared(points, np.gcd(np.arange(n), n)), "modulo": modulo}
    components = subspaces.components_for(W_E, params.variance)
    of = min(W_E.shape)
    reached = subspaces.cumulative_variance(W_E)[components - 1]
    found = {"components": components, "of": of, "fve": float(reached), "share": components / of}
    return found | {"shown": shown}
