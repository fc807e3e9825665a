"""What the report needs to show one run and to run it again: algebra, spectra, curves, the model.

The model is rounded to 8 bits a weight, so that a run is a third of a megabyte, and any attention
pattern, neuron or logit can be computed by whoever reads the page. What the rounding changes is
measured over all pairs and stated beside it.
"""

from base64 import b64decode, b64encode
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from strata import store
from strata.architecture import architecture_of
from strata.measure import character_fit, fourier, subspaces
from strata.measure.activations import answers, distinct, forward
from strata.measure.all_pairs import token_scores
from strata.measure.character_fit import CharacterFit
from strata.measure.metrics import ClassMetrics, Metrics
from strata.monoid import JClass, algebraic_order, jclass, position
from strata.store import Arrays
from strata.task import operation

Json = dict[str, Any]
ZERO = 128  # the byte of a weight that is 0; the largest of its row are 1 and 255
POINTS = 125  # epochs of a curve
BLOCK = 4096  # pairs at once
# The axis of each matrix along which a row of the page runs.
ROWS = {"W_E": -1, "W_out": -1, "W_in": 0, "W_U": 0, "W_V": 1, "W_O": -1}
PAGE_FIELDS = {"run", "n", "seed", "architecture", "epochs", "finite", "first_099", "epoch_099"}


def page(weights: Arrays, history: pd.DataFrame, metrics: Metrics) -> Json:
    """Return everything that the report shows of the run that has these metrics. ``pca`` and
    ``model`` are None where the run diverged."""
    n, finite = metrics.n, metrics.finite
    model = rounded_model(weights) if finite else None
    measured, fidelity = measure(weights, model, metrics) if model else ({}, None)
    return metrics.model_dump(mode="json", include=PAGE_FIELDS) | {
        "order": algebraic_order(n).tolist(),
        "classes": [
            algebra(jclass(c.d, n)) | spectrum(weights["W_E"], c, n) | measured.get(c.d, {})
            for c in metrics.classes
        ],
        "curve": curve(history, architecture_of(weights).symmetric),
        "pca": pca(weights["W_E"][:n]) if finite else None,
        "model": model,
        "fidelity": fidelity,
    }


def algebra(J: JClass) -> Json:
    """Return what the modulus decides about a class."""
    facts = {"d": J.d, "m": J.m, "regular": J.regular, "orders": list(J.orders)}
    return facts | {"idempotent": J.idempotent, "generators": list(J.generators)}


def spectrum(W_E: np.ndarray, measured: ClassMetrics, n: int) -> Json:
    """Return the energy shares of a class in lexicographic order, without the constant, and which
    are key."""
    if measured.key_frequencies is None or measured.pca is None:
        return {"share": [], "key": []}
    J = jclass(measured.d, n)
    share = fourier.energy_share(W_E[J.elements], J.orders)
    key = np.ravel_multi_index(
        np.array(measured.key_frequencies, int).reshape(-1, len(J.orders)).T, J.orders
    )
    return {
        "share": digits(share[1:]),
        "key": (np.asarray(key) - 1).tolist(),
        "fve": measured.fve,
    }


def curve(history: pd.DataFrame, symmetric: bool) -> Json:
    """Return loss and accuracies at about POINTS of the validated epochs, with the last epoch among
    them. Accuracies over mirror-free pairs are None for a model that is not symmetric in its
    operands."""
    rows = store.thin(history, POINTS)
    if not symmetric:
        rows = rows.assign(mirror_free_accuracy=np.nan)
    return {"epoch": rows["epoch"].tolist()} | {
        name: digits(rows[name]) for name in rows if name != "epoch"
    }


def pca(W_E: Float[np.ndarray, "n d_model"]) -> Json:
    """Project the residues on the first three principal components, and return the share of
    variance of each."""
    if not np.ptp(W_E, axis=0).any():
        return {"points": [], "share": []}
    share = np.diff(subspaces.cumulative_variance(W_E), prepend=0)[:3]
    return {"points": [digits(x) for x in subspaces.project(W_E)], "share": digits(share)}


def rounded_model(weights: Arrays) -> Json:
    """Return the weights as the page holds them: matrices packed by rows, vectors with six digits.

    A row of W_in and W_V is what one neuron, or one direction of a head, reads; a row of W_U is a
    candidate. Attention from `=` depends on one score for each head and token.
    """
    model: Json = {}
    for name, axis in ROWS.items():
        if name in weights:
            rows = np.moveaxis(weights[name], axis, -1)
            model[name] = pack(rows.reshape(-1, rows.shape[-1]))
    for name in ("b_V", "b_O", "b_in", "b_out", "b_U"):
        model[name] = digits(weights[name].ravel(), 6) if name in weights else None
    scores = token_scores(with_page_numbers(model, weights)).T
    return model | {"scores": [digits(x, 6) for x in scores]}


