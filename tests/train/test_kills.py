"""The train stage, killed at any moment, goes on and ends with the bytes of an undisturbed run."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from small import split_of

from strata import store
from strata.run import Run
from strata.train import snapshots

STAGES = Path(__file__).parents[2] / "stages"
OUTPUTS = ["history.csv", "history.parquet", "weights.safetensors"]
SPLIT = {"train_fraction": 0.3, "validation_fraction": 0.3}
TRAIN = {
    "d_model": 16, "n_heads": 2, "d_mlp": 24, "epochs": 6000, "lr": 0.001, "weight_decay": 1.0,
    "beta1": 0.9, "beta2": 0.98, "eps": 1.0e-8, "validate_every": 100,
}  # fmt: skip
# torch takes seconds to import, so it is done once: each process of the stage is a fork of it.
NURSERY = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where this runs in background
sys.path.insert(0, {str(STAGES)!r})
import torch, train
from strata.train import loop
from strata.run import command
torch.optim.AdamW([torch.zeros(1)])  # imports eight hundred modules
loop.SECONDS_AT_RISK = 0.05
def child(words):
    os.chdir(words[0])
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1), os.dup2(log, 2)
    sys.argv = ["train.py", *words[1:]]
    code = 1
    try:
        command(train.main)
        code = 0
    except SystemExit as end:
        print(end)
    finally:
        sys.stdout.flush()
        os._exit(code)  # without the second that it takes to tear down all those modules
for line in sys.stdin:
    order, *words = line.split()
    if order == "wait":
        print(os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1]), flush=True)
    elif pid := os.fork():
        print(pid, flush=True)
    else:
        os.dup2(2, 1)  # what a stage prints is no answer
        child(words)
"""


@dataclass
class Nursery:
    """Starts processes of the stage in a folder, with a snapshot every 0.05 s."""

    process: subprocess.Popen
    folder: Path

    def asked(self, *words: object) -> int:
        """The answer to `start …`, a process id, or to `wait PID`, an exit code."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, name: str = "n13-s1") -> int:
        """The process id of a stage just started. Its outputs are deleted first, as DVC does."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        return self.asked("start", self.folder, name, "settings.json", "split.parquet", "out")

    def ended(self, pid: int) -> tuple[int, str]:
        """Exit code of a stage and what it said."""
        return self.asked("wait", pid), (self.folder / "log").read_text(encoding="utf-8")

    def finish(self) -> str:
        """What a stage says that nobody disturbs."""
        code, said = self.ended(self.start())
        assert code == 0, said
        return said

    def killed(self, how: signal.Signals, after: float, saved: bool) -> bool:
        """Whether the signal met the process alive, so long after its start or its first save."""
        before, pid = self.saved(), self.start()
        give_up = time.monotonic() + 60
        while saved and self.saved() == before and time.monotonic() < give_up:
            time.sleep(0.002)
        time.sleep(after)
        os.kill(pid, how)
        return self.asked("wait", pid) != 0

    def snapshot(self) -> Path:
        return self.folder / ".snapshots" / "n13-s1.safetensors"

    def saved(self) -> int:
        """When the snapshot was written; 0 where there is none."""
        return self.snapshot().stat().st_mtime_ns if self.snapshot().exists() else 0

    def outputs(self) -> dict[str, bytes]:
        return made(self.folder / "out")


def made(out: Path) -> dict[str, bytes]:
    """What must be the same however often a run was killed: its files, and the hashes of its states
    on the way."""
    chain = store.read_json(out / "environment.json")["chain"]
    files = {name: (out / name).read_bytes() for name in OUTPUTS}
    return files | {"chain": "".join(chain).encode()}


def prepared(folder: Path, **changes: object) -> Path:
    """A folder with the settings and the split of a run of n = 13, and a key for code."""
    settings = {"split": SPLIT, "train": TRAIN | changes}
    store.write_json(folder / "settings.json", settings)
    store.write_text(folder / snapshots.CODE, "as it is\n")
    store.write_table(folder / "split.parquet", split_of(13), store.SPLIT)
    return folder


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    path = os.pathsep.join(map(str, (STAGES.parent, STAGES.parent / "src")))
    own = {"STRATA_THREADS": "1", "STRATA_DEVICE": "cpu", "OMP_NUM_THREADS": "1"}
    return os.environ | own | {"PYTHONPATH": path}


