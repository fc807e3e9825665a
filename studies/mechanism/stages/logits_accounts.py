"""The logits of a run described by strata and by primes.

In: a run's name, the settings, its weights, and where to write; with a fifth argument, weights
whose key frequencies are used. Out: JSON, ``records.Logits``; criteria-primes.md
defines it.
"""

from strata import store
from strata.run import Run, command
from studies.mechanism.code import logits
from studies.params import LogitsSettings


def main(name: str, settings: str, weights_path: str, out: str, *others: str) -> None:
    run, params = Run.parse(name), store.read_model(settings, LogitsSettings)
    weights = store.read_weights(weights_path, run)
    key = store.read_weights(others[0], run) if others else None
    # One line: the matrices of coefficients indented would be half as large again.
    store.write_json(
        out, logits.measure(run, weights, params, params.key_threshold, key), indent=None
    )


if __name__ == "__main__":
    command(main)
