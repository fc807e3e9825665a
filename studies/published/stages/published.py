"""The paper's own weights beside our runs of the same modulus.

In: a folder; a folder with the metrics of published weights and, where they are shipped, their
receipt; the paper's printed values; the metrics of all listed runs; the results of the mechanism
and of the interventions, with those of the weights under the name "published"; a folder with the
claims over seeds, of the text and of Tables 2 and 3: what is not there is left out. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table; captions have the SHA-256 that the receipt names.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import pandas as pd

from strata import results, store
from strata.collected import read_collected
from strata.inputs import InputError
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from strata.tables.printed import Printed
from studies.params import load
from studies.published.code import beside


def weights(folder: Path) -> str:
    """Which weights, for a caption. Raises InputError where a result is not that of the receipt."""
    if not (folder / "receipt.json").is_file():
        return ""
    receipt = store.read_json(folder / "receipt.json")
    for name, sha256 in receipt["results"].items():
        if hashlib.sha256(store.read_bytes(folder / name)).hexdigest() != sha256:
            raise InputError(f"{folder / name}: is not what receipt.json names; restore it by git")
    return f" SHA-256 of the weights: {receipt['sha256']}."


def main(
    folder: str, shipped: str, paper: str, metrics: str, mechanism: str, interventions: str,
    seeds: str,
) -> None:  # fmt: skip
    params, printed = load(), store.read_model(paper, Printed)
    theirs = store.read_model(Path(shipped, "metrics.json"), Metrics)
    usual = [x for x in read_collected(metrics, Metrics) if params.grid.usual(x.run)]
    own = beside.seeds(theirs, usual)
    found = results.read_rows(mechanism), results.read_rows(interventions)
    made = [*beside.tables(theirs, own, *found, params.grid)]
    paths = [Path(seeds, f"{name}.csv") for name in ("verdict", "classes-verdict")]
    if all(path.is_file() for path in paths):
        text, classes = map(pd.read_csv, paths)
        made += beside.numbers(theirs, (text, classes), printed, params)
    of = weights(Path(shipped))
    format.write([replace(x, caption=f"{x.caption}{of}") for x in made], folder)


if __name__ == "__main__":
    command(main)
