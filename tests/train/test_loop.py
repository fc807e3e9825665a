"""The loop halts at each stop, saves in between, and ends once the loss is not finite."""

import numpy as np
from small import TRAIN

from strata import task
from strata.run import Early, Run, TrainParams
from strata.train import loop
from strata.train.snapshots import Snapshot
from strata.train.trainer import Trainer

RUN = Run(6, 1)
PARAMS = TRAIN.model_copy(update={"epochs": 30, "lr": 0.01, "validate_every": 10})


class Watched(Trainer):
    """A training that notes up to which epochs it was asked to go."""

    def __init__(self, params: TrainParams = PARAMS, early: Early | None = None):
        super().__init__(RUN, params, task.split(6, 1, 0.5, 0.3), early=early)
        self.targets: list[int] = []

    def advance(self, epoch: int) -> None:
        self.targets.append(epoch)
        super().advance(epoch)


class Noted(Snapshot):
    """A snapshot that notes at which epochs it was saved, and with what."""

    def save(self, state: dict[str, np.ndarray], **notes: object) -> None:
        super().save(state, **notes)
        self.epochs = [*getattr(self, "epochs", []), int(state["row"][0])]


def test_every_stop_is_yielded_at_its_epoch_after_few_epochs_at_a_time():
    trainer = Watched()
    stops = [(stop, trainer.epoch) for stop in loop.train_through(trainer, [0, 3, 25, 30], "a run")]
    assert stops == [(0, 0), (3, 3), (25, 25), (30, 30)]
    assert trainer.targets == [3, 13, 23, 25, 30]


def test_it_is_saved_when_due_with_its_notes_and_not_where_it_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_AT_RISK", 0.0)
    trainer, snapshot = Watched(), Noted(tmp_path, "n6-s1", "key")
    for _ in loop.train_through(
        trainer, [15, 30], "a run", snapshot, lambda: {"at": trainer.epoch}
    ):
        pass
    assert snapshot.epochs == [10, 25]
    assert snapshot.load()[1]["at"] == 25
    monkeypatch.setattr(loop, "SECONDS_AT_RISK", 1e9)
    late = Noted(tmp_path, "late", "key")
    assert list(loop.train_through(Watched(), [30], "a run", late)) == [30]
    assert not late.path.exists()


def test_a_loss_that_is_not_finite_ends_it_before_the_next_stop():
    trainer = Watched(PARAMS.model_copy(update={"lr": 1e30}))
    assert list(loop.train_through(trainer, [10, 20, 30], "a run")) == []
    assert trainer.epoch == trainer.targets[-1] == 10
    assert trainer.diverged


def test_an_early_end_is_the_last_stop_and_is_not_saved_as_one_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_AT_RISK", 0.0)
    trainer = Watched(early=Early(stop_after=10, stop_at=1e-9))
    snapshot = Noted(tmp_path, "n6-s1", "key")
    assert list(loop.train_through(trainer, [5, 25, 30], "a run", snapshot)) == [5, 20]
    assert snapshot.epochs == [15]
    assert list(loop.train_through(trainer, [5, 25, 30], "a run", snapshot)) == [5, 20]
