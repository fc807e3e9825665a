"""What hangs on the fraction of pairs that a run is trained on: criteria.md."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS, UNTESTED
from strata.run import Run
from strata.tables.planned import PLANNED, planned
from strata.tables.table import RUNS, SAID, Cells, Column, Record, Table

FRACTIONS = {"fraction": Column("fraction")} | PLANNED


def tables(
    asked: Mapping[Run, float], runs: Sequence[Metrics], accounts: pd.DataFrame
) -> tuple[Table, Table]:
    """The runs, each with its fraction, and what is said of them."""
    [n] = {run.n for run in asked}
    about = f"Fraction of pairs trained on, n = {n}"
    order = sorted(asked, key=lambda run: (asked[run], run.seed))
    own = planned(order, runs, accounts)
    own.insert(0, "fraction", [asked[run] for run in order])
    return (
        Table("fractions", f"{about}: the runs.", own, FRACTIONS),
        Table("fractions-said", f"{about}: what is said.", statements(own), STATEMENTS),
    )


SENTENCES = {
    "epoch": "epoch from which validation stays",
    "first": "first epoch of validation",
    "mixing": "mixing",
}
DOWN = {HOLDS: "goes down with the fraction", FAILS: "does not go down at every step"}
DEPENDS = {HOLDS: "depends on data", FAILS: "not said to depend on data"}
WORDS = {"epoch": DOWN, "first": DOWN, "mixing": DEPENDS}


def said(row: Record) -> str:
    """A verdict in words."""
    if row["verdict"] == UNTESTED:
        return f"not called: {row['trained']} of {row['planned']} runs"
    return WORDS[row["id"]][row["verdict"]]


STATEMENTS = {"sentence": Column("about", align="l")} | RUNS | {
    "held": Column("counted", lambda row: f"{row['held']} of {row['of_all']}", missing=""),
    "verdict": SAID._replace(style=said),
}  # fmt: skip


def statements(listed: pd.DataFrame) -> pd.DataFrame:
    """What is said of each epoch: whether it goes down at every step of the fraction in each seed,
    with the steps at which it does. And of mixing among the runs that generalise: whether both
    seeds mix at one fraction and neither at another, with the runs that mix. Nothing is said while
    runs are missing; of mixing there is no row where no study says which runs mix."""
    done = listed.query("generalises == True")
    trained = len(listed.dropna(subset=["generalises"]))
    rows = [{"id": x, "runs": trained} | _epochs(listed, x) for x in ("epoch", "first")]
    if "mixes" in listed:
        rows.append({"id": "mixing", "runs": len(done)} | _mixing(done, len({*listed["seed"]})))
    names = ["id", "sentence", "runs", "held", "of_all", "trained", "planned", "verdict"]
    frame = pd.DataFrame(rows, columns=names).assign(trained=trained, planned=len(listed))
    frame["sentence"] = frame["id"].map(SENTENCES.__getitem__)
    if trained < len(listed):
        frame = frame.assign(held=None, of_all=None, verdict=UNTESTED)
    return frame.astype({"held": "Int64", "of_all": "Int64"})


def _epochs(by_run: pd.DataFrame, which: str) -> Cells:
    """A run that is never at the level is later than all that are."""
    by = by_run.assign(epoch=by_run[f"{which}_validation"].astype(float).fillna(np.inf))
    epochs = by.pivot(index="fraction", columns="seed", values="epoch").to_numpy()
    down = epochs[1:] < epochs[:-1]
    held = {"held": int(down.sum()), "of_all": down.size}
    return held | {"verdict": HOLDS if down.all() else FAILS}


def _mixing(done: pd.DataFrame, seeds: int) -> Cells:
    """A fraction at which a run does not generalise is neither."""
    of = [group["mixes"].tolist() for _, group in done.groupby("fraction")]
    whole = [mixes for mixes in of if len(mixes) == seeds]
    depends = any(map(all, whole)) and not all(map(any, whole))
    held = {"held": done["mixes"].tolist().count(True), "of_all": len(done)}
    return held | {"verdict": HOLDS if depends else FAILS}
