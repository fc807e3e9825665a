"""The runs that a study plans, with what is said of each; those that are not there have a row
without numbers."""

from collections.abc import Sequence

import pandas as pd

from strata import results
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.table import RUN, SEED, Column

PLANNED = RUN | SEED | {
    "generalises": Column("generalises", "truth", "l", missing="not trained"),
    "epoch_validation": Column(
        "to stay, validation", "count", "r", "never", lambda row: pd.isna(row["generalises"])
    ),
    "accuracy_all": Column("accuracy, all pairs", "share"),
    "mixes": Column("mixes", "truth", "l"),
    "L": Column("logits", align="l"),
    "E": Column("embedding", align="l"),
}  # fmt: skip


def planned(asked: Sequence[Run], runs: Sequence[Metrics], found: pd.DataFrame) -> pd.DataFrame:
    """A row for each run that is asked for, in that order; ``found`` is what studies measured of
    all runs. A verdict that no study has given is no column."""
    known = {x.run: x for x in runs}
    rows = []
    for run in asked:
        row = {"run": str(run), "seed": run.seed}
        if x := known.get(str(run)):
            row |= {"generalises": x.generalised}
            row |= {"epoch_validation": x.epoch_099.validation, "accuracy_all": x.accuracy.all}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["run", "seed", *list(PLANNED)[2:5]])
    frame = frame.astype({"generalises": "boolean", "epoch_validation": "Int64"})
    verdicts = {
        "mixes": results.truths(found, "mixing"),
        "L": results.verdicts(found, "verdict on the logits"),
        "E": results.verdicts(found, "verdict on the embedding"),
    }
    for name, given in verdicts.items():
        if given:
            frame[name] = frame["run"].map(given)
    return frame
