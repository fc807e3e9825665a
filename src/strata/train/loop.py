"""Run the training loop: train up to each of some epochs, show, save, and stop where it
diverges."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from strata.train.snapshots import Snapshot
from strata.train.trainer import Trainer

EPOCHS_AT_A_TIME, SECONDS_AT_RISK = 10, 30.0


def train_through(
    trainer: Trainer,
    stops: Sequence[int],
    name: str,
    snapshot: Snapshot | None = None,
    notes: Callable[[], Mapping[str, Any]] = dict,
) -> Iterator[int]:
    """Train to each of the ascending epochs in turn, and yield it there to be looked at.

    The steps are those of an uninterrupted training: looking at a run, or saving it, changes no
    bit. The loop ends without yielding at the first look at which the loss is not finite. Where the
    training ends before its next stop, the loop yields the epoch of that end and ends too.
    """
    progress = Progress(name, stops[-1], trainer.epoch)
    for target in stops:
        stop = target
        while trainer.epoch < stop and not trainer.diverged:
            trainer.advance(min(stop, trainer.epoch + EPOCHS_AT_A_TIME))
            progress.show(trainer.epoch, trainer.loss, trainer.latest())
            stop = min(stop, trainer.end)
            if snapshot and trainer.epoch < stop and snapshot.due(SECONDS_AT_RISK):
                snapshot.save(trainer.state(), **notes())
        if trainer.diverged:
            break
        yield stop
        if stop < target:
            break
    progress.close()


class Progress:
    """``Progress`` is a bar on a terminal, and a line every ``seconds`` elsewhere."""

    def __init__(self, name: str, total: int, start: int, seconds: float = 30):
        self.name, self.total, self.start, self.seconds = name, total, start, seconds
        self.began = self.reported = time.monotonic()
        terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=total, initial=start, desc=name, unit="epoch", disable=not terminal,
            dynamic_ncols=True
        )  # fmt: skip

    def show(self, epoch: int, loss: float, accuracies: dict[str, float]) -> None:
        """Report where the run is: epoch, loss and the latest accuracies."""
        facts = {"loss": f"{loss:.3g}"} | {name: f"{x:.3f}" for name, x in accuracies.items()}
        if not self.bar.disable:
            self.bar.set_postfix(facts, refresh=False)
            self.bar.update(epoch - self.bar.n)
        elif time.monotonic() - self.reported >= self.seconds or epoch == self.total:
            self.reported = time.monotonic()
            elapsed = self.reported - self.began
            remaining = elapsed / max(epoch - self.start, 1) * (self.total - epoch)
            text = "  ".join(f"{name} {value}" for name, value in facts.items())
            print(
                f"{self.name}  epoch {epoch}/{self.total}  {text}  {remaining / 60:.1f} min left",
                flush=True,
            )

    def close(self) -> None:
        """Leave the terminal clean."""
        self.bar.close()
