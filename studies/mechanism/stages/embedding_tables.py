"""Tables of the embedding under two accounts, and of the literature's measures, over all runs.

In: a folder; the embedding and the metrics of all listed runs; after them the embedding of the
negative controls, each as NAME=PATH. Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from strata import store
from strata.collected import read_collected
from strata.measure.metrics import Metrics
from strata.run import command
from strata.tables import format
from studies.mechanism.code import tables_embedding as embedding
from studies.mechanism.code.embedding_levels import Choice, Measured
from studies.mechanism.code.records import Embedding
from studies.mechanism.code.study import usual
from studies.params import load


def main(folder: str, collected: str, metrics: str, *controls: str) -> None:
    params = load()
    results = zip(
        read_collected(collected, Embedding), read_collected(metrics, Metrics), strict=True
    )
    runs = [Measured(*both) for both in results if usual(both[0].run)]
    named = (control.partition("=") for control in controls)
    negative = {name: store.read_model(path, Embedding) for name, _, path in named}
    choice = Choice(params.accounts.embedding.levels, params.metrics.accuracy)
    format.write(embedding.tables(runs, negative, choice, params.grid.confidence), folder)


if __name__ == "__main__":
    command(main)
