"""Networks that are trained in minutes: how long they take to generalise, and whether their primes
vote as those of the full ones do."""

from collections.abc import Mapping

import pandas as pd

from strata import results
from strata.results import HOLDS
from strata.run import Run
from strata.tables.table import Cells, Column, Table

KINDS = "fast", "full"


def table(rows: pd.DataFrame, epochs: Mapping[str, int], full: pd.DataFrame, level: float) -> Table:
    """Return the fast networks by modulus beside the full ones of the same modulus.

    rows, full: the measures of the mechanism on either; the full ones are those that train as
    params.yaml says. epochs: how many each fast network trained. level: the share of all pairs that
    a network which generalises answers rightly.
    """
    usual = [x for x in full["run"].unique() if "-s" in x and not Run.parse(x).variant]
    measured = {"fast": rows, "full": full.loc[full["run"].isin(usual)]}
    by_modulus: dict[int, list[str]] = {}
    for run in epochs:
        by_modulus.setdefault(Run.parse(run).n, []).append(run)
    lines = []
    for n, runs in sorted(by_modulus.items()):
        line: Cells = {"n": n, "epochs": int(pd.Series([epochs[x] for x in runs]).median())}
        for kind, frame in measured.items():
            of_modulus = [str(x) for x in frame["run"].unique() if Run.parse(str(x)).n == n]
            line |= {f"{kind} {name}": x for name, x in counts(frame, of_modulus, level).items()}
        lines.append(line)
    frame = pd.DataFrame(lines)
    total: Cells = {"n": None, "epochs": int(pd.Series([*epochs.values()]).median())}
    total |= {f"{kind} {x}": frame[f"{kind} {x}"].sum() for kind in KINDS for x in COUNTED}
    total |= {f"{kind} share": frame[f"{kind} share"].median() for kind in KINDS}
    together = pd.concat([frame, pd.DataFrame([total])], ignore_index=True).astype({"n": "Int64"})
    return Table("fast", "Networks that train in minutes, by modulus.", together, COLUMNS)


def counts(rows: pd.DataFrame, runs: list[str], level: float) -> Cells:
    """Count the networks, those that generalise, and those of these whose votes hold; and return
    the median share of the mean logits that votes explain."""
    right = results.numbers(rows, "whole", "right")
    generalise = [x for x in runs if right.get(x, 0) >= level]
    votes = rows.loc[(rows["id"] == "votes") & (rows["measure"] == "")]
    verdicts = dict(zip(votes["run"], votes["verdict"], strict=True))
    share = results.numbers(rows, "votes-share")
    return {
        "networks": len(runs),
        "generalise": len(generalise),
        "votes": sum(verdicts[x] == HOLDS for x in generalise),
        "share": pd.Series([share[x] for x in generalise], dtype=float).median(),
    }


COUNTED = "networks", "generalise", "votes"
COLUMNS = {
    "n": Column("n", missing="all"),
    "epochs": Column("fast: epochs, median", "count"),
    **{
        f"{kind} {name}": Column(f"{kind}: {heading}", style)
        for kind in KINDS
        for name, heading, style in (
            ("networks", "networks", "count"),
            ("generalise", "generalise", "count"),
            ("votes", "votes hold", "count"),
            ("share", "votes explain", "share"),
        )
    },
}
