"""Which epochs of a run are looked at, and that keeping its weights there changes none of them."""

import numpy as np
import pandas as pd
import pytest
from small import HERE, TRAIN

from strata import store, task
from strata.inputs import InputError
from strata.run import Run, Settings, SplitParams
from strata.train import loop
from strata.train.trainer import Trainer
from studies.dynamics.code import checkpoints, receipts, schedule
from studies.dynamics.code.checkpoints import Kept
from studies.dynamics.code.schedule import clock

RUN = Run(6, 1)
PARAMS = TRAIN.model_copy(update={"epochs": 30, "lr": 0.01, "validate_every": 10})
SPLIT = task.split(6, 1, 0.5, 0.3)
SETTINGS = Settings(split=SplitParams(train_fraction=0.5, validation_fraction=0.3), train=PARAMS)
EPOCHS = [0, 3, 4, 17, 30]


def history(epochs: int, learns: int = 0, generalises: int = 0) -> pd.DataFrame:
    """A history with two steps: training accuracy and loss at one epoch, mirror-free at another."""
    epoch = np.arange(1, epochs + 1)
    validated = epoch % 100 == 0
    late = np.where(validated, (epoch > generalises) * 1.0, np.nan)
    return pd.DataFrame({
        "epoch": epoch, "loss": np.where(epoch > learns, 0.1, 5.0),
        "train_accuracy": (epoch > learns) * 1.0,
        "validation_accuracy": late, "mirror_free_accuracy": late,
    })  # fmt: skip


def test_the_first_and_the_last_weights_are_among_the_checkpoints():
    for count in (2, 7, 120):
        found = schedule.checkpoints(history(5000, 100, 3000), count)
        assert found[0] == 0
        assert found[-1] == 5000
        assert found == sorted(set(found))
        assert len(found) <= count


def test_the_clock_rises_from_0_to_1_with_every_epoch():
    shown = clock(history(5000, 100, 3000))
    assert shown[0] == 0
    assert shown[-1] == pytest.approx(1)
    assert (np.diff(shown) > 0).all()


def test_where_nothing_changes_the_checkpoints_lie_evenly():
    assert schedule.checkpoints(
        history(1000, 0, 0).assign(loss=1.0, mirror_free_accuracy=np.nan), 11
    ) == [*range(0, 1001, 100)]


def test_checkpoints_are_dense_where_the_run_learns_and_where_it_generalises():
    found = np.array(schedule.checkpoints(history(20_000, 1000, 8000), 120))

    def density(low: float, high: float) -> float:
        return ((found > low) & (found < high)).sum() / (high - low)

    plain = density(12_000, 20_000)
    for step, times in ((1000, 20), (8000, 3)):  # elsewhere it may come as much earlier or later
        assert density(step / 1.2, step) > times * plain
        assert density(step, step * 1.2) > times * plain
    assert plain >= 0.9 * 119 / 4 / 20_000  # a quarter of the clock is the share of epochs gone


def test_a_leap_out_of_the_minimum_draws_no_checkpoints():
    calm = history(10_000, 100, 3000)
    leaps = calm.copy()
    leaps.loc[7000:7050, ["loss", "train_accuracy"]] = [3.0, 0.1]
    assert schedule.checkpoints(leaps, 120) == schedule.checkpoints(calm, 120)


def kept(folder, key: str = "key") -> Kept:
    return Kept(folder, RUN, key)


def receipt_of(folder) -> receipts.Receipt:
    """Of all epochs, for a run whose own training was the same."""
    own = folder / "own"
    own.mkdir(exist_ok=True)
    last = receipts.weights_file(RUN, EPOCHS[-1], folder).read_bytes()
    (own / "weights.safetensors").write_bytes(last)
    store.write_json(own / "environment.json", HERE.model_dump(mode="json"))
    index = kept(folder).whole(EPOCHS)
    assert index
    return checkpoints.receipt(RUN, index, EPOCHS, own)


def same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


