"""The mean logits of one run under both accounts, where primes come first and where classes do.

In: a run's name, the settings of the mechanism as JSON, its weights, the file to write; with a
fifth argument, weights whose key frequencies are used. Out: Parquet, one row for each number.
"""

from strata import results, store
from strata.patch.patching import forward_pass
from strata.patch.projections import key_masks
from strata.run import Run, command
from studies.mechanism.code import accounts
from studies.mechanism.code.profile import profile
from studies.params import MechanismSettings


def main(name: str, settings: str, weights: str, out: str, *key_from: str) -> None:
    run, threshold = Run.parse(name), store.read_model(settings, MechanismSettings).key_threshold
    network, *others = (store.read_weights(path, run) for path in (weights, *key_from))
    key = key_masks((others or [network])[0]["W_E"][: run.n], run.n, threshold)
    rows = accounts.measure(profile(forward_pass(network, run.n)), key)
    results.write_rows(out, [row._replace(run=name) for row in rows])


if __name__ == "__main__":
    command(main)
