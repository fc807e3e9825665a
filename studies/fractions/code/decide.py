"""Decide what depends on the fraction of pairs that a run is trained on: criteria.md."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from strata.measure.metrics import Metrics
from strata.results import FAILS, HOLDS
from strata.run import Run
from strata.tables.planned import PLANNED, planned_runs
from strata.tables.statements import Statements
from strata.tables.table import RUNS, Cells, Column, Table, count_of

DOWN = {HOLDS: "goes down with the fraction", FAILS: "does not go down at every step"}
STATEMENTS = Statements(
    {
        "epoch": "epoch from which validation stays",
        "first": "first epoch of validation",
        "mixing": "mixing",
    },
    {
        "epoch": DOWN,
        "first": DOWN,
        "mixing": {HOLDS: "depends on data", FAILS: "not said to depend on data"},
    },
)
FRACTIONS = {"fraction": Column("fraction")} | PLANNED
DECIDED = STATEMENTS.columns("about") | RUNS | {
    "held": Column("counted", count_of("held", "of_all"), missing="")
}  # fmt: skip


def tables(
    fractions: Mapping[Run, float], runs: Sequence[Metrics], accounts: pd.DataFrame
) -> tuple[Table, Table]:
    """Return the tables of the planned runs, each with its fraction, and of what they decide."""
    [n] = {run.n for run in fractions}
    about = f"Fraction of pairs trained on, n = {n}"
    order = sorted(fractions, key=lambda run: (fractions[run], run.seed))
    listed = planned_runs(order, runs, accounts)
    listed.insert(0, "fraction", [fractions[run] for run in order])
    return (
        Table("fractions", f"{about}: the runs.", listed, FRACTIONS),
        Table("fractions-said", f"{about}: verdicts.", statements(listed), DECIDED),
    )


def statements(listed: pd.DataFrame) -> pd.DataFrame:
    """Decide for each epoch whether it goes down at every step of the fraction in each seed, and
    count the steps at which it does; for mixing, among the runs that generalise, whether both seeds
    mix at one fraction and neither at another. There is no row of mixing where no study says which
    runs mix."""
    trained, generalising = listed.dropna(subset="generalises"), listed.query("generalises == True")
    rows = [
        {"id": id, "runs": len(trained)} | steps_down(listed, f"{id}_validation")
        for id in ("epoch", "first")
    ]
    if "mixes" in listed:
        rows.append({"id": "mixing"} | mixing(generalising, len({*listed["seed"]})))
    names = ["id", "sentence", "runs", "held", "of_all", "trained", "planned", "verdict"]
    return STATEMENTS.planned_frame(rows, listed, names, ["held", "of_all"])


def steps_down(listed: pd.DataFrame, name: str) -> Cells:
    """Compare the epochs of neighbouring fractions; a run that is never at the level is later than
    all that are."""
    epochs = listed.assign(epoch=listed[name].astype(float).fillna(np.inf))
    by_fraction = epochs.pivot(index="fraction", columns="seed", values="epoch").to_numpy()
    down = by_fraction[1:] < by_fraction[:-1]
    verdict = HOLDS if down.all() else FAILS
    return {"held": int(down.sum()), "of_all": down.size, "verdict": verdict}


def mixing(runs: pd.DataFrame, seeds: int) -> Cells:
    """Compare fractions; one at which a run does not generalise is left out."""
    fractions = [group["mixes"].tolist() for _, group in runs.groupby("fraction")]
    complete = [mixes for mixes in fractions if len(mixes) == seeds]
    depends = any(map(all, complete)) and not all(map(any, complete))
    counts = {"runs": len(runs), "held": runs["mixes"].tolist().count(True), "of_all": len(runs)}
    return counts | {"verdict": HOLDS if depends else FAILS}
