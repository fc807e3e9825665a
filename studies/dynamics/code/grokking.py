"""Spectra and principal components of the embedding at one checkpoint, for a long table over all
of them.

A row of the table is one number at one checkpoint, by what it is ``of`` and its ``place`` there:

* ``J15``: the amplitude of a character in the rows of W_E of that class, |x_hat(k)| over the number
  of its elements; the place is that of k in lexicographic order, from 0, without the constant.
* ``PC1`` … ``PC3``: the score of a residue, its place, on a principal component of the *last*
  checkpoint, so that pictures of two checkpoints can be laid on one another.
* ``share``: the share of the variance of that checkpoint on these components, places 0 to 2.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from strata.measure import subspaces
from strata.monoid import classes
from studies.dynamics.code.table import NAME
from studies.dynamics.code.trajectory import norms

COMPONENTS = 3
SCHEMA = pa.schema(
    [("epoch", pa.int32()), ("of", NAME), ("place", pa.int16()), ("value", pa.float32())]
)


class Row(NamedTuple):
    """One number at one checkpoint."""

    of: str
    place: int
    value: float


def components(W_E: Float[np.ndarray, "n d_model"]) -> Float[np.ndarray, "k d_model"]:
    """The first principal components of the residues, the largest loading of each positive; fewer
    where the rows span fewer, none where they are all equal."""
    found = subspaces.leading(W_E, COMPONENTS)
    largest = np.abs(found).argmax(axis=1, keepdims=True)
    return found * np.sign(np.take_along_axis(found, largest, axis=1))


def observe(
    W_E: Float[np.ndarray, "n d_model"], axes: Float[np.ndarray, "k d_model"]
) -> Iterator[Row]:
    """Amplitudes, scores on the axes given, and their share of the variance; no shares where the
    rows are all equal."""
    found = {
        f"J{J.d}": norms(W_E[J.elements], J.orders) / len(J)
        for J in classes(len(W_E))
        if len(J) > 1
    }
    centred = W_E.astype(np.float64) - W_E.mean(axis=0, dtype=np.float64)
    scores = centred @ axes.T
    found |= {f"PC{i + 1}": own for i, own in enumerate(scores.T)}
    if (total := (centred**2).sum()) > 0:
        found["share"] = (scores**2).sum(axis=0) / total
    for of, values in found.items():
        yield from (Row(of, place, x) for place, x in enumerate(values.tolist()))
