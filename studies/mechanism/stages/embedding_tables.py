"""Tables of the embedding under two accounts over all runs.

In: a folder; the list of the runs; the folders with the logits and the embedding of each, the
metrics of all; after them the embedding of the negative controls, each as NAME=PATH. Out: NAME.csv,
NAME.tex, NAME.md and NAME.json for each table.
"""

from strata import store
from strata.collected import read_all, read_collected
from strata.measure.metrics import Metrics
from strata.params import GridParams
from strata.run import command
from strata.tables import format
from studies.mechanism.code import tables_embedding as embedding
from studies.mechanism.code.records import Embedding, Logits
from studies.mechanism.code.study import Case
from studies.params import load


def main(folder: str, names: str, logits: str, measured: str, metrics: str, *controls: str) -> None:
    confidence = load().grid.confidence
    found = zip(
        read_all(names, logits, Logits),
        read_all(names, measured, Embedding),
        read_collected(metrics, Metrics),
        strict=True,
    )
    cases = [Case(*of_run) for of_run in found if GridParams.usual(of_run[0].run)]
    named = (control.partition("=") for control in controls)
    negative = {name: store.read_model(path, Embedding) for name, _, path in named}
    format.write(embedding.tables(cases, negative, confidence), folder)


if __name__ == "__main__":
    command(main)
