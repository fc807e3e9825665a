"""Train one run, resumably.

In: a run's name, its settings as JSON, its split. Out, in a folder: weights.safetensors,
history.parquet (one row an epoch), history.csv (thinned, for plots), environment.json (what it ran
on, and hashes of its states on the way; nothing depends on it). STRATA_DEVICE and STRATA_THREADS
say where it runs; they are no parameters, so another machine does not make a model stale.
"""

import hashlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from strata import store
from strata.inputs import InputError
from strata.run import Run, Settings, command
from strata.train import loop, machine, snapshots, trainer
from strata.train.environment import gflop

LINK = 1000  # epochs from one hash of the state to the next


def resume(training: trainer.Trainer, snapshot: snapshots.Snapshot) -> dict[str, Any]:
    """Resume from the snapshot if one fits, and return its notes, or else those of a start."""
    start = {"seconds": 0.0, "chain": []}
    if not snapshot.path.exists():
        return start
    try:
        state, notes = snapshot.load()
    except InputError as fault:
        print(f"{fault}; training starts over", flush=True)
        return start
    training.resume(state)
    print(f"{snapshot.name}: goes on from epoch {training.epoch}", flush=True)
    return {name: notes[name] for name in start}


def train(
    training: trainer.Trainer, snapshot: snapshots.Snapshot, notes: dict[str, Any]
) -> dict[str, Any]:
    """Train to the end, or until the loss is not finite, and return the notes: the seconds in all,
    and hashes of the states on the way. Each hash includes the one before, so whoever trains the
    run again on such a machine sees from which epoch on it differs."""
    began, chain, start = time.monotonic() - notes["seconds"], [*notes["chain"]], training.epoch

    def progress() -> dict[str, Any]:
        return {"seconds": time.monotonic() - began, "chain": chain}

    epochs = training.params.epochs
    stops = [*range(LINK, epochs, LINK), epochs]
    for epoch in loop.train_through(training, stops, snapshot.name, snapshot, progress):
        if epoch > start:
            link = "".join([*chain[-1:], snapshots.checksum(training.state())])
            chain.append(hashlib.sha256(link.encode()).hexdigest())
    return progress()


def main(name: str, config: str, split_path: str, folder: str) -> None:
    # In a process of its own: it decides no byte, so no change of it makes a model stale.
    if subprocess.run([sys.executable, "-m", "ops.files"], check=False).returncode:
        sys.exit(1)
    out = Path(folder)
    run, settings = Run.parse(name), store.read_model(config, Settings)
    task = settings.task(run)
    device = machine.prepare(products=gflop(task.order, settings))
    split = store.read_split(split_path, task)["split"]
    environment = machine.describe(device)
    inputs = {"run": name} | settings.model_dump() | environment.model_dump()
    key = snapshots.fingerprint(inputs, [snapshots.CODE, Path(split_path)])
    snapshot = snapshots.Snapshot(".snapshots", name, key)
    snapshots.prune(".snapshots")
    with snapshot.locked():
        training = trainer.Trainer(run, settings.train, split, device, task, settings.early)
        notes = train(training, snapshot, resume(training, snapshot))
        weights, history = training.weights(), training.history()
        content = store.tensors_bytes(weights, settings.record(run))
        md5 = hashlib.md5(content).hexdigest()
        snapshot.save(training.state(), **notes, weights_md5=md5)
        store.write_bytes(out / "weights.safetensors", content)
        store.write_history(out / "history.parquet", history)
        store.write_thinned(out / "history.csv", history)
        record = environment.model_dump() | notes | {"seconds": round(notes["seconds"], 1)}
        store.write_json(out / "environment.json", record)


if __name__ == "__main__":
    command(main)
