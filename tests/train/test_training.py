"""The loop: the plain optimizer's course, validation by brute force, bits that nothing changes."""

import math
import runpy

import numpy as np
import plain
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small import ROOT, TRAIN, kind_of

from strata import store, task
from strata.inputs import InputError
from strata.run import Early, Run, SplitParams, TrainParams
from strata.train import environment, gradients, machine, network
from strata.train.trainer import Trainer, batch, should_stop

PAPER = TRAIN.model_copy(
    update={"d_model": 128, "n_heads": 4, "d_mlp": 512, "epochs": 50, "validate_every": 100}
)
SMALL = PAPER.model_copy(
    update={"d_model": 16, "n_heads": 2, "d_mlp": 24, "validate_every": 7, "epochs": 40}
)
RUNS = [Run(12, 3), Run(12, 3, "mlp")]


def trainer_of(run: Run, params: TrainParams = SMALL, device: str = "cpu", **options) -> Trainer:
    split = task.split(run.n, run.seed, 0.3, 0.3)
    return Trainer(run, kind_of(run, params), split, device, **options)


def train_fully(run: Run, params: TrainParams = SMALL) -> Trainer:
    trainer = trainer_of(run, params)
    trainer.advance(params.epochs)
    return trainer


def bytes_of(arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    """Return what tells arrays apart to the bit, NaN included."""
    return {name: x.tobytes() + str((x.dtype, x.shape)).encode() for name, x in arrays.items()}


def test_the_published_losses_of_the_first_epochs():
    loss = train_fully(Run(165, 1), PAPER.model_copy(update={"epochs": 5})).history()["loss"]
    assert np.allclose(loss, [5.25421, 5.10865, 5.01245, 4.95484, 4.92535], atol=1e-5, rtol=0)


@pytest.mark.usefixtures("double")
def test_losses_and_weights_are_those_of_autograd_and_the_plain_optimizer(monkeypatch):
    """Train the MLP-only model, in chunks; tests/test_nano_strata.py does the transformer."""
    monkeypatch.setitem(gradients.ROWS, "cpu", 50)
    run, params = Run(24, 1, "mlp"), PAPER.model_copy(update={"d_model": 32, "d_mlp": 64})
    ours, weights = train_fully(run, params), plain.initial(run, kind_of(run, params))
    losses = plain.train(weights, run, params)
    assert np.allclose(ours.history()["loss"], losses, atol=0, rtol=1e-6)  # kept as float32
    for name, x in ours.weights().items():
        assert np.allclose(x, weights[name].detach(), atol=1e-9, rtol=0), name


def test_sums_by_token_are_the_same_in_every_form():
    rng = np.random.default_rng(0)
    tokens = torch.from_numpy(rng.integers(0, 9, 500))
    values = torch.from_numpy(rng.normal(size=(500, 6)))
    expected = torch.zeros(12, 6, dtype=torch.float64).index_add_(0, tokens, values)
    assert torch.allclose(gradients.by_token(tokens, values, 12), expected)

    class OnGPU(torch.Tensor):
        is_cuda = True  # type: ignore[assignment]

    sums = gradients.by_token(tokens, values.as_subclass(OnGPU), 12)
    assert torch.allclose(sums.as_subclass(torch.Tensor), expected)


def test_crossed_seeds_take_the_split_of_the_one_and_the_initial_weights_of_the_other(tmp_path):
    names = ("n12-s1-w2", "n12-s1", "n12-s2")
    store.write_json(tmp_path / "x", SplitParams(train_fraction=0.3, validation_fraction=0.3))
    main = runpy.run_path(str(ROOT / "stages" / "split.py"))["main"]
    for name in names:
        main(name, str(tmp_path / "x"), str(tmp_path / name))
    crossed, one, other = ((tmp_path / name).read_bytes() for name in names)
    assert crossed == one != other
    before = torch.random.get_rng_state()
    crossed, one, other = (network.initial(Run.parse(x), TRAIN)["W_E"] for x in names)
    assert torch.equal(crossed, other) and not torch.equal(crossed, one)
    assert torch.equal(torch.random.get_rng_state(), before)  # the caller's generator


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_accuracies_are_brute_force_over_ordered_pairs(run):
    n, params = run.n, SMALL.model_copy(update={"lr": 0.01, "validate_every": 1})
    trainer = trainer_of(run, params)
    split = task.split(n, run.seed, 0.3, 0.3)
    a, b = torch.cartesian_prod(torch.arange(n), torch.arange(n)).T
    mirror_trains = np.array([split[b * n + a] == task.TRAIN for a in range(n) for b in range(n)])
    masks = {
        "train": split == task.TRAIN,
        "validation": split == task.VALIDATION,
        "mirror_free": (split == task.VALIDATION) & ~mirror_trains,
    }
    shares = []
    for epoch in range(params.epochs + 1):
        trainer.advance(epoch)
        weights = {name: torch.from_numpy(x) for name, x in trainer.weights().items()}
        right = (plain.logits(weights, a, b).argmax(dim=1) == a * b % n).numpy()
        shares.append({name: right[mask].mean() for name, mask in masks.items()})
    history = trainer.history()
    for k in range(params.epochs):  # training accuracy before the step, the others after it
        assert history["train_accuracy"][k] == shares[k]["train"]
        assert history["validation_accuracy"][k] == shares[k + 1]["validation"]
        assert history["mirror_free_accuracy"][k] == shares[k + 1]["mirror_free"]
    assert len({share["validation"] for share in shares}) > 5


@pytest.mark.parametrize(("symmetric", "rows"), [(True, 6931), (False, 8167)])
def test_a_pair_and_its_mirror_are_one_row_where_the_model_is_symmetric(symmetric, rows):
    pairs = np.flatnonzero(task.split(165, 1, 0.3, 0.3) == task.TRAIN)
    batched, _ = batch(pairs, 165, symmetric, torch.device("cpu"))
    assert len(pairs) == 8167 and len(batched.a) == rows


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_looking_at_a_run_changes_no_bit_of_it(run):
    undisturbed, observed = train_fully(run), trainer_of(run)
    weights_at = {}
    for epoch in (0, 1, 2, 6, 7, 8, 20, 20, 39, 40, 99):
        observed.advance(epoch)
        weights_at[epoch] = observed.weights()
        assert len(observed.accuracy()) == 2
        assert "parameter" in observed.state()
        assert observed.epoch == min(epoch, 40)
        if epoch:
            assert observed.loss == observed.history()["loss"][-1]
    assert bytes_of(observed.weights()) == bytes_of(undisturbed.weights())
    assert bytes_of(observed.history()) == bytes_of(undisturbed.history())
    for epoch in (1, 8, 20):  # what was handed out is what a shorter run ends with
        shorter = train_fully(run, SMALL.model_copy(update={"epochs": epoch}))
        assert bytes_of(weights_at[epoch]) == bytes_of(shorter.weights())


@pytest.mark.parametrize(("run", "epoch"), [(RUNS[0], 0), (RUNS[1], 7), (RUNS[0], 39)])
def test_going_on_from_a_stored_state_changes_no_bit(run, epoch, tmp_path):
    interrupted = trainer_of(run)
    interrupted.advance(epoch)
    store.write_bytes(tmp_path / "state", store.tensors_bytes(interrupted.state(), {}))
    resumed = trainer_of(run)
    resumed.advance(3)  # resuming discards this
    resumed.resume(store.read_tensors(tmp_path / "state")[0])
    assert resumed.epoch == epoch
    assert bytes_of(resumed.history()) == bytes_of(interrupted.history())
    resumed.advance(40)
    undisturbed = train_fully(run)
    assert bytes_of(resumed.weights()) == bytes_of(undisturbed.weights())
    assert bytes_of(resumed.history()) == bytes_of(undisturbed.history())


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


@pytest.mark.parametrize(("run", "lr"), [*zip(RUNS, (1e2, 1e30), strict=True)])
def test_a_run_that_explodes_is_no_error(run, lr):
    trainer = train_fully(run, SMALL.model_copy(update={"lr": lr}))
    history = trainer.history()
    assert len(history["loss"]) == 40
    assert not np.isfinite(history["loss"][-1])
    assert ((history["train_accuracy"] >= 0) & (history["train_accuracy"] <= 1)).all()
    assert not all(np.isfinite(x).all() for x in trainer.weights().values())


@given(st.integers(1, 3), st.integers(1, 7), st.lists(st.sampled_from([0.4, 0.5, 1.0])))
def test_a_training_ends_once_validations_held_a_level_for_so_many_epochs(interval, after, right):
    """Compare with brute force over all validations of a training."""
    early, accuracy = Early(stop_after=after, stop_at=0.5), np.full(interval * len(right), np.nan)
    accuracy[interval - 1 :: interval] = right
    for epoch in range(len(accuracy) + 1):
        k, inside = divmod(epoch, interval)
        starts = [i for i in range(k) if interval * (k - 1 - i) >= after and min(right[i:k]) >= 0.5]
        assert should_stop(accuracy[:epoch], interval, early) == bool(not inside and starts)


@pytest.mark.parametrize("after", [7, 8])
def test_an_early_end_leaves_a_training_as_it_is_up_to_there(after):
    right = dict(enumerate(train_fully(RUNS[0]).history()["validation_accuracy"][6::7], 1))
    level = sorted(right.values())[2]
    high = {k for k in right if right[k] >= level}
    spans = [(i, k) for i in high for k in high if {*range(i, k + 1)} <= high]
    end = min(7 * k for i, k in spans if 7 * (k - i) >= after)
    rule = Early(stop_after=after, stop_at=level)
    early, resumed = (trainer_of(RUNS[0], early=rule) for _ in range(2))
    early.advance(40)
    shorter = train_fully(RUNS[0], SMALL.model_copy(update={"epochs": end}))
    resumed.resume(early.state())
    resumed.advance(40)
    for one in (early, resumed):
        assert one.epoch == one.end == end
        assert bytes_of(one.weights()) == bytes_of(shorter.weights())
        assert bytes_of(one.history()) == bytes_of(shorter.history())


def test_a_split_with_nothing_to_train_or_validate_on_is_refused():
    for train, validation in ((0.1, 0.5), (0.5, 0.1)):
        with pytest.raises(InputError, match="no pair to train on, or none to validate on"):
            Trainer(Run(2, 0), SMALL, task.split(2, 0, train, validation))


@pytest.mark.parametrize("flush", [True, False])
def test_a_record_says_whether_subnormal_numbers_are_taken_as_0(flush):
    trainer = trainer_of(RUNS[0])
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


@pytest.mark.parametrize("text", ["0", "two"])
def test_a_bad_thread_count_gets_one_line(monkeypatch, text):
    monkeypatch.setenv("STRATA_THREADS", text)
    with pytest.raises(InputError, match=r"^STRATA_THREADS = .*must be an integer from 1 to"):
        environment.threads()


def test_small_products_get_one_thread_by_default(monkeypatch):
    monkeypatch.delenv("STRATA_THREADS", raising=False)
    small, large = environment.threads(environment.SMALL), environment.threads(7.0)
    assert (small, large) == (1, environment.cores())
    monkeypatch.setenv("STRATA_THREADS", "3")
    assert environment.threads(environment.SMALL) == environment.threads(7.0) == 3


@pytest.mark.parametrize(
    ("limit", "expected", "count"), [("50000", 0.5, 1), ("max", 1.5, 1), ("", 1.5, 1)]
)
def test_a_container_has_the_cores_that_its_share_is_worth(
    limit, expected, count, tmp_path, monkeypatch
):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "cgroup").write_text("4:cpu:/\n0::/a/b\n")
    (tmp_path / "a/b/cpu.max").write_text(f"{limit} 100000\n")
    (tmp_path / "a/cpu.max").write_text("150000 100000\n")
    assert environment.quota(tmp_path / "nowhere") == math.inf
    quota = environment.quota(tmp_path / "cgroup", tmp_path)
    assert quota == expected
    monkeypatch.setattr(environment, "quota", lambda: quota)
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
        assert bytes_of(trainer.weights()) == bytes_of(first.weights())
        assert bytes_of(trainer.history()) == bytes_of(first.history())
    cpu = train_fully(run).history()
    assert np.allclose(first.history()["loss"], cpu["loss"], atol=1e-4, rtol=0)
