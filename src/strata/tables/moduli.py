"""Regular classes against the others, for moduli that are not square-free (beyond the paper).

A class J_d is regular where it is a group: gcd(d, n/d) = 1. The paper knows only such classes. The
kinds differ in size, so each measure stands beside what chance gives for a class of that size.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from strata.run import InputError
from strata.statistics import above_chance
from strata.tables.headline import Table

Json = dict[str, Any]
KINDS = {True: "regular", False: "non_regular"}
# The one frequency and the one dimension of two elements hold all, whatever the model does.
SMALLEST = 3
OF_CLASS = ["d", "regular", "size", "key", "fve", "fve_uniform", "atomic_share", "atomic_uniform"]
OF_FIT = ["r2", "r2_uniform", "r2_ceiling", "r2_all"]
COLUMNS = ["n", "generalised", *OF_CLASS, *OF_FIT, "components", "components_random", "pca_ratio"]
COLUMNS += ["accuracy_target", "fve_above", "r2_above"]


def tables(runs: Sequence[Json]) -> tuple[Table, Table]:
    """Both tables from the metrics of the runs.

    Raises InputError for two runs of one modulus, which the tables could not tell apart.
    """
    if len({run["n"] for run in runs}) < len(runs):
        named = ", ".join(run["run"] for run in runs)
        raise InputError(f"metrics of {named}: must be of one run for each n")
    per_class = classes(runs)
    names = ", ".join(str(run["n"]) for run in runs)
    return (
        Table("extension", f"Regular and other classes, n = {names}.", kinds(runs, per_class)),
        Table("extension-classes", f"Class by class, n = {names}.", per_class),
    )


def classes(runs: Sequence[Json]) -> pd.DataFrame:
    """One row for each class of at least SMALLEST elements of each run; shares are fractions.

    ``pca_ratio`` is the number of components over that of random residues: below 1 the class is
    flatter than chance.
    """
    rows = [_row(run, c) for run in runs for c in run["classes"] if c["size"] >= SMALLEST]
    found = [row for row in rows if row]
    found.sort(key=lambda row: (row["n"], not row["regular"], row["d"]))
    frame = pd.DataFrame(found, columns=COLUMNS)
    return frame.astype({"fve_above": float, "r2_above": float})


def _row(run: Json, c: Json) -> Json | None:
    """None where there is nothing to measure: the run diverged, or the rows are all equal."""
    if c["fve"] is None:
        return None
    fit = c["readout"] or dict.fromkeys(OF_FIT)
    pca = c["pca"]
    return {
        "n": run["n"],
        "generalised": run["generalised"],
        **{name: c[name] for name in OF_CLASS},
        **{name: fit[name] for name in OF_FIT},
        "components": pca["components"],
        "components_random": pca["random_mean"],
        "pca_ratio": pca["components"] / pca["random_mean"] if pca["random_mean"] else None,
        "accuracy_target": run["accuracy"]["by_target"][str(c["d"])],
        "fve_above": _above(c["fve"], c["fve_uniform"]),
        # As many random frequencies are the same ones where every frequency is key.
        "r2_above": _above(fit["r2"], fit["r2_uniform"]) if c["key"] < c["total"] else None,
    }


def _above(share: float | None, chance: float | None) -> float | None:
    return None if share is None or chance is None else above_chance(share, chance)


def kinds(runs: Sequence[Json], per_class: pd.DataFrame) -> pd.DataFrame:
    """Means over the classes of each kind, modulus by modulus; with n missing, over all classes of
    the runs that generalise.

    Block scores are means over the heads: the rows of that kind of class against shuffled labels.
    A class counts once, whatever its size.
    """
    means = ["fve", "fve_uniform", "atomic_share", "atomic_uniform", "r2", "r2_uniform"]
    means += ["r2_ceiling", "r2_all", "pca_ratio", "accuracy_target", "fve_above", "r2_above"]
    rows = []
    done = [run for run in runs if run["generalised"]]
    for some in [*([run] for run in runs), done]:
        of_runs = per_class["n"].isin([run["n"] for run in some])
        for regular in KINDS:
            part = per_class[of_runs & (per_class["regular"] == regular)]
            if part.empty:
                continue
            found = {"n": some[0]["n"] if some is not done else None, "regular": regular}
            found |= {"classes": len(part), "mean_size": part["size"].mean()}
            rows.append(found | part[means].mean().to_dict() | _blocks(some, KINDS[regular]))
    names = ["n", "regular", "classes", "mean_size", *means, "block", "block_shuffled"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({"n": "Int64", "block": float, "block_shuffled": float})


def _blocks(runs: Sequence[Json], kind: str) -> Json:
    """Block score of one kind and its shuffled baseline, means over the heads of the runs."""
    by_kind = (head["block_score_by_kind"] for run in runs for head in run["heads"])
    scores = [found[kind] for found in by_kind if found]
    if not scores:
        return {"block": None, "block_shuffled": None}
    names = {"block": "score", "block_shuffled": "mean"}
    return {name: sum(s[key] for s in scores) / len(scores) for name, key in names.items()}
