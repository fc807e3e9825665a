"""The tables that decide between strata and primes.

In: a folder; of all listed runs the descriptions of the logits, the measures of the embedding, the
metrics and the interventions; the logits of a run and of its negative controls, as NAME=PATH. Out:
NAME.csv, NAME.tex and NAME.md for each table.
"""

from strata import store
from strata.accounts.study import Case, Choice, usual
from strata.params import load
from strata.run import command
from strata.schema import Embedding, Interventions, Logits, Metrics
from strata.tables import accounts, exceptions, format


def main(
    folder: str, logits: str, embedding: str, metrics: str, interventions: str, *models: str
) -> None:
    params = load("params.yaml")
    of_runs = zip(
        store.read_models(logits, Logits),
        store.read_models(embedding, Embedding),
        store.read_models(metrics, Metrics),
        strict=True,
    )
    cases = [Case(*found) for found in of_runs if usual(found[0].run)]
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    format.write(accounts.tables(cases, choice, params.grid.confidence), folder)
    changed = store.read_models(interventions, Interventions)
    format.write(exceptions.tables(cases, changed, choice), folder)
    named = (model.partition("=") for model in models)
    beside = {name: store.read_model(path, Logits) for name, _, path in named}
    if beside:
        format.write(accounts.beside_controls(beside, params.accounts.levels), folder)


if __name__ == "__main__":
    command(main)
