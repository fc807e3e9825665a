"""Keep and remove key characters at four sites of the network, and the directions they take up.

Definitions and criteria: docs/interventions.md, sections 1 and 2.
"""

from collections.abc import Iterator
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse import csr_array

from strata.interventions import outcomes, patching, projections
from strata.interventions.outcomes import Outcome
from strata.interventions.patching import Rig, State
from strata.interventions.projections import Masks, Spans
from strata.monoid import JClass, classes

Json = dict[str, Any]
SITES = ("embedding", "mlp", "logits", "candidates")


class Subject(NamedTuple):
    """A model set up to be run again, its activations, and the key frequencies of its classes.

    ``means``: at the sites mlp and logits the mean activation over the pairs with each product. The
    logits are linear in the residual stream after the MLP, so its mean stands for theirs.
    """

    rig: Rig
    state: State
    masks: Masks
    means: dict[str, Float[np.ndarray, "n d_model"]]

    @property
    def rows_of_W_E(self) -> np.ndarray:
        """The embedding of the residues, without `=`."""
        return self.rig.weights["W_E"][: self.rig.n]


def subject(weights: dict[str, np.ndarray], n: int, masks: Masks) -> Subject:
    """The model with these key frequencies: ``spans.keys`` of its own embedding or of another's."""
    rig = patching.rig(weights, n)
    state = rig.state()
    out = {"mlp": state.written, "logits": state.residual + state.written}
    means = {site: means_by_product(rig, x) for site, x in out.items()}
    return Subject(rig, state, masks, means)


def key_spans(n: int, masks: Masks) -> Spans:
    """The span of the key characters of each class."""
    return {d: projections.characters(mask, JClass(n, d).orders) for d, mask in masks.items()}


def control_spans(n: int, masks: Masks, rng: np.random.Generator) -> dict[str, Spans]:
    """One draw of each control: a span of the same dimension for each class."""
    found: dict[str, Spans] = {"other": {}, "random": {}, "additive": {}}
    for d, mask in masks.items():
        J, size = JClass(n, d), int(mask.sum())
        other = projections.others(mask, J.orders, rng)
        found["other"][d] = projections.characters(other, J.orders)
        found["random"][d] = projections.random(len(J), size, rng)
        found["additive"][d] = projections.additive(J, size, rng)
    return found


def with_embedding(rig: Rig, rows: np.ndarray, only: np.ndarray | None = None) -> Outcome:
    """The outcome with the embedding of the residues replaced."""
    W_E = np.concatenate([rows, rig.weights["W_E"][rig.n :]])
    return rig.with_weights({"W_E": W_E}, only)


def means_by_product(rig: Rig, x: Float[np.ndarray, "rows width"]) -> Float[np.ndarray, "n width"]:
    """The mean of rows of activations over the ordered pairs with each product."""
    one = csr_array((rig.count.astype(float), (rig.label, np.arange(len(x)))), (rig.n, len(x)))
    means = one @ x.astype(np.float64) / one.sum(axis=1)[:, None]
    return means.astype(x.dtype)


def at_site(
    site: str, it: Subject, inside: Spans, rows: Bool[np.ndarray, " rows"]
) -> dict[str, Outcome]:
    """What keep and remove give at a site; only these rows are run again."""
    rig, (residual, written, _) = it.rig, it.state
    if site == "embedding":
        parts = projections.split(it.rows_of_W_E, inside, rig.n)._asdict()
        return {action: with_embedding(rig, table, rows) for action, table in parts.items()}
    if site == "candidates":
        return _candidates(rig, residual + written, inside, rows)
    stays, x = (residual, written) if site == "mlp" else (0, residual + written)
    keep, remove = projections.split(it.means[site], inside, rig.n)
    rows = rows & np.isin(np.gcd(rig.label, rig.n), list(inside))
    less = remove - it.means[site]
    return {
        "keep": rig.with_stream(stays + keep[rig.label], rows),
        "remove": rig.with_stream(stays + x + less[rig.label], rows),
    }


def _candidates(rig: Rig, out: np.ndarray, inside: Spans, rows: np.ndarray) -> dict[str, Outcome]:
    some = np.flatnonzero(rows)
    columns = np.concatenate([rig.weights["W_U"], rig.weights["b_U"][None]]).T
    found = {}
    for action, table in projections.split(columns, inside, rig.n)._asdict().items():
        changed = table.T
        weights = rig.weights | {"W_U": changed[:-1], "b_U": changed[-1]}
        found[action] = rig.put(some, patching.unembed(weights, out[some], rig.label[some]))
    return found


def keep_remove(it: Subject, draws: int, rng: np.random.Generator) -> list[Json]:
    """Keep and remove at every site, for all classes at once and for each alone, with controls."""
    key = key_spans(it.rig.n, it.masks)
    controls = [control_spans(it.rig.n, it.masks, rng) for _ in range(draws)]
    scopes: list[int | None] = [None, *key] if key else []
    return [
        record for site in SITES for d in scopes for record in _scope(site, d, it, key, controls)
    ]


