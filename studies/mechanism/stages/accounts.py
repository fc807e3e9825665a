"""The tables that decide between strata and primes.

In: a folder, and what to make of which files. runs: of all listed runs the descriptions of the
logits, the measures of the embedding, the metrics and the interventions. controls: the logits of
the trained, the memorised and the untrained model. Out: NAME.csv, NAME.tex and NAME.md for each
table.
"""

from strata import store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from studies.interventions.code.records import Interventions
from studies.mechanism.code import exceptions
from studies.mechanism.code import tables_accounts as accounts
from studies.mechanism.code.records import Embedding, Logits
from studies.mechanism.code.study import Case, Choice, usual
from studies.params import load

MODELS: tuple[str, ...] = ("trained", "memorised", "untrained")


def of_runs(folder: str, logits: str, embedding: str, metrics: str, interventions: str) -> None:
    params = load()
    found = zip(
        read_collected(logits, Logits),
        read_collected(embedding, Embedding),
        read_collected(metrics, Metrics),
        strict=True,
    )
    cases = [Case(*results) for results in found if usual(results[0].run)]
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    changed = read_collected(interventions, Interventions)
    made = accounts.tables(cases, choice, params.grid.confidence)
    format.write((*made, *exceptions.tables(cases, changed, choice)), folder)


def main(folder: str, kind: str, *paths: str) -> None:
    if kind == "runs":
        of_runs(folder, *paths)
    else:
        models = (store.read_model(path, Logits) for path in paths)
        named = dict(zip(MODELS, models, strict=True))
        levels = load().accounts.levels
        format.write(accounts.beside_controls(named, levels), folder)


if __name__ == "__main__":
    command(main)
