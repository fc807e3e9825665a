"""The train stage, killed at any moment, goes on and ends with the bytes of an undisturbed run."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from small import ROOT, split_of

from strata import store
from strata.train import snapshots

RUN = "n13-s1"
OUTPUTS = ["history.csv", "history.parquet", "weights.safetensors"]
SPLIT = {"train_fraction": 0.3, "validation_fraction": 0.3}
TRAIN = {
    "d_model": 16, "n_heads": 2, "d_mlp": 24, "epochs": 4000, "lr": 0.001, "weight_decay": 1.0,
    "beta1": 0.9, "beta2": 0.98, "eps": 1.0e-8, "validate_every": 100,
}  # fmt: skip
# The stage, with a snapshot every 0.05 s. SIGINT is ignored where the tests run in background.
STAGE = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {str(ROOT / "stages")!r})
sys.argv[0] = "train.py"
import train
from strata.run import command
from strata.train import loop
loop.SECONDS_AT_RISK = 0.05
command(train.main)
"""


def prepare(folder: Path, **changes: object) -> Path:
    """Write the settings and the split of a run of n = 13, and a key for code, into a folder."""
    store.write_json(folder / "settings.json", {"split": SPLIT, "train": TRAIN | changes})
    store.write_text(folder / snapshots.CODE, "as it is\n")
    store.write_table(folder / "split.parquet", split_of(13), store.SPLIT)
    return folder


def start(folder: Path, *script: str) -> subprocess.Popen[str]:
    """Start the stage, after its outputs were deleted, as DVC does."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    variables = {"STRATA_THREADS": "1", "STRATA_DEVICE": "cpu", "OMP_NUM_THREADS": "1"}
    variables["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "src")))
    words = [RUN, "settings.json", "split.parquet", "out"]
    command = [sys.executable, *(script or ("-c", STAGE)), *words]
    return subprocess.Popen(
        command, cwd=folder, env=os.environ | variables, text=True, stdout=-1, stderr=-2
    )


def run_stage(folder: Path, *script: str) -> tuple[dict[str, bytes], str]:
    """Run the stage to its end. Return its files, together with the hashes of its states on the
    way, which must be the same however often it was killed, and its output."""
    process = start(folder, *script)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert {x.name for x in (folder / "out").iterdir()} == {*OUTPUTS, "environment.json"}
    chain = store.read_json(folder / "out" / "environment.json")["chain"]
    files = {name: (folder / "out" / name).read_bytes() for name in OUTPUTS}
    return files | {"chain": "".join(chain).encode()}, output


def snapshot(folder: Path) -> Path:
    return folder / ".snapshots" / f"{RUN}.safetensors"


def saved_at(folder: Path) -> int:
    """Return the time at which the snapshot was written, in ns; 0 where there is none."""
    return snapshot(folder).stat().st_mtime_ns if snapshot(folder).exists() else 0


def kill(folder: Path, number: signal.Signals, delay: float, wait_for_save: bool) -> bool:
    """Kill a stage so long after its start or its next save; return whether it was alive."""
    before, process = saved_at(folder), start(folder)
    while wait_for_save and saved_at(folder) == before and process.poll() is None:
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(number)
    process.communicate()
    return process.returncode != 0


def test_killed_at_random_moments_a_run_ends_with_the_bytes_of_an_undisturbed_one(tmp_path):
    expected, _ = run_stage(prepare(tmp_path / "undisturbed"), str(ROOT / "stages/train.py"))
    folder, rng = prepare(tmp_path / "killed"), random.Random(time.time_ns())
    numbers = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
    rng.shuffle(numbers)
    for number, wait_for_save in ((signal.SIGKILL, False), *((x, True) for x in numbers)):
        while not kill(folder, number, rng.uniform(0, 0.1 if wait_for_save else 4), wait_for_save):
            snapshot(folder).unlink()  # the stage ended before the kill: start over
    files, output = run_stage(folder)
    assert "n13-s1: goes on from epoch" in output and files == expected
    # A finished run writes its outputs again, also where a kill interrupted that.
    kill(folder, signal.SIGKILL, rng.uniform(0, 4), wait_for_save=False)
    files, output = run_stage(folder)
    assert "goes on from epoch 4000" in output and files == expected


def test_a_torn_snapshot_or_one_of_another_configuration_is_refused_and_training_starts_over(
    tmp_path,
):
    expected, _ = run_stage(prepare(tmp_path, epochs=50))
    content = snapshot(tmp_path).read_bytes()
    snapshot(tmp_path).write_bytes(content[:-9])
    files, output = run_stage(tmp_path)
    assert "truncated" in output and "training starts over" in output and files == expected
    files, output = run_stage(prepare(tmp_path, epochs=50, lr=0.002))
    assert "another configuration, code or device; training starts over" in output
    assert not any(files[name] == expected[name] for name in ("weights.safetensors", "chain"))


def test_a_second_process_for_the_same_run_gets_one_line(tmp_path):
    first = start(prepare(tmp_path, epochs=1000000))  # it will not end before it is stopped
    lock = snapshot(tmp_path).with_suffix(".lock")
    while not lock.exists() or lock.read_text(encoding="utf-8") != str(first.pid):
        time.sleep(0.01)
    second = start(tmp_path)
    output, _ = second.communicate()
    first.kill()
    first.communicate()
    assert second.returncode == 1 and not (tmp_path / "out").exists()
    assert output == (
        f"train: n13-s1: process {first.pid} is training this run already;"
        " wait for it or end it, then repeat\n"
    )
