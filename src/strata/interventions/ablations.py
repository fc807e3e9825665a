"""Keep and remove key characters at four sites of the network.

Definitions and criteria: docs/interventions.md, section 1.
"""

from collections.abc import Iterator
from typing import NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse import csr_array

from strata.interventions import patching, projections
from strata.interventions.patching import Outcome, Rig, State
from strata.interventions.projections import Masks, Spans
from strata.interventions.scores import measures, ranges, scores
from strata.monoid import JClass
from strata.schema import Control, KeepRemove
from strata.schema.interventions import Action, Site, Subspace

SITES: tuple[Site, ...] = get_args(Site)
Outcomes = dict[Action, Outcome]


class Subject(NamedTuple):
    """A model set up to be run again, its activations, and the key frequencies of its classes.

    ``means``: at the sites mlp and logits the mean activation over the pairs with each product. The
    logits are linear in the residual stream after the MLP, so its mean stands for theirs.
    """

    rig: Rig
    state: State
    masks: Masks
    means: dict[Site, Float[np.ndarray, "n d_model"]]

    @property
    def rows_of_W_E(self) -> np.ndarray:
        """The embedding of the residues, without `=`."""
        return self.rig.weights["W_E"][: self.rig.n]


def subject(weights: dict[str, np.ndarray], n: int, masks: Masks) -> Subject:
    """The model with these key frequencies: ``projections.keys`` of its own embedding or of
    another's."""
    rig = patching.rig(weights, n)
    state = rig.state()
    means: dict[Site, np.ndarray] = {
        "mlp": means_by_product(rig, state.written),
        "logits": means_by_product(rig, state.residual + state.written),
    }
    return Subject(rig, state, masks, means)


def key_spans(n: int, masks: Masks) -> Spans:
    """The span of the key characters of each class."""
    return {d: projections.characters(mask, JClass(n, d).orders) for d, mask in masks.items()}


def control_spans(n: int, masks: Masks, rng: np.random.Generator) -> dict[Subspace, Spans]:
    """One draw of each control: a span of the same dimension for each class."""
    drawn: dict[Subspace, Spans] = {"other": {}, "random": {}, "additive": {}}
    for d, mask in masks.items():
        J, size = JClass(n, d), int(mask.sum())
        other = projections.others(mask, J.orders, rng)
        drawn["other"][d] = projections.characters(other, J.orders)
        drawn["random"][d] = projections.random(len(J), size, rng)
        drawn["additive"][d] = projections.additive(J, size, rng)
    return drawn


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
    site: Site, subject: Subject, spans: Spans, rows: Bool[np.ndarray, " rows"]
) -> Outcomes:
    """What keep and remove give at a site; only these rows are run again."""
    rig, (residual, written, _) = subject.rig, subject.state
    if site == "embedding":
        keep, remove = projections.split(subject.rows_of_W_E, spans, rig.n)
        return {
            "keep": with_embedding(rig, keep, rows),
            "remove": with_embedding(rig, remove, rows),
        }
    if site == "candidates":
        return _candidates(rig, residual + written, spans, rows)
    stays, x = (residual, written) if site == "mlp" else (0, residual + written)
    keep, remove = projections.split(subject.means[site], spans, rig.n)
    rows = rows & np.isin(np.gcd(rig.label, rig.n), list(spans))
    less = remove - subject.means[site]
    return {
        "keep": rig.with_stream(stays + keep[rig.label], rows),
        "remove": rig.with_stream(stays + x + less[rig.label], rows),
    }


def _candidates(rig: Rig, out: np.ndarray, spans: Spans, rows: np.ndarray) -> Outcomes:
    chosen = np.flatnonzero(rows)
    columns = np.concatenate([rig.weights["W_U"], rig.weights["b_U"][None]]).T

    def with_candidates(table: np.ndarray) -> Outcome:
        changed = table.T
        weights = rig.weights | {"W_U": changed[:-1], "b_U": changed[-1]}
        return rig.put(chosen, patching.unembed(weights, out[chosen], rig.label[chosen]))

    keep, remove = projections.split(columns, spans, rig.n)
    return {"keep": with_candidates(keep), "remove": with_candidates(remove)}


def keep_remove(subject: Subject, draws: int, rng: np.random.Generator) -> list[KeepRemove]:
    """Keep and remove at every site, for all classes at once and for each alone, with controls."""
    key = key_spans(subject.rig.n, subject.masks)
    controls = [control_spans(subject.rig.n, subject.masks, rng) for _ in range(draws)]
    scopes: list[int | None] = [None, *key] if key else []
    return [
        record
        for site in SITES
        for d in scopes
        for record in _in_scope(site, d, subject, key, controls)
    ]


def _in_scope(
    site: Site, d: int | None, subject: Subject, key: Spans, controls: list[dict[Subspace, Spans]]
) -> Iterator[KeepRemove]:
    """The two records of one site and one class, or of all classes."""
    rig, chosen = subject.rig, list(key) if d is None else [d]
    own = rig.every
    if d is not None:
        own = rig.operand_in(d) if site == "embedding" else rig.product_in(d)
    # What W_U says of the candidates in one class can change the answer to any pair.
    run_again = rig.every if site == "candidates" else own
    room = any(0 < subject.masks[i].sum() < len(subject.masks[i]) - 1 for i in chosen)
    drawn = _controls(site, subject, chosen, own, controls) if room else {}
    outcomes = at_site(site, subject, {i: key[i] for i in chosen}, run_again)
    for action, outcome in outcomes.items():
        yield KeepRemove(
            site=site,
            d=d,
            action=action,
            dimension=sum(projections.dimension(key[i]) for i in chosen),
            base=scores(rig, rig.base, own),
            own=scores(rig, outcome, own),
            all=measures(rig, outcome),
            controls={name: by_action[action] for name, by_action in drawn.items()},
        )


def _controls(
    site: Site,
    subject: Subject,
    chosen: list[int],
    own: np.ndarray,
    controls: list[dict[Subspace, Spans]],
) -> dict[Subspace, dict[Action, Control]]:
    """By control and action: the dimension, and the ranges over the draws."""
    by_name: dict[Subspace, dict[Action, Control]] = {}
    for name, first in controls[0].items():
        spans = ({i: draw[name][i] for i in chosen} for draw in controls)
        drawn = [at_site(site, subject, x, own) for x in spans]
        dimension = sum(projections.dimension(first[i]) for i in chosen)
        by_name[name] = {
            action: Control(
                dimension=dimension,
                own=ranges([scores(subject.rig, x[action], own) for x in drawn]),
            )
            for action in get_args(Action)
        }
    return by_name


def restricted_loss(subject: Subject, site: Site = "logits") -> float:
    """The loss over all pairs with key characters alone, of all classes at once."""
    return _loss(subject, site, "keep")


def excluded_loss(subject: Subject, site: Site = "logits") -> float:
    """The loss over all pairs without key characters, of all classes at once."""
    return _loss(subject, site, "remove")


def _loss(subject: Subject, site: Site, action: Action) -> float:
    spans = key_spans(subject.rig.n, subject.masks)
    outcome = at_site(site, subject, spans, subject.rig.every)[action]
    return float(np.average(outcome.loss, weights=subject.rig.count))