def pack(table: Float[np.ndarray, "rows columns"]) -> Json:
    """Encode numbers as multiples of 1/127 of the largest of their row, a byte each, as base64."""
    scale = np.array(digits(np.abs(table).max(axis=1), 6))
    steps = np.rint(table / np.where(scale > 0, scale, 1)[:, None] * (ZERO - 1)).astype(int)
    codes = np.clip(steps + ZERO, 1, 2 * ZERO - 1).astype(np.uint8)
    data = b64encode(codes.tobytes()).decode()
    return {"columns": table.shape[1], "scale": scale.tolist(), "data": data}


def unpack(packed: Json) -> Float[np.ndarray, "rows columns"]:
    """Return the numbers that ``pack`` encoded."""
    codes = np.frombuffer(b64decode(packed["data"]), np.uint8).astype(int)
    steps = (codes - ZERO).reshape(-1, packed["columns"])
    return (steps / (ZERO - 1) * np.array(packed["scale"])[:, None]).astype(np.float32)


def with_page_numbers(model: Json, weights: Arrays) -> Arrays:
    """Return the run's weights with the page's numbers in their place; W_Q and W_K stay as they
    are."""
    page_weights = dict(weights)
    for name, axis in ROWS.items():
        if name in weights:
            shape = np.moveaxis(weights[name], axis, -1).shape
            rows = unpack(model[name]).reshape(shape)
            page_weights[name] = np.ascontiguousarray(np.moveaxis(rows, -1, axis))
    return page_weights


def measure(weights: Arrays, model: Json, metrics: Metrics) -> tuple[dict[int, Json], Json]:
    """Compare the run's weights with the page's over all pairs: return the logits by class, and the
    fidelity. For a model that is symmetric in its operands the pairs with a ≤ b say all."""
    n, blocks, approximation = metrics.n, [], with_page_numbers(model, weights)
    pairs = distinct(weights, n)
    a, b, count = pairs.a, pairs.b, pairs.count
    equal, gap, top = 0, 0.0, np.zeros(len(weights["W_out"]), np.float32)
    for part in np.array_split(np.arange(len(a)), len(a) // BLOCK + 1):
        exact, rounded = (forward(x, a[part], b[part]) for x in (weights, approximation))
        blocks.append(exact.logits)
        equal += int(count[part] @ (answers(exact.logits) == answers(rounded.logits)))
        gap = max(gap, float(np.abs(exact.logits - rounded.logits).max()))
        top = np.maximum(top, exact.mlp.max(axis=0))
    logits = np.concatenate(blocks)
    fidelity = {"answers": equal, "pairs": n * n, "gap": gap}
    fidelity["largest"] = float(np.abs(logits).max())
    model["largest"] = digits(top)
    fits = {c.d: c.character_fit for c in metrics.classes if c.character_fit}
    return {
        d: readout(jclass(d, n), fitted, logits, pairs.row) for d, fitted in fits.items()
    }, fidelity


def readout(
    J: JClass,
    fitted: CharacterFit,
    logits: Float[np.ndarray, "some n"],
    row_of_pair: Int[np.ndarray, "n n"],
) -> Json:
    """Return the centred logits of a class by quotient, over the prompts of its default pair of
    operands: the fitted ones; mean, deviation, smallest and largest of the actual ones.
    ``row_of_pair`` says which row of the logits each pair has."""
    n, (d1, d2) = J.n, fitted.pair
    a, b = np.divmod(np.arange(n * n), n)
    rows = (np.gcd(a, n) == d1) & (np.gcd(b, n) == d2)
    product = position(n)[operation(a[rows], b[rows], n)]
    class_logits = logits[np.ix_(row_of_pair[a[rows], b[rows]], J.elements)]
    y = character_fit.by_quotient(class_logits, product, J.orders)
    fit = character_fit.Fit(fitted.r2, fitted.prompts, fitted.frequencies, fitted.coefficients)
    columns = {"fitted": character_fit.profile(fit, J.orders)}
    columns |= {"mean": y.mean(axis=0, dtype=float), "std": y.std(axis=0, dtype=float)}
    columns |= {"low": y.min(axis=0), "high": y.max(axis=0)}
    curves = {name: digits(x) for name, x in columns.items()}
    return {"readout": curves | {"r2": fitted.r2, "pair": [d1, d2], "prompts": len(y)}}


def digits(x: Any, count: int = 4) -> list[float | None]:
    """Round numbers to this count of significant digits; one that is not finite becomes None.

    >>> digits([0.123456, float("nan")])
    [0.1235, None]
    """
    values = np.asarray(x, float).tolist()
    return [float(f"{v:.{count}g}") if np.isfinite(v) else None for v in values]
