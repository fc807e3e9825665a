"""All numbers of one run.

In: a run's name, its split, weights and history. Out: JSON, described in src/strata/measures.py.
"""

import sys
from pathlib import Path

from strata import store
from strata.analysis import metrics
from strata.run import Run, command, section
from strata.thresholds import MetricsParams


def main() -> None:
    name, split, train, out = sys.argv[1:]
    run, params = Run.parse(name), section("params.yaml", "metrics", MetricsParams)
    weights = store.read_weights(Path(train) / "weights.safetensors", run)
    history = store.read_history(Path(train) / "history.parquet")
    store.write_json(
        out, metrics.measure(run, weights, store.read_split(split, run.n), history, params)
    )


if __name__ == "__main__":
    command(main)