def _scope(
    site: str, d: int | None, it: Subject, key: Spans, controls: list[dict[str, Spans]]
) -> Iterator[Json]:
    """The two records of one site and one class, or of all classes."""
    rig, chosen = it.rig, list(key) if d is None else [d]
    own = rig.every
    if d is not None:
        own = rig.operand_in(d) if site == "embedding" else rig.product_in(d)
    # What W_U says of the candidates in one class can change the answer to any pair.
    run_again = rig.every if site == "candidates" else own
    room = any(0 < it.masks[i].sum() < len(it.masks[i]) - 1 for i in chosen)
    drawn = _controls(site, it, chosen, own, controls) if room else {}
    for action, found in at_site(site, it, {i: key[i] for i in chosen}, run_again).items():
        yield {
            "site": site,
            "class": d,
            "action": action,
            "dimension": sum(projections.dimension(key[i]) for i in chosen),
            "base": patching.brief(rig, rig.base, own),
            "own": patching.brief(rig, found, own),
            "all": patching.measures(rig, found),
            "controls": {name: by_action[action] for name, by_action in drawn.items()},
        }


def _controls(
    site: str, it: Subject, chosen: list[int], own: np.ndarray, controls: list[dict[str, Spans]]
) -> dict[str, dict[str, Json]]:
    """By control and action: the dimension, and the intervals over the draws."""
    found: dict[str, dict[str, Json]] = {}
    for name, first in controls[0].items():
        some = ({i: draw[name][i] for i in chosen} for draw in controls)
        drawn = [at_site(site, it, inside, own) for inside in some]
        dimension = sum(projections.dimension(first[i]) for i in chosen)
        found[name] = {
            action: {
                "dimension": dimension,
                "own": outcomes.interval([patching.brief(it.rig, x[action], own) for x in drawn]),
            }
            for action in ("keep", "remove")
        }
    return found


def restricted_loss(it: Subject, site: str = "logits") -> float:
    """The loss over all pairs with key characters alone, of all classes at once."""
    return _loss(it, site, "keep")


def excluded_loss(it: Subject, site: str = "logits") -> float:
    """The loss over all pairs without key characters, of all classes at once."""
    return _loss(it, site, "remove")


def _loss(it: Subject, site: str, action: str) -> float:
    found = at_site(site, it, key_spans(it.rig.n, it.masks), it.rig.every)[action]
    return float(np.average(found.loss, weights=it.rig.count))


def deviations(W_E: Float[np.ndarray, "n d_model"], n: int) -> Float[np.ndarray, "n d_model"]:
    """Each residue's row less the mean row of its class."""
    less = W_E.astype(np.float64)
    for J in classes(n):
        less[J.elements] -= less[J.elements].mean(axis=0)
    return less


def key_part(
    it: Subject, J: JClass, mask: Bool[np.ndarray, " size"]
) -> Float[np.ndarray, "size d_model"]:
    """The part of the rows of a class that lies in the span of these characters."""
    return projections.characters(mask, J.orders) @ it.rows_of_W_E[J.elements]


def row_space(x: Float[np.ndarray, "rows d_model"]) -> Float[np.ndarray, "k d_model"]:
    """An orthonormal basis of the span of the rows."""
    _, sizes, Vt = np.linalg.svd(x.astype(np.float64), full_matrices=False)
    return Vt[sizes > 1e-6 * max(sizes.max(initial=0), 1e-30)]


def directions(it: Subject, d: int, p: int | None = None) -> Float[np.ndarray, "k d_model"]:
    """A basis of the directions that key characters of J_d take up; those on one axis alone."""
    J, mask = JClass(it.rig.n, d), it.masks[d]
    return row_space(key_part(it, J, mask if p is None else projections.atomic_key(J, mask, p)))


def without(it: Subject, basis: Float[np.ndarray, "k d_model"]) -> Outcome:
    """The outcome with these directions removed from every residue, within its own class."""
    W_E = it.rows_of_W_E
    less = deviations(W_E, it.rig.n) @ basis.T @ basis
    return with_embedding(it.rig, W_E - less.astype(W_E.dtype))


def specificity(it: Subject, draws: int, rng: np.random.Generator) -> list[Json]:
    """Whom the removal of each class's directions hurts, whole and axis by axis."""
    n, spread = it.rig.n, deviations(it.rows_of_W_E, it.rig.n)
    cases = [
        (d, p) for d in it.masks for p in [None, *sorted({*projections.axis_primes(JClass(n, d))})]
    ]
    controls: dict[int, list[Outcome]] = {}
    records = []
    for d, p in cases:
        basis = directions(it, d, p)
        if not len(basis):
            continue
        if len(basis) not in controls:
            drawn = (row_space(rng.normal(size=(len(basis), n)) @ spread) for _ in range(draws))
            controls[len(basis)] = [without(it, x) for x in drawn]
        found, regions = without(it, basis), _regions(it.rig, d, p)
        records.append({
            "class": d, "axis": p, "dimension": len(basis),
            "regions": {k: patching.brief(it.rig, found, *v) for k, v in regions.items()},
            "random": {
                k: outcomes.interval([patching.brief(it.rig, x, *v) for x in controls[len(basis)]])
                for k, v in regions.items()
            },
            "all": patching.measures(it.rig, found),
        })  # fmt: skip
    return records


def _regions(rig: Rig, d: int, p: int | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pairs with one fate under a hypothesis, and the chance of a right answer for each pair."""
    own = rig.operand_in(d)
    if p is None:
        return {"inside": (own, rig.chance), "outside": (~own, rig.chance)}
    part = np.array([projections.axis_size(rig.n // gcd(c, rig.n), p) for c in range(rig.n)])
    chance = 1 / part[rig.label]
    has = part[rig.label] > 1
    chance[~has] = rig.chance[~has]
    return {"own": (has & own, chance), "shared": (has & ~own, chance), "spared": (~has, chance)}
