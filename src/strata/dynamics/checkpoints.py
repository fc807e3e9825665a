"""Train a run once more and keep its weights at chosen epochs, resumably.

Some 120 sets of weights are more than a repository should carry, so they lie in an ignored folder
and are no output; the output is a receipt with the md5 of each. They count only for the settings,
the split and the code of training that they were made with.
"""

from collections.abc import Iterator, Sequence
from hashlib import md5
from pathlib import Path

import numpy as np

from strata import store
from strata.run import InputError, Run, Settings
from strata.schema.base import Result
from strata.store import Arrays
from strata.training import loop, machine
from strata.training.environment import Environment, read
from strata.training.snapshots import Snapshot
from strata.training.trainer import Trainer

FOLDER = Path(".snapshots", "checkpoints")


class Receipt(Result):
    """The kept weights of one training: whose, of which epochs, made where."""

    run: str
    epochs: tuple[int, ...]
    md5: tuple[str, ...] | None
    """Of the weights file of each epoch; None where that was not recorded."""
    environment: Environment
    hours: float | None
    """That the run's own training took; None where that was not recorded."""
    train_md5: str
    """Of the weights file of the run itself."""
    identical: bool
    """Whether the training ended in the run's own weights, byte for byte."""


class Index(Result):
    """What lies in a folder of kept weights: of which key, made where, with which md5."""

    key: str
    environment: Environment
    md5: dict[int, str]


class Kept:
    """The kept weights of one run: FOLDER/RUN/EPOCH.safetensors, each a weights file as that of a
    run; index.json beside them, and FOLDER/RUN.safetensors, the state of their training.

    ``key`` is a fingerprint of all that decides the weights but where they are trained.
    """

    def __init__(self, folder: Path, run: Run, key: str):
        self.folder, self.run, self.key = folder / str(run), run, key
        self.state = Snapshot(folder, str(run), key)

    def path(self, epoch: int) -> Path:
        """Where the weights after that many epochs lie."""
        return self.folder / f"{epoch:05}.safetensors"

    def index(self) -> Index | None:
        """What lies here, if it counts for the key."""
        try:
            found = store.read_model(self.folder / "index.json", Index)
        except InputError:
            return None
        return found if found.key == self.key else None

    def save(self, epoch: int, content: bytes, environment: Environment) -> None:
        """Keep a weights file. What was trained elsewhere counts no longer."""
        before = self.index()
        known = before.md5 if before and before.environment == environment else {}
        found = known | {epoch: md5(content).hexdigest()}
        store.write_bytes(self.path(epoch), content)
        index = Index(key=self.key, environment=environment, md5=found)
        store.write_json(self.folder / "index.json", index.model_dump(mode="json"))

    def environment(self, epochs: Sequence[int]) -> Environment | None:
        """Where all of these were trained; None where some lack or are damaged."""
        index = self.index()
        if index is None or any(
            epoch not in index.md5 or file_md5(self.path(epoch)) != index.md5[epoch]
            for epoch in epochs
        ):
            return None
        return index.environment


def file_md5(path: Path) -> str | None:
    """The md5 of a file; None where there is none."""
    return md5(path.read_bytes()).hexdigest() if path.is_file() else None


def ensure(kept: Kept, epochs: Sequence[int], settings: Settings, split: np.ndarray) -> Environment:
    """Train the run once more, here, unless its weights at the epochs are all kept; where they were
    trained."""
    with kept.state.locked():
        found = kept.environment(epochs)
        if found is None:
            device = machine.prepare()
            found = machine.describe(device)
            train(Trainer(kept.run, settings.train, split, device), kept, epochs, settings, found)
        return found


def resume(trainer: Trainer, kept: Kept, epochs: Sequence[int], environment: Environment) -> None:
    """Go on from the last state saved here, if all that was to be kept until then is there."""
    try:
        state, notes = kept.state.load()
    except InputError:
        return
    done = [epoch for epoch in epochs if epoch <= int(state["row"][0])]
    here = environment.model_dump(mode="json")
    if notes["environment"] == here and environment == kept.environment(done):
        trainer.resume(state)
        print(f"{kept.run}: goes on from epoch {trainer.epoch}", flush=True)


def train(
    trainer: Trainer,
    kept: Kept,
    epochs: Sequence[int],
    settings: Settings,
    environment: Environment,
) -> None:
    """Train up to the last of the epochs and keep the weights at each, from epoch 0 on. Raises
    InputError where the loss is not finite."""
    resume(trainer, kept, epochs, environment)
    left = [epoch for epoch in epochs if epoch >= trainer.epoch]
    notes = {"environment": environment.model_dump(mode="json")}
    name = f"checkpoints of {kept.run}"
    for epoch in loop.through(trainer, left, name, kept.state, lambda: notes):
        content = store.tensors_bytes(trainer.weights(), settings.record(kept.run))
        kept.save(epoch, content, environment)
    if trainer.diverged:
        raise InputError(
            f"{kept.run}: its loss is not finite at epoch {trainer.epoch}: "
            "a run that diverges has no training dynamics; leave it out of the pipeline"
        )
    kept.state.path.unlink(missing_ok=True)


def receipt(kept: Kept, epochs: Sequence[int], environment: Environment, trained: Path) -> Receipt:
    """The receipt for these kept weights; ``trained`` is the folder of the run's own training."""
    found = [str(file_md5(kept.path(epoch))) for epoch in epochs]
    own = md5(store.read_bytes(trained / "weights.safetensors")).hexdigest()
    seconds = read(trained / "environment.json").seconds
    return Receipt(
        run=str(kept.run), epochs=tuple(epochs), md5=tuple(found), environment=environment,
        hours=seconds and round(seconds / 3600, 1), train_md5=own, identical=found[-1] == own,
    )  # fmt: skip


def missing(receipt: Receipt, folder: Path = FOLDER) -> list[int]:
    """The epochs whose weights are not here as the receipt has them."""
    if receipt.md5 is None:
        return list(receipt.epochs)
    kept = Kept(folder, Run.parse(receipt.run), "")
    known = zip(receipt.epochs, receipt.md5, strict=True)
    return [epoch for epoch, own in known if file_md5(kept.path(epoch)) != own]


def each(receipt: Receipt, folder: Path = FOLDER) -> Iterator[tuple[int, Arrays]]:
    """Epoch and weights, one after the other."""
    run = Run.parse(receipt.run)
    for epoch in receipt.epochs:
        yield epoch, store.read_weights(Kept(folder, run, "").path(epoch), run)
