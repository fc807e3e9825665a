"""Tables of the interventions: of one run, of a run beside its negative controls, of many runs.

`found` is an interventions file. As in ``tables`` numbers are not rounded, and ``typeset`` makes
the frames readable; an interval of draws and the shares modulo each prime power are text. A skill,
a share or a level that does not exist is missing.
"""

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

import numpy as np
import pandas as pd

from strata.interventions import criteria
from strata.tables.headline import Table

Json = dict[str, Any]
CONTROLS = ("other", "random", "additive")


def of_run(found: Json) -> tuple[Table, ...]:
    """Every table of one run."""
    run = f"(n = {found['n']}, seed {found['seed']})"
    kept = f"Skill with key characters alone (keep) and without them (remove) {run}."
    spared = f"Skill without the directions of a class {run}."
    axis = f"Skill without one axis of the directions of a class {run}."
    changed = f"Patterns and OV circuits of attention heads changed {run}."
    return (
        Table("evidence", f"The criteria of docs/interventions.md {run}.", evidence(found)),
        Table("keep-remove-skill", kept, keep_remove(found)),
        Table("specificity-skill", spared, specificity(found)),
        Table("axes", axis, axes(found)),
        Table("interchange-success", f"Answers to operands made of two {run}.", interchange(found)),
        Table("routing-skill", changed, routing(found)),
        Table("ablated-heads", f"Without what some heads write {run}.", ablated(found)),
    )


def evidence(found: Json) -> pd.DataFrame:
    """Every criterion: its number in the worst case, what that is held against, the verdict."""
    rows = [
        {
            "section": v.section,
            "test": v.test,
            "value": v.value,
            "against": v.against,
            "held": f"{v.held} of {v.cases}" if v.cases else "",
            "passed": v.passed,
        }
        for v in criteria.judge(found)
    ]
    return _frame(rows, ["section", "test", "value", "against", "held", "passed"])


def keep_remove(found: Json) -> pd.DataFrame:
    """Skill and loss with key characters kept or removed, and the interval of each control."""
    rows = []
    for r in found.get("keep_remove", ()):
        row = {"site": r["site"], "scope": _scope(r["class"]), "action": r["action"]}
        row |= {"dimension": r["dimension"], "skill": r["own"]["skill"], "loss": r["own"]["loss"]}
        for name in CONTROLS:
            drawn = r["controls"].get(name, {}).get("own")
            row[name] = _interval(drawn["skill"]) if drawn else None
        other = r["controls"].get("other")
        rows.append(row | {"other_dimension": other["dimension"] if other else None})
    names = ["site", "scope", "action", "dimension", "skill", "loss"]
    return _frame(rows, [*names, "other_dimension", *CONTROLS])


def specificity(found: Json) -> pd.DataFrame:
    """Skill inside and outside the pairs of a class without its directions, or random ones."""
    return _regions(found, False, ("inside", "outside")).drop(columns="axis")


def axes(found: Json) -> pd.DataFrame:
    """The same axis by axis: pairs with the axis, with an operand in the class or none; without."""
    return _regions(found, True, ("own", "shared", "spared")).astype({"axis": "Int64"})


def _regions(found: Json, by_axis: bool, regions: tuple[str, ...]) -> pd.DataFrame:
    rows = []
    for r in (r for r in found.get("specificity", ()) if (r["axis"] is not None) == by_axis):
        row: Json = {"d": r["class"], "axis": r["axis"], "dimension": r["dimension"]}
        for name in regions:
            measured, drawn = r["regions"][name], r["random"][name]
            row[f"skill_{name}"] = measured["skill"] if measured else None
            row[f"random_{name}"] = drawn["skill"]["mean"] if drawn else None
        rows.append(row)
    columns = [f"{kind}_{name}" for name in regions for kind in ("skill", "random")]
    return _frame(rows, ["d", "axis", "dimension", *columns])


def interchange(found: Json) -> pd.DataFrame:
    """Success of each kind of swap, with chance and random swaps of the same length."""
    names = ["swap", "trials", "success", "chance", "random_success", "unchanged", "in_class"]
    rows = [r | {"random_success": r["random"]} for r in found.get("interchange", ())]
    return _frame(rows, names)


