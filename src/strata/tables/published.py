"""What the paper says, what its own weights say, what ours say, and what is typical: the tables of
published weights."""

from dataclasses import replace

import pandas as pd

from strata.measure.metrics import Metrics
from strata.params import Params
from strata.tables import claims, headline
from strata.tables.printed import Printed
from strata.tables.spread import PLACE
from strata.tables.table import RUNS, SPREAD, Column, Table

COLUMNS = claims.COLUMNS | RUNS | SPREAD | PLACE | {
    "published": Column("published weights", "unit"),
    "published_difference": Column("published − paper’s", "unit difference"),
}  # fmt: skip
Frames = tuple[pd.DataFrame | None, pd.DataFrame | None]


def of_published(
    published: Metrics,
    ours: Metrics,
    seeds: pd.DataFrame,
    classes: pd.DataFrame,
    printed: Printed,
    params: Params,
) -> tuple[Table, ...]:
    """The tables of a run with published weights; its claims stand beside those of our runs.

    `seeds` and `classes` are the tables of claims over seeds, of the text and of Tables 2 and 3.
    Our run stands there where modulus and seed are the same, the seeds where they are of that
    modulus.
    """
    *others, text = headline.tables(published, printed, params)  # the claims come last
    by_class = headline.class_claims(published, printed)
    own: Frames = (None, None)
    named = [(run.n, run.seed, run.architecture) for run in (published, ours)]
    if named[0] == named[1]:
        own = claims.of_text(ours, printed, params), headline.class_claims(ours, printed)
    typical = (params.grid.moduli[0], "transformer") == (published.n, published.architecture)
    over: Frames = (seeds, classes) if typical else (None, None)
    about = f"Tables 2 and 3 {headline.about(published.run)}."
    return (
        *others,
        replace(text, frame=beside(text.frame, own[0], over[0]), columns=COLUMNS),
        Table("classes-verdict", about, beside(by_class, own[1], over[1]), COLUMNS),
    )


def beside(
    theirs: pd.DataFrame, own: pd.DataFrame | None, over: pd.DataFrame | None
) -> pd.DataFrame:
    """Claims about published weights, and beside them those of our run and over our seeds, where
    there are any."""
    changed = {"ours": "published", "difference": "published_difference"}
    frame = theirs.rename(columns=changed)
    if own is not None:
        names = ["claim", *(name for name in changed if name in own)]
        frame = frame.merge(own[names], on="claim", how="left", validate="one_to_one")
    if over is not None:
        names = ["claim", "runs", "mean", "low", "high", "verdict", "agree"]
        frame = frame.merge(over[names], on="claim", how="left", validate="one_to_one")
    return frame
