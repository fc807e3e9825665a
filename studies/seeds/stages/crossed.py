"""The tables of splits crossed with initial weights: docs/studies.md.

In: a folder; a folder with the collected results of our runs (metrics, logits, embedding,
interventions). Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from strata.run import command
from strata.tables import format
from studies.mechanism.code.study import Choice
from studies.params import load
from studies.seeds.code import crossed
from studies.seeds.code.beside_seeds import Studied


def main(folder: str, *collected: str) -> None:
    params = load()
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    runs = Studied.collected(*collected)
    format.write(crossed.tables(runs, choice, params.grid.confidence), folder)


if __name__ == "__main__":
    command(main)
