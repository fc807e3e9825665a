"""What the paper says, what its own weights say, what ours say, and what is typical: the tables of
published weights."""

from dataclasses import replace
from typing import Any

import pandas as pd

from strata import tables
from strata.params import Params
from strata.run import Run
from strata.tables import Table

Json = dict[str, Any]


def of_published(
    published: Json, ours: Json, seeds: pd.DataFrame, printed: Json, params: Params
) -> tuple[Table, ...]:
    """The tables of a run with published weights; its claims stand beside those of our runs.

    `published` and `ours` are metrics files, `seeds` the table of claims over seeds. Our run stands
    there where modulus and seed are the same, the seeds where they are of that modulus.
    """
    *others, text = tables.tables(published, printed, params)  # the claims come last
    frame = text.frame.rename(columns={"ours": "published", "difference": "published_difference"})
    if all(published[key] == ours[key] for key in ("n", "seed", "architecture")):
        beside = tables.claims(ours, printed, params)
        names = ["claim", "ours", "difference"]
        frame = frame.merge(beside[names], on="claim", how="left", validate="one_to_one")
    first = Run.parse(params.grid.runs[0])
    if (first.n, first.architecture) == (published["n"], published["architecture"]):
        names = ["claim", "runs", "mean", "low", "high", "verdict"]
        frame = frame.merge(seeds[names], on="claim", how="left", validate="one_to_one")
    return (*others, replace(text, frame=frame))
