"""All numbers of one run. No network runs: a changed threshold costs a second or two.

In: a run's name, the settings, its split, weights and history, its activations. Out: JSON,
described in src/strata/measure/metrics.py.
"""

from pathlib import Path

from strata import store
from strata.measure import metrics, stored
from strata.params import MetricsParams
from strata.run import Run, command


def main(name: str, settings: str, split: str, train: str, activations: str, out: str) -> None:
    run, params = Run.parse(name), store.read_model(settings, MetricsParams)
    path = Path(train) / "weights.safetensors"
    weights, task = store.read_weights(path, run), store.read_task(path, run)
    history = store.read_history(Path(train) / "history.parquet")
    forward = stored.read_all_pairs(activations, task, weights)
    table = store.read_split(split, task)
    store.write_json(out, metrics.run_metrics(run, weights, table, history, forward, params, task))


if __name__ == "__main__":
    command(main)
