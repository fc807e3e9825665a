"""The paper's own weights beside our runs of the same modulus.

In: a folder; a folder with the results of published weights (metrics, logits, embedding,
interventions) and, where they are shipped, their receipt; the collected results of our runs; the
paper's printed values, and the claims over seeds, of the text and of Tables 2 and 3. Out: NAME.csv,
NAME.tex and NAME.md for each table; captions have the SHA-256 that the receipt names.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import pandas as pd

from strata import store
from strata.run import InputError, command
from strata.tables import format
from strata.tables.printed import Printed
from studies.mechanism.code.study import Choice, usual
from studies.params import load
from studies.published.code.origin import Origin
from studies.seeds.code import beside_seeds
from studies.seeds.code.beside_seeds import Studied


def weights(folder: Path) -> str:
    """Which weights, for a caption. Raises InputError where a result is not that of the receipt."""
    if not (folder / "receipt.json").is_file():
        return ""
    origin = store.read_model(folder / "receipt.json", Origin)
    for name, sha256 in origin.results.items():
        if hashlib.sha256(store.read_bytes(folder / name)).hexdigest() != sha256:
            raise InputError(f"{folder / name}: is not what receipt.json names; restore it by git")
    return f" SHA-256 of the weights: {origin.sha256}."


def main(folder: str, results: str, paper: str, seeds: str, *collected: str) -> None:
    params, theirs = load(), Studied.read(Path(results))
    choice = Choice(params.accounts.levels, params.metrics.accuracy)
    printed = store.read_model(paper, Printed)
    ours = [x for x in Studied.collected(*collected) if usual(x.interventions.run)]
    made = beside_seeds.tables(theirs, ours, choice, params)
    over = pd.read_csv(Path(seeds, "verdict.csv")), pd.read_csv(Path(seeds, "classes-verdict.csv"))
    of = weights(Path(results))
    found = (*made, *beside_seeds.numbers(theirs, over, printed, params))
    format.write([replace(x, caption=f"{x.caption}{of}") for x in found], folder)


if __name__ == "__main__":
    command(main)
