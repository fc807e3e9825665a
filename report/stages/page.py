"""What the report shows of one run.

In: a run's name, its weights and history, its metrics, its interventions. Out: a script that hands
the page's data, described in report.code.run_data, to the report: a page opened from disk may
load scripts alone.
"""

from pathlib import Path

from ops import provenance
from report.code import run_data
from strata import store
from strata.measure.metrics import Metrics
from strata.run import InputError, Run, command
from studies.interventions.code.records import Interventions


def main(name: str, train: str, metrics_path: str, interventions_path: str, out: str) -> None:
    run, weights_path = Run.parse(name), Path(train) / "weights.safetensors"
    history_path = Path(train) / "history.parquet"
    metrics = store.read_model(metrics_path, Metrics)
    interventions = store.read_model(interventions_path, Interventions)
    for path, of in ((metrics_path, metrics.run), (interventions_path, interventions.run)):
        if of != name:
            raise InputError(f"{path}: is of run {of}, must be of {name}")
    weights, history = store.read_weights(weights_path, run), store.read_history(history_path)
    files = [str(weights_path), str(history_path), metrics_path, interventions_path]
    shown = run_data.page(weights, history, metrics, interventions)
    shown["files"] = {path: provenance.md5(path) for path in files}
    store.write_text(out, provenance.script("run", shown))


if __name__ == "__main__":
    command(main)