@pytest.fixture(scope="module")
def process(environment) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-c", NURSERY]
    with subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, text=True) as made:
        yield made


@pytest.fixture
def nursery(tmp_path, process) -> Nursery:
    return Nursery(process, prepared(tmp_path))


def undisturbed(folder: Path, environment: dict[str, str]) -> dict[str, bytes]:
    """The outputs of the stage's own script, started once."""
    words = ("n13-s1", "settings.json", "split.parquet", "out")
    command = [sys.executable, STAGES / "train.py", *words]
    subprocess.run(
        command, cwd=prepared(folder), env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return made(folder / "out")


def test_killed_at_random_moments_a_run_ends_with_the_bytes_of_an_undisturbed_one(
    nursery, environment, tmp_path
):
    expected = undisturbed(tmp_path / "undisturbed", environment)
    rng = random.Random(time.time_ns())
    kills = [(how, True) for how in 7 * [signal.SIGKILL] + 2 * [signal.SIGTERM, signal.SIGINT]]
    kills += [(signal.SIGKILL, False)] * 4
    rng.shuffle(kills)
    for how, saved in [*kills, (signal.SIGKILL, True)]:
        for _ in range(10):
            if nursery.killed(how, rng.uniform(0, 0.1), saved):
                break
            nursery.snapshot().unlink()  # it had come to its end: once more from the start
        else:
            pytest.fail(f"{how.name} ended no run")
    assert "n13-s1: goes on from epoch" in nursery.finish()
    assert nursery.outputs() == expected
    # A finished run is handed over again, however often that is cut short.
    for _ in range(6):
        nursery.killed(signal.SIGKILL, rng.uniform(0, 0.1), saved=False)
    assert "goes on from epoch 6000" in nursery.finish()
    assert nursery.outputs() == expected
    written = {path.name for path in (nursery.folder / "out").iterdir()}
    assert written == {*OUTPUTS, "environment.json"}


def test_a_torn_snapshot_or_one_of_another_configuration_is_refused_and_training_starts_over(
    nursery,
):
    prepared(nursery.folder, epochs=50)
    nursery.finish()
    expected = nursery.outputs()
    whole = nursery.snapshot().read_bytes()
    nursery.snapshot().write_bytes(whole[:-9])
    said = nursery.finish()
    assert "training starts over" in said
    assert "truncated" in said
    assert nursery.outputs() == expected
    prepared(nursery.folder, epochs=50, lr=0.002)
    said = nursery.finish()
    assert "made with another configuration" in said
    assert "training starts over" in said
    other = nursery.outputs()
    assert not any(other[name] == expected[name] for name in ("weights.safetensors", "chain"))
    store.write_text(nursery.folder / snapshots.CODE, "another\n")
    assert "made with another configuration, code or device" in nursery.finish()
    prepared(nursery.folder, epochs=50)
    nursery.snapshot().write_bytes(whole)
    assert "goes on from epoch 50" in nursery.finish()
    assert nursery.outputs() == expected


def test_a_second_process_for_the_same_run_gets_one_line(nursery):
    prepared(nursery.folder, epochs=1000000)  # it will not end before it is stopped
    first = nursery.start()
    lock = nursery.snapshot().with_suffix(".lock")
    while not lock.exists() or lock.read_text(encoding="utf-8") != str(first):
        time.sleep(0.002)
    os.kill(first, signal.SIGSTOP)  # it stays, however long the second one takes
    code, said = nursery.ended(nursery.start())
    os.kill(first, signal.SIGKILL)
    assert nursery.asked("wait", first) == -signal.SIGKILL
    assert code == 1
    assert said == (
        f"train: n13-s1: process {first} is training this run already;"
        " wait for it or end it, then repeat\n"
    )
    assert not (nursery.folder / "out").exists()


def test_a_run_that_explodes_ends_early_and_is_recorded(nursery):
    prepared(nursery.folder, lr=1.0e8)
    for _ in range(2):  # the second time from its snapshot
        nursery.finish()
        history = store.read_history(nursery.folder / "out" / "history.parquet")
        weights = store.read_weights(nursery.folder / "out" / "weights.safetensors", Run(13, 1))
        assert len(history) < 200
        assert not np.isfinite(history["loss"].iloc[-1])
        assert not np.isfinite(weights["W_E"]).all()
