"""A page with the data of each run, a card for each, and a line for each in one file.

In: the list of inputs, and what it names: trainings and metrics of all runs; where there are these
studies, interventions and accounts of the logits. Out: the lines as JSON, which ``strata.runs()``
reads; the curves of all trainings; a folder with a script for each run, which hands the data
described in report.code.run_data to the report; a folder with a card for each run and an index.
"""

import shutil
from functools import cache
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import pandas as pd

from report.code import cards, run_data
from report.code.site import rendered, script
from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run, command

Json = dict[str, Any]
# What every page knows of every run.
LISTED = ("run", "n", "seed", "architecture", "first_099", "epoch_099", "curve")
GATING = Path("studies/mechanism/tables/accounts/accounts-runs.csv")
STUDIES = ("studies/interventions/data/runs", "studies/mechanism/data/logits")


@cache
def gating() -> dict[str, float]:
    """The gating of each run, where the study of the mechanism measures it."""
    if not GATING.is_file():
        return {}
    return pd.read_csv(GATING, index_col="run")["gating"].dropna().to_dict()


def sources(inputs: list[str]) -> list[tuple[Run, Path, Path]]:
    """Every run that is trained and measured, with the folder of its training and its metrics, by
    its variant and its name; those with the initial weights of another seed after the others."""
    measured = {path.stem: path for path in map(Path, inputs) if path.parent.name == "metrics"}
    weights = [Path(x) for x in inputs if Path(x).name == "weights.safetensors"]
    trained = {x.parent.name: x.parent for x in weights if x.parent.parent.name == "train"}
    found = [(Run.parse(x), trained[x], measured[x]) for x in {*measured} & {*trained}]
    return sorted(found, key=lambda x: (x[0].variant, x[0].weights_seed != x[0].seed, x[0]))


def made(source: tuple[Run, Path, Path]) -> tuple[Json, Json, str]:
    """The line, the data and the card of one run."""
    run, folder, path = source
    metrics = store.read_model(path, Metrics)
    paths = [Path(study, f"{run}.json") for study in STUDIES]
    interventions, logits = (store.read_json(x) if x.is_file() else {} for x in paths)
    weights = store.read_weights(folder / "weights.safetensors", run)
    history = store.read_history(folder / "history.parquet")
    line = cards.line(metrics, interventions, logits)
    card = cards.card(line, metrics, folder, gating().get(str(run)))
    return line, {} if metrics.task else run_data.page(weights, history, metrics), card


def main(inputs: str, lines: str, curves: str, pages: str, folder: str) -> None:
    found = sources([*store.read_json(inputs)])
    for out in (pages, folder):
        shutil.rmtree(out, ignore_errors=True)
    with Pool(2) as pool:
        done = pool.map(made, found, chunksize=1)
    for line, shown, card in done:
        if shown:  # a page multiplies modulo n: it has no run of another task
            store.write_text(Path(pages, f"{line['run']}.js"), script("run", shown))
        store.write_text(Path(folder, f"{line['run']}.html"), card)
    known = [line for line, *_ in done]
    store.write_text(Path(folder, "index.html"), rendered("cards.html", "../", lines=known))
    store.write_json(lines, known)
    paged = [shown for _, shown, _ in done if shown]
    store.write_json(curves, [{name: shown[name] for name in LISTED} for shown in paged])


if __name__ == "__main__":
    command(main)
