"""The tables of the studies over seeds, splits and data: docs/studies.md.

In: a folder; a folder with the collected results of our runs (metrics, logits, embedding,
interventions). Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from pathlib import Path

from strata.accounts.study import Choice, usual
from strata.params import load
from strata.run import command
from strata.tables import crossed, format, four_primes, fractions, mlp_seeds
from strata.tables.beside_seeds import Studied


def main(folder: str, collected: str) -> None:
    params = load("params.yaml")
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    runs = Studied.collected(Path(collected))
    ours = [run for run in runs if usual(run.interventions.run)]
    format.write(mlp_seeds.tables(ours, choice, params.grid), folder)
    format.write(crossed.tables(runs, choice, params.grid.confidence), folder)
    format.write(four_primes.tables(runs, choice), folder)
    format.write(fractions.tables(runs, choice), folder)


if __name__ == "__main__":
    command(main)
