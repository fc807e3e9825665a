"""The tables of the mechanism: what criteria-2.md asks of each run, and of all together."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from strata.results import CONFIRMED, HOLDS, REFUTED
from strata.tables.format import STYLES
from strata.tables.table import ID, SAID, Column, Record, Table, of
from studies.mechanism.code import decide, measures
from studies.mechanism.code.decide import CRITERIA, STATEMENTS
from studies.mechanism.code.models import BESIDE, CONTROLS, EARLIER, FRESH, GROUPS, Models, models
from studies.params import MechanismParams

ALL, ILLUSTRATE, WRITTEN = "all fresh runs", "all earlier runs", "written by hand"
# In words of pages, where the criteria speak of logits and characters.
WORDS = {
    "votes": "each prime votes by the remainder of the product, and the votes are added",
    "code": "the outputs follow from a few zeros, angles and gates of the product",
    "neurons": "each neuron sees one prime, or one mixed angle, and which primes divide",
    "decoding": "the last layer minimises the loss, given the lengths of its columns",
    "interaction": "where primes interact, it is in the embedding, by gates or mixed angles",
}


def tables(
    measured: pd.DataFrame, hand: pd.DataFrame, params: MechanismParams
) -> tuple[Table, ...]:
    """All tables, from the measures of all models and the networks written by hand."""
    every = models(measured, params.fresh)
    done = every.where(every.accuracy >= params.accuracy)
    compared = done.where(done.kind.isin(GROUPS))
    held = "Runs for which each statement holds and does not, with 95 % intervals."
    asked = "What each statement rests on: median, and the worst of all runs."
    kinds = "How primes interact: runs of each kind."
    others = "Share of the mean logits that last layers explain: medians (least to largest)."
    sizes = "Trained networks beside those written by hand: medians."
    decides = "Of how many fresh networks each is true; last row: by hand, one of each modulus."
    gated = "Characters that another prime switches off."
    said = pd.concat([statements(every, params), written(hand)], ignore_index=True)
    deciding = said.loc[said["group"].isin([ALL, WRITTEN])]
    return (
        Table("mechanism-said", decides, deciding, DECIDING),
        Table("mechanism-statements", held, said, HELD, ("id", "holds")),
        Table("mechanism-measures", asked, criteria(compared, params), MEASURES),
        Table("mechanism-votes", "Votes of primes: medians.", ballots(done), BALLOTS),
        Table("mechanism-kinds", kinds, interactions(done), INTERACTIONS),
        Table("mechanism-rivals", others, rivals(done), RIVALS),
        Table("mechanism-by-hand", sizes, by_hand(done, hand), SIZES),
        Table("mechanism-gates", gated, gates(measured, done), GATES),
        Table("mechanism-runs", "The verdicts, run by run.", runs(every), RUNS),
    )


def runs(every: Models) -> pd.DataFrame:
    """Accuracy, kind, verdicts; and all numbers that these rest on."""
    shown = {"kind": every.kind, "accuracy": every.accuracy, "interact": every.verdict("kind")}
    shown |= {"many": every.of("whole", "many")}
    shown |= {name: every.verdict(name) for name in STATEMENTS}
    return pd.DataFrame(shown | {id: every.of(id) for id in CRITERIA}).reset_index()


def statements(every: Models, params: MechanismParams) -> pd.DataFrame:
    """How many runs of each group hold, and the interval of their share; all fresh ones first, then
    those of moduli that were trained before and of new ones."""
    kind, right = every.kind, every.accuracy >= params.accuracy
    new = (kind == FRESH) & ~every.n.isin([*every.n[kind == EARLIER]])
    groups = {ALL: kind == FRESH, "of moduli trained before": (kind == FRESH) & ~new}
    groups |= {"of new moduli": new, ILLUSTRATE: kind == EARLIER}
    some = every.group[(kind != BESIDE) | right]
    groups |= {name: every.group == name for name in dict.fromkeys(some)}
    rows = []
    for name, own in groups.items():
        done = own & right
        for id, sentence in WORDS.items():
            tally = decide.tally(every.verdict(id)[done].tolist())
            row: Record = {"kind": {ALL: FRESH, ILLUSTRATE: EARLIER}.get(name, ""), "group": name}
            row |= {"runs": own.sum(), "generalising": done.sum()}
            row |= {"id": id, "sentence": sentence} | tally._asdict()
            row["decided"] = name == ALL and done.sum() >= params.fewest
            if name != ALL:
                row["verdict"] = ""
            elif not row["decided"]:
                row["verdict"] = f"no verdict before {params.fewest}"
            elif tally.verdict == CONFIRMED and (held := _by_controls(every, id)):
                row["verdict"] = f"not confirmed: holds {held} too"
            rows.append(row)
    return pd.DataFrame(rows)


def written(hand: pd.DataFrame) -> pd.DataFrame:
    """The last statement, of one network for each modulus: it holds where the least margin is above
    0, and is confirmed if it holds for all. No interval: these are all there are, no sample."""
    held = (hand["margin"] > 0).sum()
    row = {"kind": WRITTEN, "group": WRITTEN, "runs": len(hand), "generalising": held}
    row |= {"id": "by-hand", "sentence": decide.BY_HAND, "decided": True}
    row |= {"holds": held, "fails": len(hand) - held, "undecided": 0}
    row["verdict"] = REFUTED if row["fails"] else CONFIRMED
    return pd.DataFrame([row])


def _by_controls(every: Models, id: str) -> str:
    """The controls for which a statement holds."""
    said = every.verdict(id)
    return ", ".join(x for x in CONTROLS if said.get(x, "") == HOLDS)


def counted(row: Record) -> str:
    """Runs for which a statement holds, how many it does not hold for, and the interval of the
    share for which it holds, if there is one."""
    total = row["holds"] + row["fails"] + row["undecided"]
    if not total:
        return row["verdict"] or "—"
    ends = ""
    if not pd.isna(row["low"]):
        ends = f" ({100 * row['low']:.0f} to {100 * row['high']:.0f} %)"
    fails = f", {row['fails']} not" * (row["fails"] > 0)
    verdict = f": {row['verdict']}" * bool(row["verdict"])
    return f"{row['holds']} of {total}{ends}{fails}{verdict}"


def criteria(every: Models, params: MechanismParams) -> pd.DataFrame:
    """Every number with a level: over fresh runs and earlier ones, the worst by its level."""
    rows = []
    for id, (statement, kind, unit, sentence) in CRITERIA.items():
        holds, fails = getattr(params.measures.levels, kind)
        row: dict[str, Any] = {"statement": statement, "id": id, "sentence": sentence}
        row |= {"unit": {"accuracy": "share", "ratio": "index"}.get(unit, unit), "level": holds}
        row |= {"most": holds < fails}
        for group in GROUPS:
            own = every.where(every.kind == group)
            row |= over(own.of(id), group, worst="max" if holds < fails else "min")
            row[f"{group} holds"] = (own.verdict(id) == HOLDS).sum()
        rows.append(row)
    row = {"statement": "—", "id": "replaced", "sentence": measures.REPLACED, "unit": "share"}
    for group in GROUPS:
        own = every.where(every.kind == group)
        row |= over(own.of("replaced", "right"), group, worst="min")
    return pd.DataFrame([*rows, row]).astype({f"{group} holds": "Int64" for group in GROUPS})


def over(values: pd.Series, group: str, worst: str) -> Record:
    """How many a group has, their median, and the worst."""
    found = {"runs": values.count(), "median": values.median(), "worst": values.agg(worst)}
    return {f"{group} {name}": value for name, value in found.items()}


def asked(row: Record) -> str:
    """A level, if there is one."""
    if pd.isna(row["level"]):
        return "—"
    sign = "at most" if row["most"] else "at least"
    return f"{sign} {STYLES[row['unit']](row['level'])}"


def summarised(every: Models) -> dict[str, pd.Series]:
    """The models of each row of a table of medians: all fresh ones, all earlier, each group."""
    found = {ALL: every.kind == FRESH, ILLUSTRATE: every.kind == EARLIER}
    found = {name: own for name, own in found.items() if own.any()}
    return found | {name: every.group == name for name in every.group.unique()}


def ballots(every: Models) -> pd.DataFrame:
    """What votes explain in each group of one kind, how well they predict left-out classes, and in
    how many runs every product of every class that was left out is answered rightly."""
    names = {
        "ceiling": ("whole", "ceiling"), "share": ("votes-share", ""),
        "favoured": ("votes", "favoured"), "rival": ("votes", "classes explain"),
        "classes": ("votes-classes", ""), "right": ("votes", "right answers"),
        "whole": ("votes", "every product right"),
    }  # fmt: skip
    found = pd.DataFrame({name: every.of(*key) for name, key in names.items()})
    rows = []
    for group, chosen in summarised(every).items():
        some, own = every.where(chosen), pd.DataFrame(found[chosen])
        n = some.n.iloc[0] if some.n.nunique() == 1 else None
        row = {"group": group, "kind": some.kind.iloc[0], "n": n, "runs": len(own)}
        row |= own.agg("median").to_dict()
        rows.append(row | {"whole": own["whole"].sum(min_count=1)})
    return pd.DataFrame(rows).astype({"n": "Int64"} if rows else {})


def interactions(every: Models) -> pd.DataFrame:
    """How many runs of each group are of each kind, and for how many of all and of each votes
    hold; and of their interaction, the median."""
    kinds, many = every.verdict("kind"), every.of("whole", "many")
    held = every.verdict("votes") == HOLDS
    rows = []
    for group, own in summarised(every).items():
        row = {"group": group, "runs": own.sum(), "votes": (own & held).sum()}
        for kind in measures.KINDS:
            row |= {kind: (own & (kinds == kind)).sum()}
            row |= {f"{kind}, votes": (own & held & (kinds == kind)).sum()}
        rows.append(row | {"many": many.loc[own].median()})
    return pd.DataFrame(rows)


def rivals(every: Models) -> pd.DataFrame:
    """What the last layer of the least loss explains in each group, and what its rivals do."""
    last = [x for id, x in every.values.columns if id == "rival"]
    names = {"least loss": ("decoding-share", ""), **{x: ("rival", x) for x in last}}
    rows = []
    for group, chosen in summarised(every).items():
        own = every.where(chosen)
        row: dict[str, Any] = {"group": group, "runs": len(own.kind)}
        for name, key in names.items():
            x = own.of(*key)
            row |= {name: x.median(), f"{name} least": x.min(), f"{name} largest": x.max()}
        rows.append(row)
    return pd.DataFrame(rows)


def ranged(name: str) -> Callable[[Record], str]:
    """A median, and the range."""

    def cell(row: Record) -> str:
        shown = STYLES["share"]
        least, largest = (shown(row[f"{name} {x}"]) for x in ("least", "largest"))
        return f"{shown(row[name])} ({least} to {largest})" if row["runs"] > 1 else shown(row[name])

    return cell


def by_hand(every: Models, hand: pd.DataFrame) -> pd.DataFrame:
    """For each modulus the network written by hand, and beside it the trained ones: where its loss
    is lower at their norm, and the norm that it needs for their mean margin, over theirs."""
    found = pd.DataFrame({x: every.of("by-hand", x) for x in (
        "squared norm", "loss", "by hand: loss", "by hand: norm for this margin")})  # fmt: skip
    found["lower"] = found["by hand: loss"] < found["loss"]
    rows = []
    for n, own in found[every.kind.isin(GROUPS) | (every.group == "one prime")].groupby(every.n):
        written = hand.loc[hand["n"] == n].to_dict("records")
        if written:
            row = {"n": n, "runs": len(own), "lower": own["lower"].sum()} | written[0]
            rows.append(row | {
                "squared": pd.Series(own["squared norm"]).median(),
                "norm": pd.Series(own["by hand: norm for this margin"]).median(),
            })  # fmt: skip
    return pd.DataFrame(rows, columns=["runs", *SIZES] if not rows else None)


def gates(rows: pd.DataFrame, every: Models) -> pd.DataFrame:
    """The gates of the code of each run."""
    own = rows.loc[(rows["id"] == "gate") & rows["run"].isin([*every.kind.index])]
    kind = own["run"].map(every.kind)
    shown = own.assign(kind=kind, character=own["measure"], by=own["value"])
    return shown[[*GATES]].reset_index(drop=True)


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
    "sentence": Column("statement", align="l"),
    "holds": Column("holds for", of("holds", "generalising"), "l"),
    "fails": Column("not for", "count"),
    "low": Column("interval from", "share"),
    "high": Column("to", "share"),
    "verdict": SAID,
}
HELD = {
    **GROUP,
    "generalising": Column("generalise", "count"),
    "id": Column("statement", align="l"),
    "holds": Column("holds for", counted, "l"),
}
MEASURES = {
    "statement": Column("statement", align="l"),
    "sentence": Column("measure", align="l"),
    "level": Column("holds", asked, "l"),
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
    "favoured": Column("remainders that favour their own", "share"),
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
        name: Column(name, ranged(name))
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
