"""A page with the data of each run, a card for each, and a line for each in one file.

In: the list of inputs, and what it names: trainings and metrics of all runs; where there are these
studies, interventions and what the first accounts say of each run. Out: the lines as JSON, which
``strata.runs()`` reads; the curves of all trainings; a folder with a script for each run, which
hands the data described in report.code.run_data to the report; a folder with a card for each run
and an index.
"""

import shutil
from functools import cache
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import pandas as pd

from report.code import cards, run_data
from report.code.site import render, script
from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run, command

Json = dict[str, Any]
# What every page knows of every run.
CURVE_FIELDS = ("run", "n", "seed", "architecture", "first_099", "epoch_099", "curve")
INTERVENTIONS = Path("studies/interventions/data/runs")
ACCOUNTS = Path("studies/mechanism/frozen/runs.csv")


@cache
def accounts() -> dict[str, Json]:
    """Return what the first accounts say of each run that they describe."""
    if not ACCOUNTS.is_file():
        return {}
    rows = pd.read_csv(ACCOUNTS, dtype={"mixed": "Int64"}).astype(object)
    return rows.where(rows.notna(), None).set_index("run").to_dict("index")


def sources(inputs: list[str]) -> list[tuple[Run, Path, Path]]:
    """Return every run that is trained and measured, with the folder of its training and its
    metrics, sorted by variant and name; runs with the initial weights of another seed come after
    the others."""
    measured = {path.stem: path for path in map(Path, inputs) if path.parent.name == "metrics"}
    weights = [Path(x) for x in inputs if Path(x).name == "weights.safetensors"]
    trained = {x.parent.name: x.parent for x in weights if x.parent.parent.name == "train"}
    trained_runs = [(Run.parse(x), trained[x], measured[x]) for x in {*measured} & {*trained}]
    return sorted(trained_runs, key=lambda x: (x[0].variant, x[0].weights_seed != x[0].seed, x[0]))


def describe(source: tuple[Run, Path, Path]) -> tuple[Json, Json, str]:
    """Return the line, the data and the card of one run."""
    run, folder, path = source
    metrics = store.read_model(path, Metrics)
    path = INTERVENTIONS / f"{run}.json"
    interventions = store.read_json(path) if path.is_file() else {}
    first_accounts = accounts().get(str(run), {})
    weights = store.read_weights(folder / "weights.safetensors", run)
    history = store.read_history(folder / "history.parquet")
    line = cards.line(metrics, interventions, first_accounts)
    card = cards.card(line, metrics, folder, first_accounts.get("gating"))
    return line, {} if metrics.task else run_data.page(weights, history, metrics), card


def main(inputs: str, lines: str, curves: str, pages: str, folder: str) -> None:
    runs = sources([*store.read_json(inputs)])
    for out in (pages, folder):
        shutil.rmtree(out, ignore_errors=True)
    with Pool(2) as pool:
        described = pool.map(describe, runs, chunksize=1)
    for line, data, card in described:
        if data:  # a page multiplies modulo n: it has no run of another task
            store.write_text(Path(pages, f"{line['run']}.js"), script("run", data))
        store.write_text(Path(folder, f"{line['run']}.html"), card)
    all_lines = [line for line, *_ in described]
    store.write_text(Path(folder, "index.html"), render("cards.html", "../", lines=all_lines))
    store.write_json(lines, all_lines)
    pages_data = [data for _, data, _ in described if data]
    store.write_json(curves, [{name: data[name] for name in CURVE_FIELDS} for data in pages_data])


if __name__ == "__main__":
    command(main)
