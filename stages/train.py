"""Train one run, resumably.

In: a run's name, its settings as JSON, its split. Out, in a folder: weights.safetensors,
history.parquet (one row an epoch), history.csv (thinned, for plots), environment.json (what it ran
on; nothing depends on it). STRATA_DEVICE and STRATA_THREADS say where it runs; they are no
parameters, so another machine does not make a model stale.
"""

import hashlib
import subprocess
import sys
import time
from pathlib import Path

from strata import store
from strata.run import InputError, Run, Settings, command
from strata.train import loop, machine, snapshots, trainer


def resume(training: trainer.Trainer, snapshot: snapshots.Snapshot) -> float:
    """Go on from the snapshot if there is one that fits; the seconds trained so far."""
    if not snapshot.path.exists():
        return 0.0
    try:
        state, notes = snapshot.load()
    except InputError as fault:
        print(f"{fault}; training starts over", flush=True)
        return 0.0
    training.resume(state)
    print(f"{snapshot.name}: goes on from epoch {training.epoch}", flush=True)
    return notes["seconds"]


def train(training: trainer.Trainer, snapshot: snapshots.Snapshot, seconds: float) -> float:
    """Train to the end, or until the loss is not finite; the seconds it took in all."""
    began, end = time.monotonic() - seconds, [training.params.epochs]
    for _ in loop.through(
        training, end, snapshot.name, snapshot, lambda: {"seconds": time.monotonic() - began}
    ):
        pass
    return time.monotonic() - began


def main(name: str, config: str, split_path: str, folder: str) -> None:
    # In a process of its own: it decides no byte, so no change of it makes a model stale.
    if subprocess.run([sys.executable, "-m", "ops.files"], check=False).returncode:
        sys.exit(1)
    out = Path(folder)
    run, settings = Run.parse(name), store.read_model(config, Settings)
    split, device = store.read_split(split_path, run.n)["split"], machine.prepare()
    environment = machine.describe(device)
    inputs = {"run": name} | settings.model_dump() | environment.model_dump()
    key = snapshots.fingerprint(inputs, [snapshots.CODE, Path(split_path)])
    snapshot = snapshots.Snapshot(".snapshots", name, key)
    snapshots.prune(".snapshots")
    with snapshot.locked():
        training = trainer.Trainer(run, settings.train, split, device)
        seconds = train(training, snapshot, resume(training, snapshot))
        weights, history = training.weights(), training.history()
        content = store.tensors_bytes(weights, settings.record(run))
        md5 = hashlib.md5(content).hexdigest()
        snapshot.save(training.state(), seconds=seconds, weights_md5=md5)
        store.write_bytes(out / "weights.safetensors", content)
        store.write_history(out / "history.parquet", history)
        store.write_thinned(out / "history.csv", history)
        record = environment.model_copy(update={"seconds": round(seconds, 1)})
        store.write_json(out / "environment.json", record.model_dump())


if __name__ == "__main__":
    command(main)
