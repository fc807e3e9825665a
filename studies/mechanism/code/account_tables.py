"""The tables of the two accounts: what each explains, answers and predicts, equally free."""

from typing import NamedTuple

import pandas as pd

from strata.tables.table import Cells, Column, Table
from studies.mechanism.code.models import CONTROLS, EARLIER, FRESH, GROUPS, Models, models
from studies.params import MechanismParams


class Words(NamedTuple):
    """An account in words of pages."""

    candidates: str
    account: str
    by: str


# Primes and classes in turn, both with candidates free, both tied, both by quotients alone.
ACCOUNTS = {
    "free-votes": Words("free", "votes", "q modulo each prime"),
    "free-classes": Words("free", "classes", "key characters of q in its class"),
    "tied-primes": Words("tied", "primes", "q and c modulo each prime"),
    "tied-classes": Words("tied", "classes", "q/c for each pair of classes"),
    "tied-quotients": Words("tied", "primes, quotients", "q/c modulo each prime"),
    "tied-inside": Words("tied", "classes, inside", "q/c inside each class"),
}
MEASURES = ["share", "right", "numbers", "left out", "left out, right"]


def tables(
    accounts: pd.DataFrame, measured: pd.DataFrame, params: MechanismParams
) -> tuple[Table, Table]:
    """Return the accounts over the networks that generalise, and network by network.

    ``measured`` has all measures of the mechanism: they say of what kind each network is.
    """
    networks = models(measured, params.fresh)
    numbers = accounts.pivot_table("value", "run", ["id", "measure"], observed=True)
    columns = pd.MultiIndex.from_product([ACCOUNTS, MEASURES])
    numbers = numbers.reindex(networks.kind.index, columns=columns)
    kind = networks.kind.where(networks.accuracy >= params.accuracy, "")
    summarised = summary(numbers, kind, params.measures.levels.spared[0])
    caption = "Two accounts of the mean logits, equally free: medians over networks."
    caption_of_runs = "The two accounts, network by network."
    return (
        Table("both-accounts", caption, summarised, SUMMARY),
        Table("both-accounts-runs", caption_of_runs, by_network(numbers, networks), NETWORKS),
    )


def summary(numbers: pd.DataFrame, kind: pd.Series, nearly: float) -> pd.DataFrame:
    """Return a row for each account: over each group of networks, and the share of the controls."""
    rows = []
    for id, words in ACCOUNTS.items():
        row: Cells = {"id": id, **words._asdict()}
        for group in GROUPS:
            values = of_group(numbers.loc[kind == group, id], nearly)
            row |= {f"{group} {name}": value for name, value in values.items()}
        for control in CONTROLS:
            row[control] = numbers[id, "share"].get(control)
        rows.append(row)
    counts = [f"{group} {name}" for group in GROUPS for name in ("nearly", "whole")]
    return pd.DataFrame(rows).astype(dict.fromkeys(counts, "Int64"))


def of_group(numbers: pd.DataFrame, nearly: float) -> Cells:
    """Return the medians and the least share, and two counts of networks: those that answer nearly
    all pairs, and those that answer every product of each class that was left out."""
    median, answered = numbers.median(), numbers["left out, right"].dropna()
    return {
        "numbers": median["numbers"],
        "share": median["share"],
        "least": numbers["share"].min(),
        "right": median["right"],
        "nearly": (numbers["right"] >= nearly).sum(),
        "left out": median["left out"],
        "whole": (answered == 1).sum() if len(answered) else None,
        "runs": len(numbers),
    }


def by_network(numbers: pd.DataFrame, networks: Models) -> pd.DataFrame:
    """Return a row for each network that has numbers, with those of all accounts."""
    flat = numbers.dropna(how="all")
    flat.columns = [f"{id}: {measure}" for id, measure in flat.columns]
    kinds = pd.DataFrame({
        "kind": networks.kind,
        "accuracy": networks.accuracy,
        "interact": networks.verdict("kind"),
    })  # fmt: skip
    return kinds.loc[flat.index].join(flat).reset_index()


SUMMARY = {
    "candidates": Column("candidates", align="l"),
    "account": Column("account", align="l"),
    "by": Column("functions of", align="l"),
    f"{FRESH} numbers": Column("free numbers", "count"),
    f"{FRESH} share": Column("share", "share"),
    f"{FRESH} least": Column("least", "share"),
    f"{FRESH} right": Column("right answers", "share"),
    f"{FRESH} nearly": Column("nearly all right in", "count"),
    f"{FRESH} left out": Column("left-out classes, R²", "share"),
    f"{FRESH} whole": Column("every left-out answer right in", "count"),
    f"{FRESH} runs": Column("of", "count"),
    f"{EARLIER} share": Column("earlier: share", "share"),
    f"{EARLIER} right": Column("earlier: right answers", "share"),
    **{x: Column(f"{x}: share", "share") for x in CONTROLS},
}
NETWORKS = {
    "run": Column("run", align="l"),
    "kind": Column("kind", align="l"),
    "interact": Column("primes", align="l"),
    **{
        f"{id}: {measure}": Column(f"{words.candidates} {words.account}: {measure}", "share")
        for id, words in ACCOUNTS.items()
        for measure in ("share", "right")
    },
}