@pytest.fixture
def through() -> dict[int, dict[str, np.ndarray]]:
    """The weights at the epochs of a training without interruption that keeps nothing."""
    trainer, found = Trainer(RUN, PARAMS, SPLIT), {}
    for epoch in EPOCHS:
        trainer.advance(epoch)
        found[epoch] = trainer.weights()
    return found


class Killed(Trainer):
    """A training that ends at an epoch, as a kill would."""

    def advance(self, epoch: int) -> None:
        super().advance(epoch)
        if self.epoch >= self.dies:
            raise KeyboardInterrupt

    dies = 0


@pytest.mark.parametrize("dies", [2, 4, 15, 29])
def test_a_killed_training_goes_on_and_gives_the_same_weights(dies, tmp_path, through, monkeypatch):
    monkeypatch.setattr(loop, "SECONDS_AT_RISK", 0.0)
    monkeypatch.setattr(loop, "EPOCHS_AT_A_TIME", 1)
    killed = Killed(RUN, PARAMS, SPLIT)
    killed.dies = dies
    with pytest.raises(KeyboardInterrupt):
        checkpoints.train(killed, kept(tmp_path), EPOCHS, SETTINGS, HERE)
    assert kept(tmp_path).whole(EPOCHS) is None
    trainer = Trainer(RUN, PARAMS, SPLIT)
    checkpoints.resume(trainer, kept(tmp_path), EPOCHS, HERE)
    assert trainer.epoch in {dies - 1, dies - 2}  # nothing is saved where weights are kept
    checkpoints.train(Trainer(RUN, PARAMS, SPLIT), kept(tmp_path), EPOCHS, SETTINGS, HERE)
    assert all(
        same(x, through[epoch]) for epoch, x in receipts.each(receipt_of(tmp_path), tmp_path)
    )


def test_a_training_elsewhere_starts_over_so_that_all_weights_are_of_one_place(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(loop, "SECONDS_AT_RISK", 0.0)
    killed, elsewhere = Killed(RUN, PARAMS, SPLIT), HERE.model_copy(update={"threads": 2})
    killed.dies = 17
    with pytest.raises(KeyboardInterrupt):
        checkpoints.train(killed, kept(tmp_path), EPOCHS, SETTINGS, HERE)
    trainer = Trainer(RUN, PARAMS, SPLIT)
    checkpoints.resume(trainer, kept(tmp_path), EPOCHS, elsewhere)
    assert trainer.epoch == 0
    checkpoints.train(trainer, kept(tmp_path), EPOCHS, SETTINGS, elsewhere)
    assert receipt_of(tmp_path).environment == elsewhere
    with pytest.raises(KeyboardInterrupt):
        checkpoints.train(killed, kept(tmp_path), EPOCHS, SETTINGS, HERE)
    assert kept(tmp_path).whole(EPOCHS) is None


def test_kept_weights_count_for_their_own_key_alone_and_torn_ones_not_at_all(tmp_path, through):
    checkpoints.train(Trainer(RUN, PARAMS, SPLIT), kept(tmp_path), EPOCHS, SETTINGS, HERE)
    assert kept(tmp_path, "another").whole(EPOCHS) is None
    path = tmp_path / str(RUN) / "00017.safetensors"
    found = receipt_of(tmp_path)
    assert found.identical and found.environment == HERE
    weights = dict(receipts.each(found, tmp_path))
    assert all(same(weights.pop(epoch), through[epoch]) for epoch in EPOCHS) and not weights
    assert receipts.missing(found, tmp_path) == []
    path.write_bytes(path.read_bytes()[:-1])
    assert kept(tmp_path).whole(EPOCHS) is None
    assert receipts.missing(found, tmp_path) == [17]


def test_a_run_that_diverges_has_no_checkpoints(tmp_path):
    params = PARAMS.model_copy(update={"lr": 1e30})
    with pytest.raises(InputError, match="a run that diverges has no training dynamics"):
        checkpoints.train(Trainer(RUN, params, SPLIT), kept(tmp_path), EPOCHS, SETTINGS, HERE)
