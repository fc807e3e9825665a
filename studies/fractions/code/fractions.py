"""What hangs on the fraction of pairs that a run is trained on: criteria.md."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.planned import PLANNED, planned
from strata.tables.table import RUNS, SAID, Column, Record, Table

FRACTIONS = {"fraction": Column("fraction")} | PLANNED


def tables(
    asked: Mapping[Run, float], runs: Sequence[Metrics], found: pd.DataFrame
) -> tuple[Table, Table]:
    """The runs, each with its fraction, and what is said of them."""
    [n] = {run.n for run in asked}
    about = f"Fraction of pairs trained on, n = {n}"
    order = sorted(asked, key=lambda run: (asked[run], run.seed))
    own = planned(order, runs, found)
    own.insert(0, "fraction", [asked[run] for run in order])
    return (
        Table("fractions", f"{about}: the runs.", own, FRACTIONS),
        Table("fractions-said", f"{about}: what is said.", statements(own), STATEMENTS),
    )


EPOCH, MIXING = "epoch from which validation stays", "mixing"
FIRST = "first epoch of validation"
DOWN = {"yes": "goes down with the fraction", "no": "does not go down at every step"}
DEPENDS = {"yes": "depends on data", "no": "not said to depend on data"}
WORDS = {EPOCH: DOWN, FIRST: DOWN, MIXING: DEPENDS}


def said(row: Record) -> str:
    """A verdict in words."""
    if row["verdict"] == "not called":
        return f"not called: {row['trained']} of {row['planned']} runs"
    return WORDS[row["about"]][row["verdict"]]


STATEMENTS = {"about": Column("about", align="l")} | RUNS | {
    "held": Column("counted", lambda row: f"{row['held']} of {row['of_all']}", missing=""),
    "verdict": SAID["said"]._replace(style=said),
}  # fmt: skip


def statements(own: pd.DataFrame) -> pd.DataFrame:
    """What is said of each epoch: whether it goes down at every step of the fraction in each seed,
    with the steps at which it does. And of mixing among the runs that generalise: whether both
    seeds mix at one fraction and neither at another, with the runs that mix. Nothing is said while
    runs are missing; of mixing there is no row where no study says which runs mix."""
    done = own.query("generalises == True")
    trained = len(own.dropna(subset=["generalises"]))
    epochs = {EPOCH: "epoch_validation", FIRST: "first_validation"}
    rows = [{"about": x, "runs": trained} | _epochs(own, name) for x, name in epochs.items()]
    if "mixes" in own:
        rows.append({"about": MIXING, "runs": len(done)} | _mixing(done, len({*own["seed"]})))
    names = ["about", "runs", "held", "of_all", "trained", "planned", "verdict"]
    frame = pd.DataFrame(rows, columns=names).assign(trained=trained, planned=len(own))
    if trained < len(own):
        frame = frame.assign(held=None, of_all=None, verdict="not called")
    return frame.astype({"held": "Int64", "of_all": "Int64"})


def _epochs(own: pd.DataFrame, name: str) -> dict[str, int | str]:
    """A run that is never at the level is later than all that are."""
    by = own.assign(epoch=own[name].astype(float).fillna(np.inf))
    epochs = by.pivot(index="fraction", columns="seed", values="epoch").to_numpy()
    down = epochs[1:] < epochs[:-1]
    held = {"held": int(down.sum()), "of_all": down.size}
    return held | {"verdict": "yes" if down.all() else "no"}


def _mixing(done: pd.DataFrame, seeds: int) -> dict[str, int | str]:
    """A fraction at which a run does not generalise is neither."""
    of = [group["mixes"].tolist() for _, group in done.groupby("fraction")]
    whole = [mixes for mixes in of if len(mixes) == seeds]
    depends = any(map(all, whole)) and not all(map(any, whole))
    held = {"held": done["mixes"].tolist().count(True), "of_all": len(done)}
    return held | {"verdict": "yes" if depends else "no"}
