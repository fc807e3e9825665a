"""The training loop: up to each of some epochs, shown, saved now and then, until it diverges."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from strata.train.progress import Progress
from strata.train.snapshots import Snapshot
from strata.train.trainer import Trainer

EPOCHS_AT_A_TIME, SECONDS_AT_RISK = 10, 30.0


def through(
    trainer: Trainer,
    stops: Sequence[int],
    name: str,
    snapshot: Snapshot | None = None,
    notes: Callable[[], Mapping[str, Any]] = dict,
) -> Iterator[int]:
    """Train to each of the ascending epochs in turn, and yield it there to be looked at.

    The steps are those of an uninterrupted training: looking at a run, or saving it, changes no
    bit. Ends at the first look at which the loss is not finite, without yielding.
    """
    progress = Progress(name, stops[-1], trainer.epoch)
    for stop in stops:
        while trainer.epoch < stop and not trainer.diverged:
            trainer.advance(min(stop, trainer.epoch + EPOCHS_AT_A_TIME))
            progress.show(trainer.epoch, trainer.loss, trainer.latest())
            if snapshot and trainer.epoch < stop and snapshot.due(SECONDS_AT_RISK):
                snapshot.save(trainer.state(), **notes())
        if trainer.diverged:
            break
        yield stop
    progress.close()
