"""Train one run, resumably.

In: a run's name, its settings, its split. Out, in a folder: weights.safetensors, history.parquet
(one row an epoch), history.csv (thinned, for plots), environment.json (what it ran on; nothing
depends on it). STRATA_DEVICE and STRATA_THREADS say where it runs; they are no parameters, so
another machine does not make a model stale.
"""

import hashlib
import sys
import time
from pathlib import Path

import numpy as np

from strata import store, task
from strata.run import InputError, Run, Settings, command
from strata.training import gradients, machine, network, snapshots, trainer
from strata.training.progress import Progress

CODE = [Path(str(module.__file__)) for module in (gradients, network, task, trainer)]
EPOCHS_AT_A_TIME, SECONDS_AT_RISK = 10, 30


def resume(it: trainer.Trainer, snapshot: snapshots.Snapshot) -> float:
    """Go on from the snapshot if there is one that fits; the seconds trained so far."""
    if not snapshot.path.exists():
        return 0.0
    try:
        state, notes = snapshot.load()
    except InputError as fault:
        print(f"{fault}; training starts over", flush=True)
        return 0.0
    it.resume(state)
    print(f"{snapshot.name}: goes on from epoch {it.epoch}", flush=True)
    return notes["seconds"]


def train(it: trainer.Trainer, snapshot: snapshots.Snapshot, seconds: float) -> float:
    """Train to the end, or until the loss is not finite; the seconds it took in all."""
    began, epochs = time.monotonic() - seconds, it.params.epochs
    progress = Progress(snapshot.name, epochs, it.epoch)
    while it.epoch < epochs and (it.epoch == 0 or np.isfinite(it.loss)):
        it.advance(it.epoch + EPOCHS_AT_A_TIME)
        progress.show(it.epoch, it.loss, it.latest())
        if snapshot.due(SECONDS_AT_RISK):
            snapshot.save(it.state(), seconds=time.monotonic() - began)
    progress.close()
    return time.monotonic() - began


def main() -> None:
    name, config_path, split_path, out = *sys.argv[1:4], Path(sys.argv[4])
    run, settings = Run.parse(name), store.read_model(config_path, Settings)
    params, config = settings.train, settings.record(run)
    split, device = store.read_split(split_path, run.n)["split"], machine.prepare()
    environment = machine.describe(device)
    key = snapshots.fingerprint(config | environment.model_dump(), [*CODE, Path(split_path)])
    snapshot = snapshots.Snapshot(".snapshots", name, key)
    snapshots.prune(".snapshots", snapshots.LOCK)
    with snapshot.locked():
        it = trainer.Trainer(run, params, split, device)
        seconds = train(it, snapshot, resume(it, snapshot))
        weights, history = it.weights(), it.history()
        content = store.tensors_bytes(weights, config)
        snapshot.save(it.state(), seconds=seconds, weights_md5=hashlib.md5(content).hexdigest())
        store.write_bytes(out / "weights.safetensors", content)
        store.write_history(out / "history.parquet", history)
        store.write_thinned(out / "history.csv", history)
        record = environment.model_copy(update={"seconds": round(seconds, 1)})
        store.write_json(out / "environment.json", record.model_dump())


if __name__ == "__main__":
    command(main)
