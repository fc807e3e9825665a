"""Train a run once more and keep its weights at chosen epochs, resumably.

What is kept counts only for the settings, the split and the code of training that it was made with.
"""

from collections.abc import Sequence
from hashlib import md5
from pathlib import Path

import numpy as np

from strata import store
from strata.inputs import InputError
from strata.result import Result
from strata.run import Run, Settings
from strata.train import loop, machine
from strata.train.environment import Environment, gflop, read
from strata.train.snapshots import Snapshot
from strata.train.trainer import Trainer
from studies.dynamics.code.receipts import Receipt, has, weights_file


class Index(Result):
    """What lies in a folder of kept weights: of which key, made where, with which md5."""

    key: str
    environment: Environment
    md5: dict[int, str]


class Kept:
    """The kept weights of one run, with index.json beside them, and FOLDER/RUN.safetensors, the
    state of their training.

    ``key`` is a fingerprint of all that decides the weights but where they are trained.
    """

    def __init__(self, folder: Path, run: Run, key: str):
        self.folder, self.run, self.key = folder, run, key
        self.state = Snapshot(folder, str(run), key)

    def index(self) -> Index | None:
        """What lies here, if it counts for the key."""
        try:
            index = store.read_model(self.folder / str(self.run) / "index.json", Index)
        except InputError:
            return None
        return index if index.key == self.key else None

    def whole(self, epochs: Sequence[int]) -> Index | None:
        """The same, if the weights at all of these epochs are in it, undamaged."""
        index = self.index()
        if index and all(
            has(weights_file(self.run, x, self.folder), index.md5.get(x)) for x in epochs
        ):
            return index
        return None

    def save(self, epoch: int, content: bytes, index: Index) -> None:
        """Keep a weights file, and name it in the index."""
        path = weights_file(self.run, epoch, self.folder)
        store.write_bytes(path, content)
        index.md5[epoch] = md5(content).hexdigest()
        store.write_json(path.with_name("index.json"), index)


def ensure(
    kept: Kept, epochs: Sequence[int], settings: Settings, split: np.ndarray, flush: bool
) -> Index:
    """Train the run once more, here, unless its weights at the epochs are all kept; what is kept.

    ``flush`` says whether subnormal numbers are taken as 0, as the run's own record does.
    """
    with kept.state.locked():
        index = kept.whole(epochs)
        if index is None:
            products = gflop(settings.task(kept.run).order, settings)
            device = machine.prepare(flush, products)
            trainer = Trainer(kept.run, settings.train, split, device)
            index = train(trainer, kept, epochs, settings, machine.describe(device))
        return index


def resume(trainer: Trainer, kept: Kept, epochs: Sequence[int], environment: Environment) -> None:
    """Go on from the last state saved here, if all that was to be kept until then is there."""
    try:
        state, notes = kept.state.load()
    except InputError:
        return
    done = [epoch for epoch in epochs if epoch <= int(state["row"][0])]
    here = environment.model_dump(mode="json")
    index = kept.whole(done)
    if notes["environment"] == here and index and index.environment == environment:
        trainer.resume(state)
        print(f"{kept.run}: goes on from epoch {trainer.epoch}", flush=True)


def train(
    trainer: Trainer,
    kept: Kept,
    epochs: Sequence[int],
    settings: Settings,
    environment: Environment,
) -> Index:
    """Train up to the last of the epochs and keep the weights at each, from epoch 0 on; what was
    trained elsewhere counts no longer. Raises InputError where the loss is not finite."""
    resume(trainer, kept, epochs, environment)
    index = kept.index()
    if index is None or index.environment != environment:
        index = Index(key=kept.key, environment=environment, md5={})
    left = [epoch for epoch in epochs if epoch >= trainer.epoch]
    notes = {"environment": environment.model_dump(mode="json")}
    name = f"checkpoints of {kept.run}"
    for epoch in loop.through(trainer, left, name, kept.state, lambda: notes):
        content = store.tensors_bytes(trainer.weights(), settings.record(kept.run))
        kept.save(epoch, content, index)
    if trainer.diverged:
        raise InputError(
            f"{kept.run}: its loss is not finite at epoch {trainer.epoch}: "
            "a run that diverges has no training dynamics; leave it out of the pipeline"
        )
    kept.state.path.unlink(missing_ok=True)
    return index


def receipt(run: Run, index: Index, epochs: Sequence[int], trained: Path) -> Receipt:
    """The receipt for the kept weights; ``trained`` is the folder of the run's own training."""
    train_md5 = md5(store.read_bytes(trained / "weights.safetensors")).hexdigest()
    seconds = read(trained / "environment.json").seconds
    kept_md5 = tuple(index.md5[epoch] for epoch in epochs)
    return Receipt(
        run=str(run), epochs=tuple(epochs), md5=kept_md5, environment=index.environment,
        hours=seconds and round(seconds / 3600, 1), train_md5=train_md5,
        identical=kept_md5[-1] == train_md5,
    )  # fmt: skip
