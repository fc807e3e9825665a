"""Keep and remove key characters at four sites of the network.

Definitions and criteria: studies/interventions/criteria.md, section 1.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float

from strata.patch import patching, projections
from strata.patch.patching import Outcome, Rig, State
from strata.patch.projections import Masks, Spans
from strata.task import Task, task_of

Action = Literal["keep", "remove"]
Site = Literal["embedding", "mlp", "logits", "candidates"]
SITES: tuple[Site, ...] = get_args(Site)
ACTIONS: tuple[Action, Action] = ("keep", "remove")
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


def subject(weights: dict[str, np.ndarray], n: Task | int, masks: Masks) -> Subject:
    """The model with these key frequencies: ``projections.keys`` of its own embedding or of
    another's."""
    rig = patching.rig(weights, n)
    state = rig.state()
    means: dict[Site, np.ndarray] = {
        "mlp": rig.by_product(state.written),
        "logits": rig.by_product(state.residual + state.written),
    }
    return Subject(rig, state, masks, means)


def key_spans(n: Task | int, masks: Masks) -> Spans:
    """The span of the key characters of each class."""
    of = task_of(n)
    return {d: projections.characters(mask, of.jclass(d).orders) for d, mask in masks.items()}


def with_embedding(rig: Rig, rows: np.ndarray, only: np.ndarray | None = None) -> Outcome:
    """The outcome with the embedding of the residues replaced."""
    W_E = np.concatenate([rows, rig.weights["W_E"][rig.n :]])
    return rig.with_weights({"W_E": W_E}, only)


def table_at(site: Site, subject: Subject) -> Float[np.ndarray, "n width"]:
    """What a site holds for each residue: operand, product or candidate."""
    if site == "embedding":
        return subject.rows_of_W_E
    if site == "candidates":
        weights = subject.rig.weights
        return np.concatenate([weights["W_U"], weights["b_U"][None]]).T
    return subject.means[site]


def with_table(
    site: Site, subject: Subject, action: Action, table: np.ndarray, rows: Bool[np.ndarray, " rows"]
) -> Outcome:
    """The outcome with another table at a site; only these rows are run again.

    At the sites mlp and logits *keep* passes on the table alone, *remove* what differs between
    pairs with one product as well.
    """
    rig, (residual, written, _) = subject.rig, subject.state
    if site == "embedding":
        return with_embedding(rig, table, rows)
    if site == "candidates":
        return _with_candidates(rig, residual + written, table, rows)
    stays, x = (residual, written) if site == "mlp" else (0, residual + written)
    if action == "keep":
        return rig.with_stream(stays + table[rig.label], rows)
    less = table - subject.means[site]
    return rig.with_stream(stays + x + less[rig.label], rows)


def _with_candidates(rig: Rig, out: np.ndarray, table: np.ndarray, rows: np.ndarray) -> Outcome:
    chosen, changed = np.flatnonzero(rows), table.T
    weights = rig.weights | {"W_U": changed[:-1], "b_U": changed[-1]}
    return rig.put(chosen, patching.unembed(weights, out[chosen], rig.label[chosen]))


def reached(site: Site, rig: Rig, spans: Iterable[int], rows: np.ndarray) -> np.ndarray:
    """Those of the rows that a change of the tables of some classes can reach."""
    if site in ("mlp", "logits"):
        return rows & np.isin(rig.task.labels[rig.label], list(spans))
    return rows


def at_site(
    site: Site, subject: Subject, spans: Spans, rows: Bool[np.ndarray, " rows"]
) -> Outcomes:
    """What keep and remove give at a site; only these rows are run again."""
    rows = reached(site, subject.rig, spans, rows)
    tables = projections.split(table_at(site, subject), spans, subject.rig.task)._asdict()
    return {x: with_table(site, subject, x, tables[x], rows) for x in ACTIONS}


def restricted(subject: Subject, site: Site = "logits") -> Outcome:
    """The outcome with key characters alone, of all classes at once: a mean over the pairs with
    each product, projected where its class has characters, and left as it is elsewhere."""
    task = subject.rig.task
    means = {J.d: np.eye(len(J)) - 1 / len(J) for J in task.classes if J.d not in subject.masks}
    spans = means | key_spans(task, subject.masks)
    keep, _ = projections.split(table_at(site, subject), spans, task)
    return with_table(site, subject, "keep", keep, subject.rig.every)
