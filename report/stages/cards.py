"""Model cards: a page for each run, and a line for each in one file.

In: the folder with the metrics, the interventions and the logits of the listed runs, and that with
their trainings. Out: the lines as JSON, which ``strata.runs()`` reads, and a folder with a page
for each run and an index.
"""

import shutil
from pathlib import Path

from report.code import cards
from report.code.summary import summary
from strata import store
from strata.collected import read_collected
from strata.inputs import InputError
from strata.measure.metrics import Metrics
from strata.run import command
from studies.interventions.code.records import Interventions
from studies.mechanism.code.records import Logits


def main(collected: str, trained: str, lines: str, pages: str) -> None:
    folder, train, out = Path(collected), Path(trained), Path(pages)
    metrics = read_collected(folder / "metrics.parquet", Metrics)
    interventions = read_collected(folder / "interventions.parquet", Interventions)
    logits = read_collected(folder / "logits.parquet", Logits)
    for name, other in {"interventions": interventions, "logits": logits}.items():
        if [x.run for x in metrics] != [x.run for x in other]:
            raise InputError(f"{folder}: {name}.parquet is of other runs than metrics.parquet")
    found = [summary(*of) for of in zip(metrics, interventions, logits, strict=True)]
    shown = {
        line.run: cards.card(line, own, train / line.run)
        for line, own in zip(found, metrics, strict=True)
    }
    shutil.rmtree(out, ignore_errors=True)
    for name, page in shown.items():
        store.write_text(out / f"{name}.html", page)
    store.write_text(out / "index.html", cards.index(found))
    store.write_json(lines, [line.model_dump() for line in found])


if __name__ == "__main__":
    command(main)
