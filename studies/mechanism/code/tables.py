"""The tables of the mechanism: what criteria-2.md asks of each run, and of all together."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from strata.results import HOLDS
from strata.tables.format import STYLES
from strata.tables.statements import Tally, tally
from strata.tables.table import ID, Column, Record, Table, count_of
from studies.mechanism.code import decide, doubts, measures
from studies.mechanism.code.decide import CRITERIA, SENTENCES, STATEMENTS
from studies.mechanism.code.models import BESIDE, EARLIER, FRESH, GROUPS, Models, models
from studies.params import MechanismParams

ALL, ILLUSTRATE, WRITTEN = "all fresh runs", "all earlier runs", "written by hand"


def tables(
    measured: pd.DataFrame, hand: pd.DataFrame, params: MechanismParams
) -> tuple[Table, ...]:
    """Return all tables, from the measures of all models and the networks written by hand."""
    networks = models(measured, params.fresh)
    generalising = networks.where(networks.accuracy >= params.accuracy)
    compared = generalising.where(generalising.kind.isin(GROUPS))
    about_statements = "Runs for which each statement holds and does not, with 95 % intervals."
    about_measures = "What each statement rests on: median, and the worst of all runs."
    about_kinds = "How primes interact: runs of each kind."
    about_rivals = "Share of the mean logits that last layers explain: medians (least to largest)."
    about_sizes = "Trained networks beside those written by hand: medians."
    about_all = "Of how many fresh networks each is true; last row: by hand, one of each modulus."
    about_gates = "Characters that another prime switches off."
    counts = statements(networks, hand, params)
    deciding = counts.loc[counts["group"].isin([ALL, WRITTEN])]
    return (
        Table("mechanism-said", about_all, deciding, DECIDING),
        Table("mechanism-statements", about_statements, counts, HELD, ("id", "holds")),
        Table("mechanism-measures", about_measures, criteria(compared, params), MEASURES),
        Table("mechanism-votes", "Votes of primes: medians.", ballots(generalising), BALLOTS),
        Table("mechanism-kinds", about_kinds, interactions(generalising), INTERACTIONS),
        Table("mechanism-rivals", about_rivals, rivals(generalising), RIVALS),
        Table("mechanism-by-hand", about_sizes, by_hand(generalising, hand), SIZES),
        Table("mechanism-gates", about_gates, gates(measured, generalising), GATES),
        Table("mechanism-runs", "The verdicts, run by run.", runs(networks), RUNS),
        *doubts.tables(networks, params),
    )


def runs(networks: Models) -> pd.DataFrame:
    """Return accuracy, kind, verdicts and all numbers that these rest on, run by run."""
    columns = {"kind": networks.kind, "accuracy": networks.accuracy}
    columns |= {"interact": networks.verdict("kind"), "many": networks.numbers("whole", "many")}
    columns |= {name: networks.verdict(name) for name in STATEMENTS}
    return pd.DataFrame(columns | {id: networks.numbers(id) for id in CRITERIA}).reset_index()


def statements(networks: Models, hand: pd.DataFrame, params: MechanismParams) -> pd.DataFrame:
    """Count how many runs of each group each statement holds for, with the interval of their share;
    all fresh ones first, then those of moduli that were trained before and of new ones. Last come
    the networks written by hand, one for each modulus."""
    kind, right = networks.kind, networks.accuracy >= params.accuracy
    new = (kind == FRESH) & ~networks.n.isin([*networks.n[kind == EARLIER]])
    groups = {ALL: kind == FRESH, "of moduli trained before": (kind == FRESH) & ~new}
    groups |= {"of new moduli": new, ILLUSTRATE: kind == EARLIER}
    group_names = networks.group[(kind != BESIDE) | right]
    groups |= {name: networks.group == name for name in dict.fromkeys(group_names)}
    rows = []
    for name, members in groups.items():
        generalising = members & right
        row = {"kind": {ALL: FRESH, ILLUSTRATE: EARLIER}.get(name, ""), "group": name}
        row |= {"runs": members.sum(), "generalising": generalising.sum()}
        row |= {"decided": name == ALL and generalising.sum() >= params.fewest}
        for id in STATEMENTS:
            verdict = decide.verdict_over_fresh(networks, id, params) if name == ALL else ""
            count = tally(networks.verdict(id)[generalising])._asdict()
            rows.append(row | {"id": id} | count | {"verdict": verdict})
    right = (hand["margin"] > 0).sum()
    row = {"kind": WRITTEN, "group": WRITTEN, "runs": len(hand), "generalising": right}
    row |= {"id": "by-hand", "holds": right, "fails": len(hand) - right, "undecided": 0}
    rows.append(row | {"verdict": decide.verdict_by_hand(hand["margin"].tolist()), "decided": True})
    names = ["kind", "group", "runs", "generalising", "id", "sentence"]
    return SENTENCES.frame(rows, [*names, *Tally._fields, "decided"])


def share_text(row: Record) -> str:
    """Write for how many runs a statement holds and does not hold, and the interval of the share
    for which it holds, if there is one."""
    total = row["holds"] + row["fails"] + row["undecided"]
    if not total:
        return "—"
    ends = ""
    if not pd.isna(row["low"]):
        ends = f" ({100 * row['low']:.0f} to {100 * row['high']:.0f} %)"
    fails = f", {row['fails']} not" * (row["fails"] > 0)
    return f"{row['holds']} of {total}{ends}{fails}"


def count_text(row: Record) -> str:
    """Write the same, and the verdict, or this alone where no run counts."""
    text = share_text(row)
    if text == "—":
        return row["verdict"] or text
    return text + f": {row['verdict']}" * bool(row["verdict"])


UNITS = {"accuracy": "share", "ratio": "index"}  # in which a table shows a measure


def criteria(networks: Models, params: MechanismParams) -> pd.DataFrame:
    """Summarise every number with a level by group of runs; the worst is that by its level."""
    rows = []
    for id, (statement, kind, unit, sentence) in CRITERIA.items():
        holds, fails = getattr(params.measures.levels, kind)
        row: dict[str, Any] = {"statement": statement, "id": id, "sentence": sentence}
        row |= {"unit": UNITS.get(unit, unit), "level": holds}
        row |= {"most": holds < fails}
        for group in GROUPS:
            in_group = networks.where(networks.kind == group)
            row |= over(in_group.numbers(id), group, worst="max" if holds < fails else "min")
            row[f"{group} holds"] = (in_group.verdict(id) == HOLDS).sum()
        rows.append(row)
    row = {"statement": "—", "id": "replaced", "sentence": measures.REPLACED, "unit": "share"}
    for group in GROUPS:
        in_group = networks.where(networks.kind == group)
        row |= over(in_group.numbers("replaced", "right"), group, worst="min")
    return pd.DataFrame([*rows, row]).astype({f"{group} holds": "Int64" for group in GROUPS})


def over(values: pd.Series, group: str, worst: str) -> Record:
    """Return how many models of a group have a number, the median, and the worst."""
    numbers = {"runs": values.count(), "median": values.median(), "worst": values.agg(worst)}
    return {f"{group} {name}": value for name, value in numbers.items()}


def level_text(row: Record) -> str:
    """Write a level, if there is one."""
    if pd.isna(row["level"]):
        return "—"
    sign = "at most" if row["most"] else "at least"
    return f"{sign} {STYLES[row['unit']](row['level'])}"


def summarised(networks: Models) -> dict[str, pd.Series]:
    """Return the models of each row of a table of medians: all fresh, all earlier, each group."""
    groups = {ALL: networks.kind == FRESH, ILLUSTRATE: networks.kind == EARLIER}
    groups = {name: members for name, members in groups.items() if members.any()}
    return groups | {name: networks.group == name for name in networks.group.unique()}


def ballots(networks: Models) -> pd.DataFrame:
    """Summarise what votes explain in each group, how well they predict left-out classes, and in
    how many runs every product of every class that was left out is answered rightly."""
    names = {
        "ceiling": ("whole", "ceiling"), "share": ("votes-share", ""),
        "rival": ("votes", "classes explain"),
        "classes": ("votes-classes", ""), "right": ("votes", "right answers"),
        "whole": ("votes", "every product right"),
    }  # fmt: skip
    numbers = pd.DataFrame({name: networks.numbers(*key) for name, key in names.items()})
    rows = []
    for group, members in summarised(networks).items():
        in_group, group_numbers = networks.where(members), pd.DataFrame(numbers[members])
        n = in_group.n.iloc[0] if in_group.n.nunique() == 1 else None
        row = {"group": group, "kind": in_group.kind.iloc[0], "n": n, "runs": len(group_numbers)}
        row |= group_numbers.agg("median").to_dict()
        rows.append(row | {"whole": group_numbers["whole"].sum(min_count=1)})
    return pd.DataFrame(rows).astype({"n": "Int64"} if rows else {})


def interactions(networks: Models) -> pd.DataFrame:
    """Count the runs of each group that are of each kind, and those of all and of each kind for
    which votes hold; and return the median of their interaction."""
    kinds, left_by_votes = networks.verdict("kind"), networks.numbers("whole", "many")
    votes_hold = networks.verdict("votes") == HOLDS
    rows = []
    for group, members in summarised(networks).items():
        row = {"group": group, "runs": members.sum(), "votes": (members & votes_hold).sum()}
        for kind in measures.KINDS:
            row |= {kind: (members & (kinds == kind)).sum()}
            row |= {f"{kind}, votes": (members & votes_hold & (kinds == kind)).sum()}
        rows.append(row | {"many": left_by_votes.loc[members].median()})
    return pd.DataFrame(rows)


def rivals(networks: Models) -> pd.DataFrame:
    """Summarise what the last layer of the least loss and its rivals explain in each group."""
    last = [x for id, x in networks.values.columns if id == "rival"]
    names = {"least loss": ("decoding-share", ""), **{x: ("rival", x) for x in last}}
    rows = []
    for group, members in summarised(networks).items():
        in_group = networks.where(members)
        row: dict[str, Any] = {"group": group, "runs": len(in_group.kind)}
        for name, key in names.items():
            x = in_group.numbers(*key)
            row |= {name: x.median(), f"{name} least": x.min(), f"{name} largest": x.max()}
        rows.append(row)
    return pd.DataFrame(rows)


def median_and_range(name: str) -> Callable[[Record], str]:
    """Return a style that writes a median and the range."""

    def cell(row: Record) -> str:
        text = STYLES["share"]
        least, largest = (text(row[f"{name} {x}"]) for x in ("least", "largest"))
        return f"{text(row[name])} ({least} to {largest})" if row["runs"] > 1 else text(row[name])

    return cell


def by_hand(networks: Models, hand: pd.DataFrame) -> pd.DataFrame:
    """Compare, for each modulus, the network written by hand with the trained ones: where its loss
    is lower at their norm, and the norm that it needs for their mean margin, over theirs."""
    numbers = pd.DataFrame({x: networks.numbers("by-hand", x) for x in (
        "squared norm", "loss", "by hand: loss", "by hand: norm for this margin")})  # fmt: skip
    numbers["lower"] = numbers["by hand: loss"] < numbers["loss"]
    rows = []
    compared = numbers[networks.kind.isin(GROUPS) | (networks.group == "one prime")]
    for n, trained in compared.groupby(networks.n):
        written = hand.loc[hand["n"] == n].to_dict("records")
        if written:
            row = {"n": n, "runs": len(trained), "lower": trained["lower"].sum()} | written[0]
            rows.append(row | {
                "squared": pd.Series(trained["squared norm"]).median(),
                "norm": pd.Series(trained["by hand: norm for this margin"]).median(),
            })  # fmt: skip
    return pd.DataFrame(rows, columns=[*SIZES])


def gates(rows: pd.DataFrame, networks: Models) -> pd.DataFrame:
    """Return the gates of the code of each run."""
    gate_rows = rows.loc[(rows["id"] == "gate") & rows["run"].isin([*networks.kind.index])]
    kind = gate_rows["run"].map(networks.kind)
    table = gate_rows.assign(kind=kind, character=gate_rows["measure"], by=gate_rows["value"])
    return table[[*GATES]].reset_index(drop=True)


RUN = {"run": Column("run", align="l"), "kind": Column("kind", align="l")}
GROUP = {"group": Column("models", align="l"), "runs": Column("runs", "count")}
RUNS = {
    **RUN,
    "accuracy": Column("right answers", "share"),
    "interact": Column("primes", align="l"),
    **{name: Column(name, align="l") for name in STATEMENTS},
}
DECIDING = {
    **ID,
    **SENTENCES.columns("statement"),
    "holds": Column("holds for", count_of("holds", "generalising"), "l"),
    "fails": Column("not for", "count"),
    "low": Column("95 % interval from", "share"),
    "high": Column("to", "share"),
}
HELD = {
    **GROUP,
    "generalising": Column("generalise", "count"),
    "id": Column("statement", align="l"),
    "holds": Column("holds for", count_text, "l"),
}
MEASURES = {
    "statement": Column("statement", align="l"),
    "sentence": Column("measure", align="l"),
    "level": Column("holds", level_text, "l"),
    **{
        f"{group} {name}": Column(f"{group}: {name}", style)
        for group in GROUPS
        for style, names in (("unit", ("median", "worst")), ("count", ("holds", "runs")))
        for name in names
    },
}
BALLOTS = {
    **GROUP,
    "ceiling": Column("depends on the product alone", "share"),
    "share": Column("votes explain, of that", "share"),
    "rival": Column("classes explain", "share"),
    "classes": Column("left-out classes, R²", "share"),
    "right": Column("left-out answers right", "share"),
    "whole": Column("every left-out answer right", "count"),
}
INTERACTIONS = {
    **GROUP,
    "votes": Column("votes hold", "count"),
    **{name: Column(name, "count") for name in measures.KINDS},
    **{f"{name}, votes": Column(f"{name}: votes hold", "count") for name in measures.KINDS},
    "many": Column("left by votes", "share"),
}
RIVALS = {
    **GROUP,
    **{
        name: Column(name, median_and_range(name))
        for name in (
            "least loss", "class means", "directions of class means", "nearest class mean",
            "equal lengths", "box",
        )
    },
}  # fmt: skip
SIZES = {
    "n": Column("n"),
    "neurons": Column("neurons in use, by hand", "count"),
    "parameters": Column("parameters not 0, by hand", "count"),
    "margin": Column("least margin, by hand", "index"),
    "balanced": Column("squared norm, by hand", "count"),
    "second": Column("the same with a second adder", "count"),
    "thrifty": Column("the same with heads that look at zeros", "count"),
    "runs": Column("trained", "count"),
    "squared": Column("squared norm, trained", "count"),
    "lower": Column("loss lower by hand at this norm", "count"),
    "norm": Column("norm by hand for the same margin", "index"),
}
GATES = {
    **RUN,
    "character": Column("character", align="l"),
    "by": Column("switched off by", "count"),
}