def routing(found: Json) -> pd.DataFrame:
    """Skill after each change of patterns and OV circuits; means over draws where it is random."""
    rows = []
    for r in (r for r in found.get("routing", ()) if r["change"] != "ablate"):
        seen = r.get("all") or {name: x["mean"] for name, x in r["draws"].items()}
        row = {name: seen.get(name) for name in ("skill", "accuracy", "loss", "class_accuracy")}
        row |= {"change": r["change"], "heads": _heads(r), "rank": r.get("rank")}
        rows.append(row | {"dimension": r.get("dimension")})
    names = ["change", "heads", "rank", "dimension", "skill", "accuracy", "loss", "class_accuracy"]
    return _frame(rows, names).astype({"rank": "Int64", "dimension": "Int64"})


def ablated(found: Json) -> pd.DataFrame:
    """What the ablation of heads leaves: skill, class, agreement modulo each prime power of n."""
    rows = []
    for r in (r for r in found.get("routing", ()) if r["change"] == "ablate"):
        seen = r["all"]
        powers = sorted(seen["modulo"].items(), key=lambda item: int(item[0]))
        row = {name: seen[name] for name in ("skill", "accuracy", "loss", "class_accuracy")}
        row |= {"heads": _heads(r), "modulo": ", ".join(f"{q}: {100 * x:.1f} %" for q, x in powers)}
        rows.append(row)
    names = ["heads", "skill", "accuracy", "loss", "class_accuracy", "modulo"]
    return _frame(rows, names)


def _heads(record: Json) -> str:
    return ", ".join(map(str, record["heads"]))


def beside_controls(trained: Json, memorised: Json, untrained: Json) -> tuple[Table, ...]:
    """Each criterion on a run, on its weights before it generalised, and before it was trained."""
    models = {"trained": trained, "memorised": memorised, "untrained": untrained}
    judged = {name: _by_test(found) for name, found in models.items()}
    rows = []
    for section, test in judged["trained"]:
        row: Json = {"section": section, "test": test}
        for name, verdicts in judged.items():
            verdict = verdicts.get((section, test))
            row[f"value_{name}"] = verdict.value if verdict else None
            row[f"passed_{name}"] = verdict.passed if verdict else None
        rows.append(row)
    columns = [f"{kind}_{name}" for name in models for kind in ("value", "passed")]
    about = f"The criteria on {trained['run']}, and on two models that should fail them."
    return (Table("negative-controls", about, _frame(rows, ["section", "test", *columns])),)


def over_runs(*runs: Json) -> tuple[Table, ...]:
    """Each criterion over many runs: how many transformers pass, and the spread of its number in
    them; how many pass modulus by modulus, MLP-only models apart; and what heads are needed for.

    A run that diverged has no case of any criterion, and none of its numbers.
    """
    own = [found for found in runs if found["architecture"] == "transformer"]
    about = f"over {len(own)} transformer{'s' if len(own) != 1 else ''}"
    return (
        Table("evidence-runs", f"The criteria {about}.", spread(own)),
        Table("evidence-moduli", "Runs that pass the criteria, modulus by modulus.", passes(runs)),
        Table("heads-primes", "The prime powers that heads are needed for.", heads_primes(own)),
    )


def spread(runs: Sequence[Json]) -> pd.DataFrame:
    """How many runs have a case of each criterion, how many pass it, and its number in them."""
    rows = []
    for (section, test), verdicts in _judged(runs).items():
        value = pd.Series([v.value for v in verdicts], dtype=float)
        row: Json = {"section": section, "test": test, "unit": "share", "runs": len(verdicts)}
        row |= {"of": len(runs), "passes": sum(bool(v.passed) for v in verdicts)}
        row |= {"mean": value.mean(), "std": value.std(), "min": value.min(), "max": value.max()}
        rows.append(row)
    names = ["section", "test", "unit", "runs", "of", "passes", "mean", "std", "min", "max"]
    return _frame(rows, names)


def passes(runs: Sequence[Json]) -> pd.DataFrame:
    """How many of the runs of each modulus pass each criterion, of those that have a case."""
    kinds = {}
    for found in runs:
        mark = "" if found["architecture"] == "transformer" else f"{found['architecture']} "
        kinds.setdefault(f"{mark}n{found['n']}", []).append(found)
    judged = {kind: _judged(own) for kind, own in kinds.items()}
    rows = []
    for section, test in dict.fromkeys(key for verdicts in judged.values() for key in verdicts):
        own = {kind: verdicts.get((section, test), []) for kind, verdicts in judged.items()}
        cells = {k: f"{sum(bool(v.passed) for v in x)} of {len(x)}" for k, x in own.items() if x}
        rows.append({"section": section, "test": test} | dict.fromkeys(kinds, "") | cells)
    return _frame(rows, ["section", "test", *kinds])


