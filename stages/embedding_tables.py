"""Tables of the embedding under two accounts, and of the literature's measures, over all runs.

In: a folder; the embedding and the metrics of all listed runs; after them the same of the negative
controls, each as NAME=PATH. Out: NAME.csv, NAME.tex and NAME.md for each table.
"""

from strata import store
from strata.params import GridParams
from strata.run import command, section
from strata.schema import Embedding, Metrics
from strata.tables import embedding, format


def main(folder: str, collected: str, metrics: str, *controls: str) -> None:
    grid = section("params.yaml", "grid", GridParams)
    runs = [x for x in store.read_models(collected, Embedding) if grid.usual(x.run)]
    generalised = {x.run for x in store.read_models(metrics, Metrics) if x.generalised}
    negative = {
        name: store.read_model(path, Embedding)
        for name, _, path in (control.partition("=") for control in controls)
    }
    format.write(embedding.tables(runs, negative, generalised, grid.confidence), folder)


if __name__ == "__main__":
    command(main)
