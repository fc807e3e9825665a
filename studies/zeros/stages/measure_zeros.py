"""Which primes the characters of a run feel, one by one or together.

In: a run's name; the settings as JSON, its weights, its metrics. Out: JSON, what
studies.zeros.code.measures describes.
"""

from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run, command
from studies.params import ZerosSettings
from studies.zeros.code.measures import measure


def main(name: str, settings: str, weights: str, metrics: str, out: str) -> None:
    run, params = Run.parse(name), store.read_model(settings, ZerosSettings)
    task, accuracy = store.read_task(weights, run), store.read_model(metrics, Metrics).accuracy.all
    store.write_json(out, measure(name, store.read_weights(weights, run), task, accuracy, params))


if __name__ == "__main__":
    command(main)
