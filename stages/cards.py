"""Model cards: a page for each run, and a line for each in one file.

In: the metrics and the interventions of the listed runs, their folders in data/train, what split
them. Out: the lines as JSON, which ``strata.runs()`` reads, and a folder with RUN.html and
index.html.
"""

import shutil
import sys
from pathlib import Path

from strata import store
from strata.models.summary import summary
from strata.report import cards
from strata.run import InputError, command
from strata.schema import Interventions, Metrics


def main() -> None:
    metrics_path, interventions_path, train, lines, out = map(Path, sys.argv[1:])
    metrics = store.read_models(metrics_path, Metrics)
    interventions = store.read_models(interventions_path, Interventions)
    if [x.run for x in metrics] != [x.run for x in interventions]:
        raise InputError(f"{interventions_path}: its runs differ from those of {metrics_path}")
    found = [summary(*both) for both in zip(metrics, interventions, strict=True)]
    pages = {
        line.run: cards.card(line, own, train / line.run)
        for line, own in zip(found, metrics, strict=True)
    }
    shutil.rmtree(out, ignore_errors=True)
    for name, page in pages.items():
        store.write_text(out / f"{name}.html", page)
    store.write_text(out / "index.html", cards.index(found))
    store.write_json(lines, [line.model_dump() for line in found])


if __name__ == "__main__":
    command(main)
