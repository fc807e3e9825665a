"""The loop: the plain optimizer's course, validation by brute force, bits that nothing changes."""

import math

import numpy as np
import plain
import pytest
import torch
from small import TRAIN, kind_of

from strata import store, task
from strata.inputs import InputError
from strata.run import Early, Run, TrainParams
from strata.train import environment, gradients, machine
from strata.train.trainer import Trainer, batch

PAPER = TRAIN.model_copy(
    update={"d_model": 128, "n_heads": 4, "d_mlp": 512, "epochs": 50, "validate_every": 100}
)
SMALL = PAPER.model_copy(
    update={"d_model": 16, "n_heads": 2, "d_mlp": 24, "validate_every": 7, "epochs": 40}
)
RUNS = [Run(12, 3), Run(12, 3, "mlp")]


def trainer_of(run: Run, params: TrainParams = SMALL, device: str = "cpu", **own) -> Trainer:
    split = task.split(run.n, run.seed, 0.3, 0.3)
    return Trainer(run, kind_of(run, params), split, device, **own)


def trained(run: Run, params: TrainParams = SMALL) -> Trainer:
    trainer = trainer_of(run, params)
    trainer.advance(params.epochs)
    return trainer


def contents(arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    """To compare to the bit, NaN included."""
    return {name: x.tobytes() + str((x.dtype, x.shape)).encode() for name, x in arrays.items()}


def test_the_published_losses_of_the_first_epochs():
    loss = trained(Run(165, 1), PAPER).history()["loss"]
    assert np.allclose(loss[:5], [5.25421, 5.10865, 5.01245, 4.95484, 4.92535], atol=1e-5, rtol=0)
    assert abs(loss[49] - 3.0398) < 1e-3


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("run", [Run(24, 1), Run(24, 1, "mlp"), Run(13, 4), Run(30, 2)], ids=str)
def test_losses_and_weights_are_those_of_the_plain_optimizer(run):
    params = PAPER.model_copy(update={"d_model": 32, "d_mlp": 64})
    ours, weights = trained(run, params), plain.initial(run, kind_of(run, params))
    losses = plain.train(weights, run, params)
    assert np.allclose(ours.history()["loss"], losses, atol=0, rtol=1e-6)  # kept as float32
    for name, x in ours.weights().items():
        assert np.allclose(x, weights[name].detach(), atol=1e-9, rtol=0), name


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_accuracies_are_brute_force_over_ordered_pairs(run):
    n, params = run.n, SMALL.model_copy(update={"lr": 0.01, "validate_every": 1})
    trainer = trainer_of(run, params)
    split = task.split(n, run.seed, 0.3, 0.3)
    a, b = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T
    mirror_trains = np.array([split[b * n + a] == task.TRAIN for a in range(n) for b in range(n)])
    chosen = {
        "train": split == task.TRAIN,
        "validation": split == task.VALIDATION,
        "mirror_free": (split == task.VALIDATION) & ~mirror_trains,
    }
    shares = []
    for epoch in range(params.epochs + 1):
        trainer.advance(epoch)
        weights = {name: torch.from_numpy(x) for name, x in trainer.weights().items()}
        right = (plain.logits(weights, a, b).argmax(dim=1) == a * b % n).numpy()
        shares.append({name: right[which].mean() for name, which in chosen.items()})
    history = trainer.history()
    for k in range(params.epochs):  # training accuracy before the step, the others after it
        assert history["train_accuracy"][k] == shares[k]["train"]
        assert history["validation_accuracy"][k] == shares[k + 1]["validation"]
        assert history["mirror_free_accuracy"][k] == shares[k + 1]["mirror_free"]
    assert len({share["validation"] for share in shares}) > 5


@pytest.mark.parametrize(("symmetric", "rows"), [(True, 6931), (False, 8167)])
def test_a_pair_and_its_mirror_are_one_row_where_the_model_is_symmetric(symmetric, rows):
    pairs = np.flatnonzero(task.split(165, 1, 0.3, 0.3) == task.TRAIN)
    found, _ = batch(pairs, 165, symmetric, torch.device("cpu"))
    assert len(pairs) == 8167 and len(found.a) == rows


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_looking_at_a_run_changes_no_bit_of_it(run):
    whole, looked_at = trained(run), trainer_of(run)
    seen = {}
    for epoch in (0, 1, 2, 6, 7, 8, 20, 20, 39, 40, 99):
        looked_at.advance(epoch)
        seen[epoch] = looked_at.weights()
        assert len(looked_at.accuracy()) == 2
        assert "parameter" in looked_at.state()
        assert looked_at.epoch == min(epoch, 40)
        if epoch:
            assert looked_at.loss == looked_at.history()["loss"][-1]
    assert contents(looked_at.weights()) == contents(whole.weights())
    assert contents(looked_at.history()) == contents(whole.history())
    for epoch in (1, 8, 20):  # what was handed out is what a shorter run ends with
        shorter = trained(run, SMALL.model_copy(update={"epochs": epoch}))
        assert contents(seen[epoch]) == contents(shorter.weights())


@pytest.mark.parametrize("run", RUNS, ids=str)
@pytest.mark.parametrize("epoch", [0, 7, 39])
def test_going_on_from_a_stored_state_changes_no_bit(run, epoch, tmp_path):
    broken_off = trainer_of(run)
    broken_off.advance(epoch)
    store.write_bytes(tmp_path / "state", store.tensors_bytes(broken_off.state(), {}))
    resumed = trainer_of(run)
    resumed.advance(3)  # whatever it did before is gone
    resumed.resume(store.read_tensors(tmp_path / "state")[0])
    assert resumed.epoch == epoch
    assert contents(resumed.history()) == contents(broken_off.history())
    resumed.advance(40)
    whole = trained(run)
    assert contents(resumed.weights()) == contents(whole.weights())
    assert contents(resumed.history()) == contents(whole.history())


def test_history_holds_every_epoch_and_validates_now_and_then_and_at_the_end():
    trainer = trainer_of(RUNS[0])
    trainer.advance(20)
    before, latest = trainer.history(), trainer.latest()
    assert latest["train"] == pytest.approx(before["train_accuracy"][-1])
    assert latest["validation"] == before["validation_accuracy"][13]  # of epoch 14
    trainer.advance(40)
    history = trainer.history()
    assert history["epoch"].tolist() == list(range(1, 41))
    assert np.isfinite(history["loss"]).all()
    for name in ("validation_accuracy", "mirror_free_accuracy"):
        validated = np.flatnonzero(~np.isnan(history[name])) + 1
        assert validated.tolist() == [7, 14, 21, 28, 35, 40]


@pytest.mark.parametrize("run", RUNS, ids=str)
@pytest.mark.parametrize("lr", [1e2, 1e30])
def test_a_run_that_explodes_is_no_error(run, lr):
    trainer = trained(run, SMALL.model_copy(update={"lr": lr}))
    history = trainer.history()
    assert len(history["loss"]) == 40
    assert not np.isfinite(history["loss"][-1])
    assert ((history["train_accuracy"] >= 0) & (history["train_accuracy"] <= 1)).all()
    assert not all(np.isfinite(x).all() for x in trainer.weights().values())


@pytest.mark.parametrize("after", [1, 7, 8, 14])
def test_an_early_end_leaves_a_training_as_it_is_up_to_there(after):
    right = dict(enumerate(trained(RUNS[0]).history()["validation_accuracy"][6::7], 1))
    level = sorted(right.values())[2]
    held = [(i, k) for i in right for k in right if all(right[x] >= level for x in range(i, k + 1))]
    end = min(7 * k for i, k in held if 7 * (k - i) >= after)
    asked = Early(stop_after=after, stop_at=level)
    early, resumed = (trainer_of(RUNS[0], early=asked) for _ in range(2))
    early.advance(40)
    shorter = trained(RUNS[0], SMALL.model_copy(update={"epochs": end}))
    resumed.resume(early.state())
    resumed.advance(40)
    for one in (early, resumed):
        assert one.epoch == one.end == end
        assert contents(one.weights()) == contents(shorter.weights())
        assert contents(one.history()) == contents(shorter.history())


def test_a_split_with_nothing_to_train_or_validate_on_is_refused():
    for train, validation in ((0.1, 0.5), (0.5, 0.1)):
        with pytest.raises(InputError, match="no pair to train on, or none to validate on"):
            Trainer(Run(2, 0), SMALL, task.split(2, 0, train, validation))


@pytest.mark.parametrize("flush", [True, False])
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_a_record_says_whether_subnormal_numbers_are_taken_as_0(run, flush):
    trainer = trainer_of(run)
    trainer.advance(20)
    trainer.layers["U"] *= 200  # as in a run that has learnt its pairs long ago
    assert machine.describe(machine.prepare(flush)).flushes is flush
    rows = trainer.batches[0]
    trainer.network.begin()
    logits = trainer.network.forward(rows.a, rows.b)
    _, gradient, _ = gradients.loss_gradient(logits, rows)
    torch.set_flush_denormal(False)
    gradient = gradient.abs()
    subnormal = (gradient > 0) & (gradient < torch.finfo(torch.float32).tiny)
    assert subnormal.any() != flush


@pytest.mark.parametrize("text", ["0", "two", "9999999"])
def test_a_bad_thread_count_gets_one_line(monkeypatch, text):
    monkeypatch.setenv("STRATA_THREADS", text)
    with pytest.raises(InputError, match=r"^STRATA_THREADS = .*must be an integer from 1 to"):
        environment.threads()


def test_small_products_get_one_thread_unless_told(monkeypatch):
    monkeypatch.delenv("STRATA_THREADS", raising=False)
    small, large = environment.threads(environment.SMALL), environment.threads(7.0)
    assert (small, large) == (1, environment.cores())
    monkeypatch.setenv("STRATA_THREADS", "3")
    assert environment.threads(environment.SMALL) == environment.threads(7.0) == 3


@pytest.mark.parametrize(
    ("own", "worth", "count"), [("50000", 0.5, 1), ("max", 1.5, 1), ("", 1.5, 1)]
)
def test_a_container_has_the_cores_that_its_share_is_worth(
    own, worth, count, tmp_path, monkeypatch
):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "cgroup").write_text("4:cpu:/\n0::/a/b\n")
    (tmp_path / "a/b/cpu.max").write_text(f"{own} 100000\n")
    (tmp_path / "a/cpu.max").write_text("150000 100000\n")
    assert environment.quota(tmp_path / "nowhere") == math.inf
    found = environment.quota(tmp_path / "cgroup", tmp_path)
    assert found == worth
    monkeypatch.setattr(environment, "quota", lambda: found)
    assert environment.cores() == count


def test_a_device_that_is_not_there_gets_one_line(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("cuda", "tpu", ""):
        monkeypatch.setenv("STRATA_DEVICE", name)
        with pytest.raises(InputError, match=r"^STRATA_DEVICE = .*cpu"):
            machine.device()
    monkeypatch.setenv("STRATA_DEVICE", "auto")
    assert machine.device().type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_on_a_gpu_the_run_is_the_same_and_repeats_to_the_bit(run):
    machine.prepare()
    first, second = trainer_of(run, device="cuda"), trainer_of(run, device="cuda")
    for trainer in (first, second):
        trainer.advance(20)
    second.accuracy()
    resumed = trainer_of(run, device="cuda")
    resumed.resume(second.state())
    for trainer in (first, second, resumed):
        trainer.advance(40)
        assert contents(trainer.weights()) == contents(first.weights())
        assert contents(trainer.history()) == contents(first.history())
    cpu = trained(run).history()
    assert np.allclose(first.history()["loss"], cpu["loss"], atol=1e-4, rtol=0)
