"""The tables of attention and adding: what criteria-3.md asks of each network, and of all."""

from math import gcd

import numpy as np
import pandas as pd

from strata.results import FAILS, HOLDS, UNDECIDED
from strata.tables.statements import Tally, tally
from strata.tables.table import ID, Cells, Column, Table
from studies.mechanism.code import adding_decide as decide
from studies.mechanism.code import planted_tables
from studies.mechanism.code.adding_decide import (
    CRITERIA,
    NEW,
    PLANTED,
    RIVAL,
    SAID,
    STATEMENTS,
    TOGETHER,
    counting,
)
from studies.mechanism.code.models import EARLIER, FRESH, MLP, OTHERS, SQUARES, Models, models
from studies.mechanism.code.tables import UNITS, level_text, share_text
from studies.params import AddingParams, MechanismParams

ONE_PRIME = "one prime"
ROWS = (TOGETHER, FRESH, NEW, EARLIER, ONE_PRIME, SQUARES, MLP, OTHERS)
MORE = {  # without a verdict: id and measure, and the unit
    ("attention", "at mean"): ("right answers with attention at its mean", "share"),
    ("attention", "A-one"): ("right answers, heads by one character", "share"),
    ("attention", "partners"): ("partners: cosine of their phases", "index"),
    ("adding", "B0"): ("right answers, sum of one character", "share"),
    ("adding", "B1"): ("right answers, one character and one head", "share"),
    ("adding", "B2"): ("right answers, one character and all heads", "share"),
    ("adding", "sum channel"): ("right answers, sum channel alone", "share"),
    ("adding", RIVAL): ("right answers of the rival", "share"),
    ("adding", "random functions"): ("right answers, random functions for characters", "share"),
    ("formulas", "doubling"): ("what is written has twice the phase: cosine", "index"),
    ("formulas", "detected"): ("what is written has the phase detected: cosine", "index"),
    ("formulas", "symmetricity"): ("symmetricity of gradients", "index"),
    ("formulas", "numbers"): ("free numbers of all formulas", "count"),
    ("formulas", "weights"): ("weights in their place", "count"),
    ("hole", "variation at mean"): ("variation of votes, attention at its mean", "index"),
    ("hole", "variation"): ("variation of votes", "index"),
    ("hole", "from 11: correlation"): ("primes from 11: correlation with |cos(kδ/2)|", "index"),
    ("hole", "from 11: variation at mean"): ("primes from 11: variation at mean", "index"),
    ("hole", "from 11: variation"): ("primes from 11: variation", "index"),
}


def tables(
    measured: pd.DataFrame,
    controls: pd.DataFrame,
    others: pd.DataFrame,
    mechanism: MechanismParams,
    params: AddingParams,
) -> tuple[Table, ...]:
    """Return all tables, from the measures of all networks and of the planted models; ``others``
    has the planted models and controls of criteria-2.md."""
    networks = decide.grouped(models(measured, mechanism.fresh), params)
    planted, every = verdicts(controls), pd.concat([others, controls])
    held = statements(networks, planted, mechanism.fresh, params)
    deciding = held.loc[held["decides"]]
    about = "Attention and adding: of how many networks each is true, with 95 % intervals."
    apart = "The statements, by group of networks."
    measures = "Every measure: median, and the worst."
    names = "What does not hold, by network."
    each = "Attention and adding, network by network."
    orders = "The hole by the order of the character, in the networks that decide."
    against = "Planted models: verdicts, and whether they are those that the criteria ask for."
    return (
        Table("adding-said", about, deciding, DECIDING),
        Table("adding-statements", apart, held, HELD),
        Table("adding-measures", measures, numbers(networks, params), MEASURES),
        Table("adding-failures", names, failures(networks), FAILURES),
        Table("adding-orders", orders, by_order(measured, networks, params), ORDERS),
        Table("adding-runs", each, by_network(networks), NETWORKS),
        Table("adding-planted", against, comparison(planted), COMPARED),
        planted_tables.table(every),
        planted_tables.measures(every),
    )


