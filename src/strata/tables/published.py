"""What the paper says, what its own weights say, what ours say, and what is typical: the tables of
published weights."""

from dataclasses import replace
from typing import Any

import pandas as pd

from strata.params import Params
from strata.tables import claims, headline
from strata.tables.headline import Table

Json = dict[str, Any]


def of_published(
    published: Json,
    ours: Json,
    seeds: pd.DataFrame,
    classes: pd.DataFrame,
    printed: Json,
    params: Params,
) -> tuple[Table, ...]:
    """The tables of a run with published weights; its claims stand beside those of our runs.

    `published` and `ours` are metrics files, `seeds` and `classes` the tables of claims over seeds,
    of the text and of Tables 2 and 3. Our run stands there where modulus and seed are the same, the
    seeds where they are of that modulus.
    """
    same = all(published[key] == ours[key] for key in ("n", "seed", "architecture"))
    typical = (params.grid.moduli[0], "transformer") == (published["n"], published["architecture"])

    def beside(theirs: pd.DataFrame, own: pd.DataFrame, over: pd.DataFrame) -> pd.DataFrame:
        changed = {"ours": "published", "difference": "published_difference"}
        frame = theirs.rename(columns=changed)
        if same:
            names = ["claim", *(name for name in changed if name in own)]
            frame = frame.merge(own[names], on="claim", how="left", validate="one_to_one")
        if typical:
            names = ["claim", "runs", "mean", "low", "high", "verdict"]
            frame = frame.merge(over[names], on="claim", how="left", validate="one_to_one")
        return frame

    *others, text = headline.tables(published, printed, params)  # the claims come last
    of_text = beside(text.frame, claims.of_text(ours, printed, params), seeds)
    by_class = headline.class_claims(published, printed)
    mine = headline.class_claims(ours, printed)
    about = f"Tables 2 and 3 (n = {published['n']}, seed {published['seed']})."
    return (
        *others,
        replace(text, frame=of_text),
        Table("classes-verdict", about, beside(by_class, mine, classes)),
    )
