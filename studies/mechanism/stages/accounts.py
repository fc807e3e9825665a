"""The tables that decide between strata and primes.

In: a folder, and what to make of which files. runs: the list of their names, the folders with the
descriptions of the logits and the measures of the embedding, the metrics of all, and, where there
are such weights, the folder with those of published ones. controls: of the trained, the memorised
and the untrained model the logits, then the embedding. Out: NAME.csv, NAME.tex, NAME.md and
NAME.json for each table; of runs also results.parquet, the numbers of each run, those of published
weights under the name "published".
"""

from pathlib import Path

from strata import results, store
from strata.collected import read_all, read_collected
from strata.measure.metrics import Metrics
from strata.params import GridParams
from strata.run import command
from strata.tables import format
from studies.mechanism.code import tables_accounts as accounts
from studies.mechanism.code.records import Embedding, Logits
from studies.mechanism.code.tables_accounts import Case
from studies.params import load

MODELS: tuple[str, ...] = ("trained", "memorised", "untrained")
FILES = {"logits": Logits, "embedding": Embedding, "metrics": Metrics}


def of_runs(
    folder: str, names: str, logits: str, embedding: str, metrics: str, *published: str
) -> None:
    params = load()
    read = (
        read_all(names, logits, Logits),
        read_all(names, embedding, Embedding),
        read_collected(metrics, Metrics),
    )
    cases = [Case(*found) for found in zip(*read, strict=True)]
    usual = [case for case in cases if GridParams.usual(case.logits.run)]
    format.write(accounts.tables(usual, params.accounts.levels, params.grid.confidence), folder)
    named = {case.logits.run: case for case in cases}
    for theirs in published:
        named["published"] = Case(
            *(store.read_model(Path(theirs, f"{x}.json"), FILES[x]) for x in FILES)
        )
    rows = (
        x
        for name, case in named.items()
        for x in accounts.results(name, case, params.accounts.levels)
    )
    results.write(Path(folder, "results.parquet"), rows)


def of_controls(folder: str, *paths: str) -> None:
    logits = (store.read_model(path, Logits) for path in paths[: len(MODELS)])
    embedding = (store.read_model(path, Embedding) for path in paths[len(MODELS) :])
    named = dict(zip(MODELS, zip(logits, embedding, strict=True), strict=True))
    format.write([accounts.beside_controls(named, load().accounts.levels)], folder)


def main(folder: str, kind: str, *paths: str) -> None:
    (of_runs if kind == "runs" else of_controls)(folder, *paths)


if __name__ == "__main__":
    command(main)
