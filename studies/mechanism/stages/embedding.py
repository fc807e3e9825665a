"""The embedding of one run under two accounts, strata and primes.

In: a run's name, the settings, its weights, and where to write; with a fifth argument, weights
whose key frequencies are used. Out: JSON, ``records.Embedding``; criteria-primes.md
defines it.
"""

from strata import store
from strata.run import Run, command
from studies.mechanism.code import embedding
from studies.params import EmbeddingSettings


def main(name: str, settings: str, weights_path: str, out: str, *others: str) -> None:
    run, params = Run.parse(name), store.read_model(settings, EmbeddingSettings)
    weights = store.read_weights(weights_path, run)
    key = store.read_weights(others[0], run) if others else None
    store.write_json(
        out, embedding.measure(run, weights, params, params.key_threshold, key), indent=None
    )


if __name__ == "__main__":
    command(main)
