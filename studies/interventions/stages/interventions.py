"""All interventions on one run, or on other weights of its shape.

In: a run's name, the settings, its weights, and where to write; with a fifth argument, weights
whose key frequencies are used. Out: JSON, ``records.Interventions``; criteria.md
defines it.
"""

from strata import store
from strata.run import Run, command
from studies.interventions.code import suite
from studies.params import InterventionsSettings


def main(name: str, settings: str, weights_path: str, out: str, *others: str) -> None:
    run, own = Run.parse(name), store.read_model(settings, InterventionsSettings)
    weights, *key = (store.read_weights(path, run) for path in (weights_path, *others))
    # One line: these matrices indented, a number on each, would be half as large again.
    store.write_json(out, suite.intervene(run, weights, own, *key), indent=None)


if __name__ == "__main__":
    command(main)
