"""The measures of one run over its training, from its weights at epochs chosen from its history.

In: a run's name, its split, its folder of train, the name of the files to write. Out: Parquet,
described in src/strata/courses.py; JSON with the epochs, where the course was trained, and whether
it ended in the run's own weights, byte for byte. The weights at the epochs are kept in
.snapshots/course. Where they lack, the run is trained once more, with STRATA_DEVICE and
STRATA_THREADS as in train.
"""

import hashlib
import sys
from pathlib import Path

from strata import store, task
from strata.dynamics import checkpoints, courses, trajectory
from strata.dynamics.checkpoints import Kept
from strata.dynamics.schedule import moments
from strata.params import CheckpointsParams, DynamicsParams
from strata.run import Run, Settings, SplitParams, TrainParams, command, section
from strata.training import gradients, network, snapshots, trainer

CODE = [Path(str(module.__file__)) for module in (gradients, network, task, trainer)]


def main() -> None:
    name, split_path, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    run, params = Run.parse(name), section("params.yaml", "dynamics", DynamicsParams)
    count = section("params.yaml", "checkpoints", CheckpointsParams).count
    train = section("params.yaml", "train", TrainParams)
    shares = section("params.yaml", "split", SplitParams)
    config = Settings(split=shares, train=train).record(run)
    table = store.read_split(split_path, run.n)
    epochs = moments(store.read_history(folder / "history.parquet"), count)
    kept = Kept(".snapshots/course", name, snapshots.fingerprint(config, [*CODE, split_path]))
    checkpoints.ensure(kept, epochs, run, train, table["split"])
    last, environment = kept.load(epochs[-1])
    final = trajectory.keys(last, run.n, params)
    seen = {e: trajectory.observe(x, table, run.n, final, params) for e, x in kept.each(epochs)}
    md5 = hashlib.md5(store.tensors_bytes(last, config)).hexdigest()
    own = hashlib.md5(store.read_bytes(folder / "weights.safetensors")).hexdigest()
    courses.write(f"{out}.parquet", seen)
    about = {"run": name, "epochs": epochs, "environment": environment, "weights_md5": md5}
    store.write_json(f"{out}.json", about | {"train_weights_md5": own, "identical": md5 == own})


if __name__ == "__main__":
    command(main)
