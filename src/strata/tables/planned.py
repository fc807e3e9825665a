"""Compute the table of the runs that a study plans; a run that is not trained has a row without
numbers."""

from collections.abc import Sequence

import pandas as pd

from strata import results
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.table import RUN, SEED, Column

EPOCH = Column(
    "to stay, validation", "count", "r", "never", lambda row: pd.isna(row["generalises"])
)
TRAINED = {  # of every run that is trained
    "generalises": Column("generalises", "truth", "l", missing="not trained"),
    "first_validation": EPOCH._replace(heading="first, validation"),
    "epoch_validation": EPOCH,
    "accuracy_validation": Column("validation", "share"),
    "accuracy_mirror_free": Column("mirror-free", "share"),
    "accuracy_all": Column("all pairs", "share"),
}
PLANNED = RUN | SEED | TRAINED | {
    "mixes": Column("mixes", "truth", "l"),
    "L": Column("logits", align="l"),
    "E": Column("embedding", align="l"),
}  # fmt: skip


def planned_runs(
    plan: Sequence[Run], runs: Sequence[Metrics], accounts: pd.DataFrame
) -> pd.DataFrame:
    """Return a row for each planned run, in order. ``accounts`` has the verdicts of the study of
    strata and primes; a verdict that it has not given has no column."""
    trained = {x.run: x for x in runs}
    rows = []
    for run in plan:
        row = {"run": str(run), "seed": run.seed}
        if x := trained.get(str(run)):
            row |= {"generalises": x.generalised, "first_validation": x.first_099.validation}
            row |= {"epoch_validation": x.epoch_099.validation}
            names = ("validation", "mirror_free", "all")
            row |= {f"accuracy_{name}": getattr(x.accuracy, name) for name in names}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["run", "seed", *TRAINED])
    integers = dict.fromkeys(["first_validation", "epoch_validation"], "Int64")
    frame = frame.astype({"generalises": "boolean"} | integers)
    verdicts = {
        "mixes": results.truths(accounts, "mixing"),
        "L": results.verdicts(accounts, "logits"),
        "E": results.verdicts(accounts, "embedding"),
    }
    for name, by_run in verdicts.items():
        if by_run:
            frame[name] = frame["run"].map(by_run)
    return frame
