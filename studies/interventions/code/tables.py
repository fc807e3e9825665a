"""Tables of the interventions on one run.

As in ``headline`` numbers are not rounded, and ``format`` makes the frames readable; a range of
draws and the shares modulo each prime power are text. A skill that does not exist is missing.
"""

from typing import Any, get_args

import pandas as pd

from strata.patch.scores import Measures, Range
from strata.tables.headline import Table, about
from studies.interventions.code.evidence import evidence
from studies.interventions.code.records import Interventions, Region, Subspace

SCORES = ["skill", "accuracy", "loss", "class_accuracy"]


def of_run(run: Interventions) -> tuple[Table, ...]:
    """Every table of one run."""
    of = about(run.run)
    kept = f"Skill with key characters alone (keep) and without them (remove) {of}."
    spared = f"Skill without the directions of a class {of}."
    axis = f"Skill without one axis of the directions of a class {of}."
    changed = f"Patterns and OV circuits of attention heads changed {of}."
    success = f"Answers to operands made of two {of}."
    return (
        Table("evidence", f"The criteria of docs/interventions.md {of}.", evidence(run)),
        Table("keep-remove-skill", kept, keep_remove(run)),
        Table("specificity-skill", spared, specificity(run)),
        Table("axes", axis, axes(run)),
        Table("interchange-success", success, interchange(run)),
        Table("routing-skill", changed, routing(run)),
        Table("ablated-heads", f"Without what some heads write {of}.", ablated(run)),
    )


def keep_remove(run: Interventions) -> pd.DataFrame:
    """Skill and loss with key characters kept or removed, and the range of each control."""
    rows = []
    for r in run.keep_remove:
        scope = "all" if r.d is None else f"J{r.d}"
        row: dict[str, Any] = {"site": r.site, "scope": scope, "action": r.action}
        row |= {"dimension": r.dimension, "skill": r.own.skill, "loss": r.own.loss}
        row |= {name: _range(control.own.skill) for name, control in r.controls.items()}
        other = r.controls.get("other")
        rows.append(row | {"other_dimension": other.dimension if other else None})
    names = ["site", "scope", "action", "dimension", "skill", "loss", "other_dimension"]
    return pd.DataFrame(rows, columns=[*names, *get_args(Subspace)])


def specificity(run: Interventions) -> pd.DataFrame:
    """Skill inside and outside the pairs of a class without its directions, or random ones."""
    return _regions(run, False, ("inside", "outside")).drop(columns="axis")


def axes(run: Interventions) -> pd.DataFrame:
    """The same axis by axis: pairs with the axis, with an operand in the class or none; without."""
    return _regions(run, True, ("own", "shared", "spared")).astype({"axis": "Int64"})


def _regions(run: Interventions, by_axis: bool, regions: tuple[Region, ...]) -> pd.DataFrame:
    rows = []
    for r in (r for r in run.specificity if (r.axis is not None) == by_axis):
        row: dict[str, Any] = {"d": r.d, "axis": r.axis, "dimension": r.dimension}
        for name in regions:
            scores, drawn = r.regions[name], r.random[name]
            row[f"skill_{name}"] = scores.skill if scores else None
            row[f"random_{name}"] = drawn.skill.mean if drawn else None
        rows.append(row)
    columns = [f"{kind}_{name}" for name in regions for kind in ("skill", "random")]
    return pd.DataFrame(rows, columns=["d", "axis", "dimension", *columns])


def interchange(run: Interventions) -> pd.DataFrame:
    """Success of each kind of interchange, with chance and norm-matched random directions."""
    rows = [
        (r.kind, r.trials, r.success, r.chance, r.random, r.unchanged, r.in_class)
        for r in run.interchange
    ]
    names = ["swap", "trials", "success", "chance", "random_success", "unchanged", "in_class"]
    return pd.DataFrame(rows, columns=names)


def routing(run: Interventions) -> pd.DataFrame:
    """Skill after each change of patterns and OV circuits; means over draws where it is random."""
    rows = []
    for r in (r for r in run.routing if r.change != "ablate"):
        row: dict[str, Any] = {"change": r.label, "heads": _heads(r.heads), "rank": r.rank}
        row["dimension"] = r.dimension
        if r.all:
            row |= _scores(r.all)
        elif r.draws:
            drawn = r.draws
            row |= {"skill": drawn.skill.mean, "accuracy": drawn.accuracy.mean}
            row["loss"] = drawn.loss.mean
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["change", "heads", "rank", "dimension", *SCORES])
    return frame.astype({"rank": "Int64", "dimension": "Int64"})


def ablated(run: Interventions) -> pd.DataFrame:
    """What the ablation of heads leaves: skill, class, agreement modulo each prime power of n."""
    rows = []
    for r in run.routing:
        if r.change == "ablate" and r.all:
            powers = sorted(r.all.modulo.items())
            modulo = ", ".join(f"{q}: {100 * x:.1f} %" for q, x in powers)
            rows.append({"heads": _heads(r.heads), **_scores(r.all), "modulo": modulo})
    return pd.DataFrame(rows, columns=["heads", *SCORES, "modulo"])


def _scores(measured: Measures) -> dict[str, float | None]:
    return {
        "skill": measured.skill,
        "accuracy": measured.accuracy,
        "loss": measured.loss,
        "class_accuracy": measured.class_accuracy,
    }


def _heads(heads: tuple[int, ...]) -> str:
    return ", ".join(map(str, heads))


def _range(x: Range) -> str | None:
    """Mean and range of the draws, as a percentage; None where no draw has the number.

    >>> _range(Range(mean=0.5, low=0.25, high=0.75))
    '50.0 (25.0 … 75.0) %'
    """
    if x.mean is None or x.low is None or x.high is None:
        return None
    return f"{100 * x.mean:.1f} ({100 * x.low:.1f} … {100 * x.high:.1f}) %"
