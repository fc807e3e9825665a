"""All cuts of one run.

In: a run's name, the settings, its weights, and where to write. Out: JSON,
``records.Interventions``; criteria.md defines it.
"""

from strata import store
from strata.run import Run, command
from studies.interventions.code import suite
from studies.params import InterventionsSettings


def main(name: str, settings: str, weights_path: str, out: str) -> None:
    run, interventions_settings = Run.parse(name), store.read_model(settings, InterventionsSettings)
    weights = store.read_weights(weights_path, run)
    # One line: these matrices indented, a number on each, would be half as large again.
    store.write_json(out, suite.intervene(run, weights, interventions_settings), indent=None)


if __name__ == "__main__":
    command(main)
