"""The paper's own weights beside our runs of the same modulus.

In: a folder; a folder with the results of published weights (metrics, logits, embedding,
interventions); the collected results of our runs; the paper's printed values, and the claims over
seeds, of the text and of Tables 2 and 3. Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from pathlib import Path

import pandas as pd

from strata import store
from strata.accounts.study import Case, Choice, usual
from strata.params import load
from strata.run import command
from strata.schema import Embedding, Interventions, Logits, Metrics, Printed
from strata.tables import beside_seeds, format
from strata.tables.beside_seeds import Studied

KINDS = {"logits": Logits, "embedding": Embedding, "metrics": Metrics}


def published(folder: Path) -> Studied:
    """The results of the published weights."""
    case = Case(*(store.read_model(folder / f"{name}.json", x) for name, x in KINDS.items()))
    return Studied(case, store.read_model(folder / "interventions.json", Interventions))


def ours(folder: Path) -> list[Studied]:
    """The results of our usual runs."""
    cases = (store.read_models(folder / f"{name}.json", x) for name, x in KINDS.items())
    changed = store.read_models(folder / "interventions.json", Interventions)
    found = zip(*cases, changed, strict=True)
    return [Studied(Case(*case), x) for *case, x in found if usual(x.run)]


def main(folder: str, results: str, collected: str, paper: str, text: str, classes: str) -> None:
    params, theirs = load("params.yaml"), published(Path(results))
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    printed = store.read_model(paper, Printed)
    made = beside_seeds.tables(theirs, ours(Path(collected)), choice, params)
    over = pd.read_csv(text), pd.read_csv(classes)
    format.write((*made, *beside_seeds.numbers(theirs, over, printed, params)), folder)


if __name__ == "__main__":
    command(main)
