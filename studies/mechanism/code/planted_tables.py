"""The tables of statements: what each rests on, for which planted models each holds, and what these
have in each measure."""

import pandas as pd

from strata.results import FAILS, HOLDS, UNDECIDED
from strata.tables.table import ID, Cells, Column, Table
from studies.mechanism.code import adding_decide, decide
from studies.mechanism.code.tables import UNITS

CRITERIA = {**decide.CRITERIA, **adding_decide.CRITERIA}
SENTENCES = {**decide.SENTENCES.sentences, **adding_decide.SAID.sentences}


def table(rows: pd.DataFrame) -> Table:
    """Return the table from the rows of all planted models and controls."""
    verdicts = rows.loc[rows["measure"] == ""].astype({"run": object, "id": object})
    verdicts = verdicts.astype({"verdict": object})
    lines = []
    for id in [*decide.STATEMENTS, *adding_decide.STATEMENTS]:
        measures = "; ".join(x.sentence for x in CRITERIA.values() if x.statement == id)
        by_verdict = verdicts.loc[verdicts["id"] == id].groupby("verdict")["run"].unique()
        models = {verdict: ", ".join(by_verdict.get(verdict, ())) for verdict in VERDICTS}
        lines.append({"id": id, "sentence": SENTENCES[id], "measures": measures} | models)
    caption = "What each statement rests on, and for which planted models it holds."
    return Table("mechanism-planted", caption, pd.DataFrame(lines), COLUMNS)


def measures(rows: pd.DataFrame) -> Table:
    """Return the table of what planted models and controls have in each measure of the criteria."""
    text = rows.astype({"run": object, "id": object, "measure": object})
    numbers = text.loc[(text["measure"] == "") & text["id"].isin(CRITERIA)]
    models = numbers.groupby(["id", "run"], sort=False)["value"].last().unstack()
    lines: list[Cells] = [
        {"id": id, "sentence": x.sentence, "unit": UNITS.get(x.unit, x.unit)}
        for id, x in CRITERIA.items()
    ]
    frame = pd.DataFrame(lines).merge(models, "left", left_on="id", right_index=True)
    columns = ID | {"sentence": Column("measure", align="l")}
    columns |= {name: Column(name, "unit") for name in models}
    return Table("planted-measures", "What planted models and controls have.", frame, columns)


VERDICTS = {HOLDS: "holds for", UNDECIDED: "undecided for", FAILS: "does not hold for"}
COLUMNS = {
    **ID,
    "sentence": Column("statement", align="l"),
    "measures": Column("measures", align="l"),
    **{verdict: Column(heading, align="l") for verdict, heading in VERDICTS.items()},
}
