"""Spectra and principal components of the embedding at one checkpoint, for a long table over all
of them.

A row of the table is one number at one checkpoint, by what it is ``of`` and its ``place`` there:

* ``J15``: the amplitude of a character in the rows of W_E of that class, |x_hat(k)| over the number
  of its elements; the place is that of k in lexicographic order, from 0, without the constant.
* ``PC1`` … ``PC3``: the score of a residue, its place, on a principal component of the *last*
  checkpoint, so that pictures of two checkpoints can be laid on one another.
* ``share``: the share of the variance of that checkpoint on these components, places 0 to 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from jaxtyping import Float

from strata import store
from strata.measure import subspaces
from strata.monoid import classes
from studies.dynamics.code.table import NAME
from studies.dynamics.code.trajectory import norms

COMPONENTS = 3
SCHEMA = pa.schema(
    [("epoch", pa.int32()), ("of", NAME), ("place", pa.int16()), ("value", pa.float32())]
)


class Series(NamedTuple):
    """The numbers of one kind at one checkpoint, by place."""

    of: str
    values: Float[np.ndarray, " places"]


def components(W_E: Float[np.ndarray, "n d_model"]) -> Float[np.ndarray, "k d_model"]:
    """The first principal components of the residues, the largest loading of each positive; fewer
    where the rows span fewer, none where they are all equal."""
    found = subspaces.leading(W_E, COMPONENTS)
    largest = np.abs(found).argmax(axis=1, keepdims=True)
    return found * np.sign(np.take_along_axis(found, largest, axis=1))


def observe(
    W_E: Float[np.ndarray, "n d_model"], axes: Float[np.ndarray, "k d_model"]
) -> Iterator[Series]:
    """Amplitudes, scores on the axes given, and their share of the variance; no shares where the
    rows are all equal."""
    for J in classes(len(W_E)):
        if len(J) > 1:
            yield Series(f"J{J.d}", norms(W_E[J.elements], J.orders) / len(J))
    centred = W_E.astype(np.float64) - W_E.mean(axis=0, dtype=np.float64)
    scores = centred @ axes.T
    for i, own in enumerate(scores.T):
        yield Series(f"PC{i + 1}", own)
    total = (centred**2).sum()
    if total > 0:
        yield Series("share", (scores**2).sum(axis=0) / total)


def write(path: Path | str, series: Mapping[int, Sequence[Series]]) -> None:
    """Write the series of each epoch, in that order."""
    flat = [
        (epoch, own.of, *pair)
        for epoch, found in series.items()
        for own in found
        for pair in enumerate(own.values.tolist())
    ]
    columns = {name: [row[i] for row in flat] for i, name in enumerate(SCHEMA.names)}
    store.write_table(path, columns, SCHEMA)


def read(path: Path | str) -> pd.DataFrame:
    """The rows of a run. Raises InputError where it is no table of this kind."""
    return pd.DataFrame(store.read_table(path, SCHEMA))


def matrix(frame: pd.DataFrame, of: str) -> Float[np.ndarray, "checkpoints places"]:
    """One kind of numbers, a row for each checkpoint; no rows where there is none of it."""
    own = frame.loc[frame["of"] == of]
    return own.pivot(index="epoch", columns="place", values="value").to_numpy(np.float64)