def _judged(runs: Sequence[Json]) -> dict[tuple[str, str], list[criteria.Verdict]]:
    """The verdicts on the runs that have a case, by section and test."""
    found: dict[tuple[str, str], list[criteria.Verdict]] = {}
    for verdict in (verdict for run in runs for verdict in criteria.judge(run)):
        own = found.setdefault((verdict.section, verdict.test), [])
        if verdict.passed is not None:
            own.append(verdict)
    return found


def heads_primes(runs: Sequence[Json]) -> pd.DataFrame:
    """Which heads each prime power of n loses most by: the one modulo which least skill is left
    without the head. With the least and the most skill then left modulo that prime power, and the
    least modulo any other. Of runs whose n has more than one prime.

    Skill modulo q is (right − chance) / (1 − chance). Shares of right answers can't be compared
    between primes, so chance decides: it is that of an answer in the right class, as everywhere in
    docs/interventions.md. ``needed_zero`` is what comes out where it is that of always answering
    0, the commonest residue of a product. A model that has lost a prime and kept the classes is at
    0 on the first scale, on the second at 1/2 modulo 3 and 1/10 modulo 11.
    """
    rows = []
    for found in runs:
        right = {
            r["heads"][0]: {int(q): x for q, x in r["all"]["modulo"].items()}
            for r in found.get("routing", ())
            if r["change"] == "ablate" and len(r["heads"]) == 1
        }
        if not right or len(next(iter(right.values()))) == 1:
            continue
        left = {h: _skills(x, _class_known) for h, x in right.items()}
        zero = {h: _skills(x, _always_zero) for h, x in right.items()}
        own = _own(left)
        at = [skill[own[head]] for head, skill in left.items()]
        others = [x for head, skill in left.items() for q, x in skill.items() if q != own[head]]
        row = {"n": found["n"], "seed": found["seed"], "needed": _needed(left)}
        row |= {"own_least": min(at), "own_most": max(at)}
        rows.append(row | {"others_least": min(others, default=None), "needed_zero": _needed(zero)})
    rows.sort(key=lambda row: (-row["n"], row["seed"]))
    names = ["n", "seed", "needed", "own_least", "own_most", "others_least", "needed_zero"]
    return _frame(rows, names)


def _own(left: dict[int, dict[int, float]]) -> dict[int, int]:
    """The prime power modulo which least skill is left without a head, for each head."""
    return {head: min(skill, key=lambda q: skill[q]) for head, skill in left.items()}


def _needed(left: dict[int, dict[int, float]]) -> str:
    """The heads of each prime power, from the skill that each head leaves.

    >>> _needed({0: {3: 0.5, 5: 0.1}, 1: {3: 0.0, 5: 1.0}, 2: {3: 0.9, 5: 0.8}})
    '3: 1; 5: 0, 2'
    """
    own = _own(left)
    heads = {q: [str(h) for h in own if own[h] == q] for q in sorted(set(own.values()))}
    return "; ".join(f"{q}: {', '.join(names)}" for q, names in heads.items())


def _skills(right: dict[int, float], chance: Callable[[int], float]) -> dict[int, float]:
    """Of answers right modulo prime powers, above chance; none modulo 2 where chance is all."""
    by_chance = {q: chance(q) for q in right}
    return {q: (right[q] - c) / (1 - c) for q, c in by_chance.items() if c < 1}


def _class_known(q: int) -> float:
    """How often a random element of the right class of Z_q is the product of two residues.

    >>> 9 * _class_known(3), _class_known(2)
    (7.0, 1.0)
    """
    product = np.multiply.outer(np.arange(q), np.arange(q)) % q
    return float((1 / np.bincount(np.gcd(np.arange(q), q))[np.gcd(product, q)]).mean())


def _always_zero(q: int) -> float:
    """How often the product of two residues is 0 modulo q.

    >>> 9 * _always_zero(3)
    5.0
    """
    return sum(gcd(x, q) for x in range(q)) / q**2


def _by_test(found: Json) -> dict[tuple[str, str], criteria.Verdict]:
    return {(v.section, v.test): v for v in criteria.judge(found)}


def _frame(rows: list[Json], names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=names)


def _scope(d: int | None) -> str:
    return "all" if d is None else f"J{d}"


def _interval(x: Json) -> str:
    """Mean and range of the draws, as a percentage.

    >>> _interval({"mean": 0.5, "low": 0.25, "high": 0.75})
    '50.0 (25.0 … 75.0) %'
    """
    return f"{100 * x['mean']:.1f} ({100 * x['low']:.1f} … {100 * x['high']:.1f}) %"