def verdicts(controls: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict of each planted model on each statement; empty where it has no value."""
    text = controls.loc[controls["measure"] == ""].astype({"run": object, "id": object})
    verdict = text.astype({"verdict": object}).pivot_table("verdict", "run", "id", "last")
    return verdict.reindex([*PLANTED], columns=[*STATEMENTS]).fillna("")


def wrongly_holding(planted: pd.DataFrame, id: str) -> list[str]:
    """Return the models for which a statement holds and must not: untrained and memorised ones for
    every statement, and those that the criteria name."""
    return [
        name
        for name, verdict in planted[id].to_dict().items()
        if verdict == HOLDS and (name in decide.CONTROLS or id in PLANTED[name].must_not)
    ]


def statements(
    networks: Models, planted: pd.DataFrame, fresh: list[str], params: AddingParams
) -> pd.DataFrame:
    """Count for how many networks of each group each statement holds, and in how many the rival of
    statement 8 stands; and decide each over the networks that decide."""
    rows: list[Cells] = []
    for group in ROWS:
        some = counting(networks, group, params)
        row: Cells = {"group": group, "networks": int(decide.in_group(networks, group).sum())}
        row["generalising"] = int(some.sum())
        for id in (*STATEMENTS, RIVAL):
            decides = decide.decides(id) == group
            if id == RIVAL:
                count, asks = decide.stands(networks, some, params), "adding"
                verdict = count.verdict
            else:
                count, asks = tally(networks.verdict(id)[some]), id
                verdict = decide.over_networks(networks, id, wrongly_holding(planted, id), params)
            if decides:
                verdict = decide.awaited(networks, asks, fresh, params) or verdict
            counts = count._asdict() | {"verdict": verdict if decides else ""}
            rows.append(row | {"id": id, "decides": decides} | counts)
    names = ["group", "networks", "generalising", "id", "sentence", "decides", "counted"]
    rows = [row | {"counted": row["holds"] + row["fails"] + row["undecided"]} for row in rows]
    return SAID.frame(rows, [*names, *Tally._fields])


def numbers(networks: Models, params: AddingParams) -> pd.DataFrame:
    """Return every number over each group of networks that generalise, those with a level first."""
    groups = {
        group: networks.where(counting(networks, group, params)) for group in (TOGETHER, EARLIER)
    }
    rows: list[Cells] = []
    for id, (statement, kind, unit, sentence) in CRITERIA.items():
        holds, fails = getattr(params.measures.levels, kind)
        most = holds < fails
        row: Cells = {"statement": statement, "id": id, "sentence": sentence, "level": holds}
        row |= {"unit": UNITS.get(unit, unit), "most": most}
        for group, some in groups.items():
            x = some.numbers(id)
            row |= {f"{group} median": x.median(), f"{group} worst": x.max() if most else x.min()}
            row |= {f"{group} holds": int((some.verdict(id) == HOLDS).sum())}
            row |= {f"{group} networks": int(x.count())}
        rows.append(row)
    for (statement, measure), (sentence, unit) in MORE.items():
        row = {"statement": statement, "id": measure, "sentence": sentence, "unit": unit}
        for group, some in groups.items():
            x = some.numbers(statement, measure)
            row |= {f"{group} median": x.median(), f"{group} networks": int(x.count())}
        rows.append(row)
    return pd.DataFrame(rows).astype({f"{group} holds": "Int64" for group in groups})


def failures(networks: Models) -> pd.DataFrame:
    """Return a row for each statement that does not hold for a network, with the numbers that are
    the reason."""
    rows = []
    for name, kind in networks.kind.items():
        for statement in STATEMENTS:
            verdict = networks.verdict(statement)[name]
            if verdict in (UNDECIDED, FAILS):
                short = [
                    (sentence, networks.numbers(id)[name])
                    for id, (whose, *_, sentence) in CRITERIA.items()
                    if whose == statement and networks.verdict(id)[name] in (UNDECIDED, FAILS)
                ]
                why = "; ".join(f"{sentence}: {value:.3f}" for sentence, value in short)
                rows.append((name, kind, networks.accuracy[name], statement, verdict, why))
    return pd.DataFrame(rows, columns=[*FAILURES])


def by_order(measured: pd.DataFrame, networks: Models, params: AddingParams) -> pd.DataFrame:
    """Return how votes at mean attention depend on δ for the characters of each order that count:
    their correlation with |cos(kδ/2)|, and the vote for angles that are farthest apart over that
    for equal ones, beside the value of |cos(kδ/2)| there."""
    text = measured.astype({"run": object, "id": object, "measure": object})
    some = networks.where(counting(networks, TOGETHER, params)).kind.index.tolist()
    votes = text.loc[(text["id"] == "vote at mean") & text["run"].isin(some)]
    character = votes["measure"].map(lambda measure: measure.split()[0])
    rows = []
    for key, vote in votes.groupby(["run", character], sort=False)["value"]:
        p, k = map(int, str(key[-1]).split(":"))
        half = np.pi * k * np.arange(len(vote)) / (p - 1)  # kδ/2 for δ = 0, 1, …
        law, y = np.abs(np.cos(half)), vote.to_numpy()
        farthest = y[np.isclose(law, law.min())].mean() / y[0]
        rows.append(((p - 1) // gcd(p - 1, k), np.corrcoef(law, y)[0, 1], farthest, law.min()))
    table = pd.DataFrame(rows, columns=["order", "correlation", "farthest", "law"])
    return table.groupby("order", as_index=False).agg(
        characters=("correlation", "size"),
        correlation=("correlation", "median"),
        worst=("correlation", "min"),
        farthest=("farthest", "median"),
        law=("law", "median"),
    )


def by_network(networks: Models) -> pd.DataFrame:
    """Return a row for each network: verdicts, and all numbers."""
    columns = {"kind": networks.kind, "accuracy": networks.accuracy}
    columns |= {id: networks.verdict(id) for id in STATEMENTS}
    columns |= {id: networks.numbers(id) for id in CRITERIA}
    columns |= {f"{id}: {measure}": networks.numbers(id, measure) for id, measure in MORE}
    return pd.DataFrame(columns).reset_index()


def comparison(planted: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts of the planted models, and what comes out otherwise than it must."""
    rows = []
    for name in PLANTED:
        verdict = planted.loc[name].to_dict()
        otherwise = [id for id in STATEMENTS if not decide.comes_out(name, id, verdict[id])]
        rows.append({"model": name, **verdict, "otherwise": ", ".join(otherwise)})
    return pd.DataFrame(rows)


VERDICTS = {id: Column(id, align="l") for id in STATEMENTS}
DECIDING = {
    **ID,
    **SAID.columns("statement"),
    "group": Column("networks", align="l"),
    "holds": Column("holds for", share_text, "l"),
}
HELD = {
    "group": Column("networks", align="l"),
    "networks": Column("measured", "count"),
    "generalising": Column("generalise", "count"),
    "id": Column("statement", align="l"),
    "holds": Column("holds for", share_text, "l"),
    "verdict": Column("verdict", align="l", missing=""),
}
MEASURES = {
    "statement": Column("statement", align="l"),
    "sentence": Column("measure", align="l"),
    "level": Column("holds", level_text, "l"),
    **{
        f"{group} {name}": Column(f"{group}: {name}", style)
        for group in (TOGETHER, EARLIER)
        for style, each in (("unit", ("median", "worst")), ("count", ("holds", "networks")))
        for name in each
    },
}
FAILURES = {
    "run": Column("run", align="l"),
    "kind": Column("kind", align="l"),
    "accuracy": Column("right answers", "share"),
    "statement": Column("statement", align="l"),
    "verdict": Column("verdict", align="l"),
    "why": Column("because", align="l"),
}
ORDERS = {
    "order": Column("order", "count"),
    "characters": Column("characters", "count"),
    "correlation": Column("correlation with ∣cos(kδ/2)∣: median", "index"),
    "worst": Column("worst", "index"),
    "farthest": Column("vote for angles farthest apart, over that for equal ones", "index"),
    "law": Column("∣cos(kδ/2)∣ there", "index"),
}
NETWORKS = {
    "run": Column("run", align="l"),
    "kind": Column("kind", align="l"),
    "accuracy": Column("right answers", "share"),
    **VERDICTS,
}
COMPARED = {
    "model": Column("planted model", align="l"),
    **VERDICTS,
    "otherwise": Column("otherwise than it must", align="l"),
}
