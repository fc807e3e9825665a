"""The models that the figures over seeds show, in one folder, so that a figure need not name them.

In: the trainings and the metrics of the paper's runs, a folder to write, names of runs. Out: for
each of these RUN.safetensors and RUN.json.
"""

from pathlib import Path

from strata import store
from strata.run import command


def main(train: str, metrics: str, out: str, *runs: str) -> None:
    for run in runs:
        weights = store.read_bytes(Path(train, run, "weights.safetensors"))
        store.write_bytes(Path(out, f"{run}.safetensors"), weights)
        store.write_bytes(Path(out, f"{run}.json"), store.read_bytes(Path(metrics, f"{run}.json")))


if __name__ == "__main__":
    command(main)
