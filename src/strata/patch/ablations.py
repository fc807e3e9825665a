"""Set a model up to be changed and run again, and replace its embedding.

Definitions and criteria are in studies/interventions/criteria.md, section 1.
"""

from typing import NamedTuple

import numpy as np

from strata.patch import patching, projections
from strata.patch.patching import Bench, Outcome
from strata.patch.projections import Masks, Spans
from strata.task import Task, task_of


class Subject(NamedTuple):
    """A ``Subject`` is a model set up to be run again, with the key frequencies of its classes."""

    rig: Bench
    masks: Masks

    @property
    def rows_of_W_E(self) -> np.ndarray:
        """Return the embedding of the residues, without `=`."""
        return self.rig.weights["W_E"][: self.rig.n]


def subject(weights: dict[str, np.ndarray], n: Task | int, masks: Masks) -> Subject:
    """Set up the model with these key frequencies: ``projections.keys`` of its own embedding or of
    that of another model."""
    return Subject(patching.rig(weights, n), masks)


def key_spans(n: Task | int, masks: Masks) -> Spans:
    """Return the span of the key characters of each class, as a projection."""
    task = task_of(n)
    return {d: projections.characters(mask, task.jclass(d).orders) for d, mask in masks.items()}


def with_embedding(rig: Bench, rows: np.ndarray) -> Outcome:
    """Return the outcome with the embedding of the residues replaced."""
    return rig.with_weights({"W_E": np.concatenate([rows, rig.weights["W_E"][rig.n :]])})
