"""What the paper says, what its own weights say, and what ours say: the tables of published
weights."""

from dataclasses import replace
from typing import Any

from strata import tables
from strata.params import Params
from strata.tables import Table

Json = dict[str, Any]


def of_published(published: Json, ours: Json, printed: Json, params: Params) -> tuple[Table, ...]:
    """The tables of a run with published weights; its claims stand beside those of our run.

    `published` and `ours` are metrics files. Ours stand there where modulus and seed are the same.
    """
    *others, text = tables.tables(published, printed, params)  # the claims come last
    frame = text.frame.rename(columns={"ours": "published", "difference": "published_difference"})
    if all(published[key] == ours[key] for key in ("n", "seed", "architecture")):
        beside = tables.claims(ours, printed, params)
        names = ["claim", "ours", "difference"]
        frame = frame.merge(beside[names], on="claim", how="left", validate="one_to_one")
    return (*others, replace(text, frame=frame))
