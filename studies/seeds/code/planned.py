"""The runs that a study plans, with what is said of each; those that are not there have a row
without numbers."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from strata.run import Run
from studies.mechanism.code.study import Choice
from studies.seeds.code import paired
from studies.seeds.code.beside_seeds import Studied

Row = dict[str, Any]
SAID = ["about", "runs", "counted", "said"]  # columns of a table of sentences


def planned(asked: Sequence[Run], runs: Sequence[Studied], choice: Choice) -> pd.DataFrame:
    """A row for each run that is asked for, in that order."""
    found = there(asked, runs)
    rows = [
        {"run": str(run), "seed": run.seed}
        | (_verdicts(found[str(run)], choice) if str(run) in found else {})
        for run in asked
    ]
    names = ["run", "seed", "generalises", "epoch_validation", "accuracy_all", "mixes", "L", "E"]
    kinds = {"generalises": "boolean", "epoch_validation": "Int64", "mixes": "boolean"}
    return pd.DataFrame(rows, columns=names).astype(kinds)


def there(asked: Sequence[Run], runs: Sequence[Studied]) -> dict[str, Studied]:
    """Those that are there, by name."""
    known = {x.interventions.run: x for x in runs}
    return {name: known[name] for name in map(str, asked) if name in known}


def _verdicts(found: Studied, choice: Choice) -> Row:
    case, own = found.case, paired.subject(found, choice)
    row: Row = {"generalises": own.generalises, "mixes": own.mixes}
    row |= {"epoch_validation": case.metrics.epoch_099.validation}
    row |= {"accuracy_all": case.metrics.accuracy.all, "E": case.E}
    return row | {"L": choice.votes(case).L if case.decides else None}


def not_called(own: pd.DataFrame) -> str:
    """What is said where runs are missing; empty where all are there."""
    known = len(own.dropna(subset=["generalises"]))
    return f"not called: {known} of {len(own)} runs" if known < len(own) else ""
