"""The tables of a run, ours beside the paper's, and the numbers of `dvc metrics`.

In: the run's metrics, the numbers that the paper prints. Out: NAME.csv, NAME.tex, NAME.md and
NAME.json for every table in a folder, and the summary as JSON.
"""

from strata import store
from strata.measure.metrics import Metrics
from strata.params import load
from strata.run import command
from strata.tables import format, headline
from strata.tables.printed import Printed


def main(metrics_path: str, printed_path: str, folder: str, summary: str) -> None:
    metrics = store.read_model(metrics_path, Metrics)
    printed = store.read_model(printed_path, Printed)
    format.write(headline.tables(metrics, printed, load("params.yaml")), folder)
    store.write_json(summary, headline.summary(metrics))
    if metrics.generalised is False:
        print(headline.memorised_message(metrics))


if __name__ == "__main__":
    command(main)
