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
from strata.collected import listed, read_collected
from strata.measure.metrics import Metrics
from strata.params import GridParams
from strata.run import command
from strata.tables import format
from studies.mechanism.code import tables_accounts as accounts
from studies.mechanism.code.records import Embedding, Logits
from studies.mechanism.code.tables_accounts import Case
from studies.params import load

MODELS: tuple[str, ...] = ("trained", "memorised", "untrained")


def case(logits: Path | str, embedding: Path | str, generalised: bool | None = None) -> Case:
    """What these files say of a model."""
    of = store.read_model(logits, Logits), store.read_model(embedding, Embedding)
    return Case(*of, bool(generalised))


def of_runs(
    folder: str, names: str, logits: str, embedding: str, metrics: str, *published: str
) -> None:
    params = load()
    done = {x.run: x.generalised for x in read_collected(metrics, Metrics)}
    cases = {
        name: case(Path(logits, f"{name}.json"), Path(embedding, f"{name}.json"), done[name])
        for name in listed(names)
    }
    usual = {name: x for name, x in cases.items() if GridParams.usual(name)}
    found = accounts.measures(usual, params.accounts.levels)
    tables = accounts.tables(found, params.accounts.levels, params.grid.confidence)
    format.write(tables, folder)
    for theirs in published:
        of = Path(theirs, "logits.json"), Path(theirs, "embedding.json")
        right = store.read_model(Path(theirs, "metrics.json"), Metrics).generalised
        cases["published"] = case(*of, right)
    every = accounts.measures(cases, params.accounts.levels)
    results.write_rows(Path(folder, "results.parquet"), accounts.results(every))


def of_controls(folder: str, *paths: str) -> None:
    of = zip(MODELS, paths[: len(MODELS)], paths[len(MODELS) :], strict=True)
    levels = load().accounts.levels
    models = accounts.measures({name: case(x, y) for name, x, y in of}, levels)
    format.write([accounts.beside_controls(models, levels)], folder)


def main(folder: str, kind: str, *paths: str) -> None:
    (of_runs if kind == "runs" else of_controls)(folder, *paths)


if __name__ == "__main__":
    command(main)
