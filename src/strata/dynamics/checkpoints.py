"""Train a run once more and keep its weights at chosen epochs, resumably.

They lie in an ignored folder and are no output: some 120 sets of weights are more than a repository
should carry. Each is a snapshot of its own, so it counts only for the configuration, split and code
that it was made with; a measure that changes finds them there and nothing is trained again.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from strata.run import InputError, Run, TrainParams
from strata.store import Arrays
from strata.training import machine
from strata.training.progress import Progress
from strata.training.snapshots import Snapshot
from strata.training.trainer import Trainer

EPOCHS_AT_A_TIME, SECONDS_AT_RISK = 10, 30.0
Environment = dict[str, Any]


class Kept:
    """The kept weights of one run: folder/NAME/EPOCH.safetensors, and folder/NAME.safetensors, the
    state of its training.

    ``key`` is a fingerprint of all that decides the weights but where they are trained. All of one
    course come from one place, which each names.
    """

    def __init__(self, folder: Path | str, name: str, key: str):
        self.folder, self.name, self.key = Path(folder) / name, name, key
        self.state = Snapshot(folder, name, key)

    def _at(self, epoch: int) -> Snapshot:
        return Snapshot(self.folder, f"{epoch:05}", self.key)

    def save(self, epoch: int, weights: Arrays, environment: Environment) -> None:
        """Keep the weights after that many epochs."""
        self._at(epoch).save(weights, environment=environment)

    def load(self, epoch: int) -> tuple[Arrays, Environment]:
        """The weights after that many epochs, and where they were trained. Raises InputError."""
        weights, notes = self._at(epoch).load()
        return weights, notes["environment"]

    def environment(self, epochs: Sequence[int]) -> Environment | None:
        """Where all of these were trained; None where some lack, do not count, or differ in it."""
        try:
            found = [self.load(epoch)[1] for epoch in epochs]
        except InputError:
            return None
        return found[0] if all(x == found[0] for x in found) else None

    def each(self, epochs: Sequence[int]) -> Iterator[tuple[int, Arrays]]:
        """Epoch and weights, one after the other."""
        for epoch in epochs:
            yield epoch, self.load(epoch)[0]


def ensure(
    kept: Kept, epochs: Sequence[int], run: Run, params: TrainParams, split: np.ndarray
) -> None:
    """Train the run once more, here, unless its weights at the epochs are all kept."""
    with kept.state.locked():
        if kept.environment(epochs) is None:
            device = machine.prepare()
            trainer = Trainer(run, params, split, device)
            train(trainer, kept, epochs, machine.describe(device).model_dump(mode="json"))


def resume(trainer: Trainer, kept: Kept, epochs: Sequence[int], environment: Environment) -> None:
    """Go on from the last state saved here, if all that was to be kept until then is there."""
    try:
        state, notes = kept.state.load()
    except InputError:
        return
    done = [epoch for epoch in epochs if epoch <= int(state["row"][0])]
    if notes["environment"] == environment == kept.environment(done):
        trainer.resume(state)
        print(f"{kept.name}: goes on from epoch {trainer.epoch}", flush=True)


def train(trainer: Trainer, kept: Kept, epochs: Sequence[int], environment: Environment) -> None:
    """Train up to the last of the epochs and keep the weights at each, from epoch 0 on.

    The steps are those of an uninterrupted training: looking at a run changes no bit. Raises
    InputError where the loss is not finite.
    """
    resume(trainer, kept, epochs, environment)
    progress = Progress(f"course of {kept.name}", epochs[-1], trainer.epoch)
    for epoch in (epoch for epoch in epochs if epoch >= trainer.epoch):
        while trainer.epoch < epoch:
            trainer.advance(min(epoch, trainer.epoch + EPOCHS_AT_A_TIME))
            progress.show(trainer.epoch, trainer.loss, trainer.latest())
            if not np.isfinite(trainer.loss):
                raise InputError(
                    f"{kept.name}: its loss is not finite at epoch {trainer.epoch}: "
                    "a run that diverges has no course; leave it out of dvc.yaml"
                )
            if trainer.epoch < epoch and kept.state.due(SECONDS_AT_RISK):
                kept.state.save(trainer.state(), environment=environment)
        kept.save(epoch, trainer.weights(), environment)
    progress.close()
    kept.state.path.unlink(missing_ok=True)
