"""Train one run once more and keep its weights at epochs chosen from its history.

In: a run's name, its settings, its split, its folder of train. Out: a receipt as JSON: the epochs,
the md5 of each set of weights, where they were trained, and whether the training ended in the run's
own weights, byte for byte. The weights lie in .snapshots/checkpoints; where they do already,
nothing is trained. STRATA_DEVICE and STRATA_THREADS hold as in train.
"""

import sys
from pathlib import Path

from strata import architecture, store, task
from strata.dynamics import checkpoints
from strata.dynamics.schedule import moments
from strata.params import CheckpointsParams
from strata.run import Run, Settings, command, section
from strata.training import gradients, loop, network, snapshots, trainer

CODE = [Path(str(x.__file__)) for x in (architecture, gradients, loop, network, task, trainer)]


def main() -> None:
    name, config, split_path, folder, out = sys.argv[1:]
    run, settings = Run.parse(name), store.read_model(config, Settings)
    count = section("params.yaml", "checkpoints", CheckpointsParams).count
    split = store.read_split(split_path, run.n)["split"]
    epochs = moments(store.read_history(Path(folder, "history.parquet")), count)
    inputs = {"run": name} | settings.model_dump()
    key = snapshots.fingerprint(inputs, [*CODE, Path(split_path)])
    kept = checkpoints.Kept(checkpoints.FOLDER, run, key)
    environment = checkpoints.ensure(kept, epochs, settings, split)
    found = checkpoints.receipt(kept, epochs, environment, Path(folder))
    store.write_json(out, found.model_dump(mode="json"))


if __name__ == "__main__":
    command(main)
