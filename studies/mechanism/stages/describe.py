"""A run under two accounts, strata and primes: its logits, or its embedding.

In: "logits" or "embedding", a run's name, the settings, its weights, and where to write; with a
sixth argument, weights whose key frequencies are used. Out: JSON, ``records.Logits`` or
``records.Embedding``; criteria-primes.md defines both.
"""

from strata import store
from strata.run import Run, command
from studies.mechanism.code import embedding, logits
from studies.params import EmbeddingSettings, LogitsSettings


def main(kind: str, name: str, settings: str, weights_path: str, out: str, *others: str) -> None:
    run = Run.parse(name)
    weights, *key = (store.read_weights(path, run) for path in (weights_path, *others))
    if kind == "logits":
        found = logits.measure(run, weights, store.read_model(settings, LogitsSettings), *key)
    else:
        found = embedding.measure(run, weights, store.read_model(settings, EmbeddingSettings), *key)
    # One line: the matrices of coefficients indented would be half as large again.
    store.write_json(out, found, indent=None)


if __name__ == "__main__":
    command(main)
