"""The runs that a study plans, with what is said of each; those that are not there have a row
without numbers."""

from collections.abc import Sequence

import pandas as pd

from strata import results
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.table import RUN, SEED, Column

EPOCH = Column(
    "to stay, validation", "count", "r", "never", lambda row: pd.isna(row["generalises"])
)
KNOWN = {  # of every run that is trained
    "generalises": Column("generalises", "truth", "l", missing="not trained"),
    "first_validation": EPOCH._replace(heading="first, validation"),
    "epoch_validation": EPOCH,
    "accuracy_validation": Column("validation", "share"),
    "accuracy_mirror_free": Column("mirror-free", "share"),
    "accuracy_all": Column("all pairs", "share"),
}
PLANNED = RUN | SEED | KNOWN | {
    "mixes": Column("mixes", "truth", "l"),
    "L": Column("logits", align="l"),
    "E": Column("embedding", align="l"),
}  # fmt: skip


def planned(asked: Sequence[Run], runs: Sequence[Metrics], accounts: pd.DataFrame) -> pd.DataFrame:
    """A row for each run that is asked for, in that order; ``accounts`` has what the study of
    strata and primes found. A verdict that it has not given is no column."""
    known = {x.run: x for x in runs}
    rows = []
    for run in asked:
        row = {"run": str(run), "seed": run.seed}
        if x := known.get(str(run)):
            row |= {"generalises": x.generalised, "first_validation": x.first_099.validation}
            row |= {"epoch_validation": x.epoch_099.validation}
            names = ("validation", "mirror_free", "all")
            row |= {f"accuracy_{name}": getattr(x.accuracy, name) for name in names}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["run", "seed", *KNOWN])
    whole = dict.fromkeys(["first_validation", "epoch_validation"], "Int64")
    frame = frame.astype({"generalises": "boolean"} | whole)
    verdicts = {
        "mixes": results.truths(accounts, "mixing"),
        "L": results.verdicts(accounts, "logits"),
        "E": results.verdicts(accounts, "embedding"),
    }
    for name, given in verdicts.items():
        if given:
            frame[name] = frame["run"].map(given)
    return frame
