"""The tables of the MLP-only models beside the transformers: docs/studies.md.

In: a folder; a folder with the collected results of our runs (metrics, logits, embedding,
interventions). Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from strata.run import command
from strata.tables import format
from studies.architectures.code import mlp_seeds
from studies.mechanism.code.study import Choice, usual
from studies.params import load
from studies.seeds.code.beside_seeds import Studied


def main(folder: str, *collected: str) -> None:
    params = load()
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    runs = Studied.collected(*collected)
    ours = [run for run in runs if usual(run.interventions.run)]
    format.write(mlp_seeds.tables(ours, choice, params.grid), folder)


if __name__ == "__main__":
    command(main)
