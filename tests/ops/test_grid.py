"""make grid, on real SLURM and on this machine: tiny runs through DVC itself."""

import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import slurm
from tiny import CHECK, MORE, RUN, Project, add, copied, pipeline, prepared, studies

from ops.files import RUNS
from strata.inputs import InputError
from strata.store import read_tensors

SLOW = "slow-n6-s1"
WEIGHTS = f"studies/data/train/{SLOW}/weights.safetensors"
STARTED: list[subprocess.Popen] = []  # by the test that runs
on_slurm = pytest.mark.skipif(
    bool(slurm.MISSING), reason=f"not installed: {', '.join(slurm.MISSING)}"
)
LOOP = "        while trainer.epoch < stop and not trainer.diverged:\n"
PAUSE = """            import os, time
            while trainer.epoch >= 200 and os.path.exists(os.environ.get("PAUSE", "")):
                time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    running = slurm.Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def trainings(tmp_path_factory) -> Project:
    """Return a paper and a study of trainings alone, none of them trained. That of the study waits
    at epoch 200 while the file PAUSE exists, and is saved each time."""
    folder = tmp_path_factory.mktemp("trainings") / "project"
    pipelines = pipeline(set()) | {"studies/dvc.yaml": studies()["studies/dvc.yaml"]}
    for content in pipelines.values():
        names = {"code", "params", "check", "split", "train"}
        content["stages"] = {k: v for k, v in content["stages"].items() if k in names}
        content.pop("plots", None)
    project = prepared(folder, pipelines)
    loop = "src/strata/train/loop.py"
    for path, old, new in (
        ("studies/runs.yaml", MORE, SLOW),
        ("params.yaml", "variants:\n", "variants:\n  slow: {epochs: 400}\n"),
        (loop, "= 10, 30.0", "= 10, 0.0"),
        (loop, LOOP, LOOP + PAUSE),
    ):
        text = (folder / path).read_text()
        assert old in text
        (folder / path).write_text(text.replace(old, new))
    project.dvc("repro", CHECK)
    project.dvc("repro", "code", "check", project="studies")
    project.commit()
    return project


@pytest.fixture(scope="module")
def undisturbed(trainings, tmp_path_factory) -> bytes:
    """Return the weights of the slow run, trained by DVC."""
    project = copied(trainings, tmp_path_factory.mktemp("undisturbed"))
    project.dvc("repro", f"train@{SLOW}", project="studies")
    return (project.folder / WEIGHTS).read_bytes()


@pytest.fixture
def project(trainings, tmp_path) -> Project:
    copy = copied(trainings, tmp_path)
    copy.environment |= {"TMPDIR": str(tmp_path / "tmp"), "PAUSE": str(tmp_path / "pause")}
    (tmp_path / "tmp").mkdir()
    (tmp_path / "pause").touch()
    return copy


@pytest.fixture(autouse=True)
def end_all():
    yield
    while STARTED:
        process = STARTED.pop()
        process.terminate()
        process.wait(60)


def unpause(project: Project) -> None:
    Path(project.environment["PAUSE"]).unlink()


def start_grid(
    project: Project, cluster: slurm.Cluster | None = None, **variables: str
) -> subprocess.Popen:
    """Start make grid, on a cluster if there is one."""
    if cluster:
        places = f"{project.environment['PATH']}:{slurm.PATH}"
        conf = cluster.environment["SLURM_CONF"]
        variables |= {"ON": "slurm", "SLURM_CONF": conf, "PATH": places}
    process = project.start(sys.executable, "-m", "ops.grid.grid", **variables)
    STARTED.append(process)
    return process


def output(process: subprocess.Popen, code: int = 0) -> str:
    """Wait until make grid ends with that code, and return what it has printed."""
    text = process.communicate(timeout=600)[0]
    assert process.returncode == code, text
    return text


def until(condition) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def log(project: Project, run: str = SLOW) -> str:
    path = project.folder / ".grid" / "logs" / f"{run}.log"
    return path.read_text() if path.exists() else ""


def paused(project: Project) -> bool:
    """Whether the slow run has been saved at epoch 200, and waits."""
    try:
        state, _ = read_tensors(project.folder / ".snapshots" / f"{SLOW}.safetensors")
    except (InputError, OSError):
        return False
    return int(state["row"][0]) == 200


def nothing_left(project: Project) -> bool:
    """Whether no worker is left, neither its copy nor a process."""
    folder = project.environment["TMPDIR"]
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or is another user's
            if process.environ().get("TMPDIR") == folder:
                return False
    return not [*Path(folder).glob("strata-worker-*")]


@on_slurm
def test_an_array_job_makes_the_bytes_that_dvc_makes_through_the_studies(both, cluster, tmp_path):
    project = prepared(tmp_path / "project", pipeline())
    add(project, studies())
    project.commit()
    plan = output(start_grid(project, cluster))
    assert "train 2 models" in plan and "run at most 10 stages" in plan
    cluster.until(cluster.idle)
    assert "nothing to do" in output(start_grid(project, cluster))
    expected = both.outputs()
    outputs = {k: v for k, v in project.outputs().items() if "environment.json" not in k}
    assert f"studies/data/train/{MORE}/weights.safetensors" in outputs
    assert outputs == {name: expected[name] for name in outputs}
    names = [f"interventions/dvc.yaml:interventions@{MORE}", f"mechanism/dvc.yaml:accounts@{RUN}"]
    assert not project.dvc("repro", *names, project="studies")


@on_slurm
def test_a_cancelled_job_costs_no_byte(project, undisturbed, cluster):
    output(start_grid(project, cluster, RUNS=SLOW))
    until(lambda: paused(project))
    cluster.call("scancel", "--name=strata")
    cluster.until(cluster.idle)
    unpause(project)
    output(start_grid(project, cluster, RUNS=SLOW))
    cluster.until(cluster.idle)
    assert "nothing to do" in output(start_grid(project, cluster, RUNS=SLOW))
    assert log(project).count("goes on from epoch") == 1
    assert (project.folder / WEIGHTS).read_bytes() == undisturbed


@on_slurm
def test_what_sbatch_refuses_is_named_in_its_words(project, cluster):
    refused = output(start_grid(project, cluster, ARGS="--partition=gpu"), 1)
    assert "sbatch: error: invalid partition specified: gpu" in refused
    assert refused.splitlines()[-1].startswith("grid: sbatch refuses 2 tasks with ARGS = --part")


def test_interrupted_it_leaves_nothing_behind_and_goes_on(project, undisturbed):
    for interruptions, how in enumerate((signal.SIGTERM, signal.SIGKILL)):
        process = start_grid(project, RUNS=SLOW)
        until(lambda: paused(project))
        until(lambda goal=interruptions: log(project).count("goes on from epoch") == goal)
        assert "grid: another make grid is at work here" in output(start_grid(project), 1)
        process.send_signal(how)
        process.communicate()
        assert process.returncode != 0
        until(lambda: nothing_left(project))
    unpause(project)
    assert "made 1 run" in output(start_grid(project, RUNS=SLOW))
    assert log(project).count("goes on from epoch") == 2 and nothing_left(project)
    assert (project.folder / WEIGHTS).read_bytes() == undisturbed


def test_changed_analyses_are_made_again_and_no_training(both, tmp_path):
    project = copied(both, tmp_path)
    project.set("variance", 0.9)
    for folder in ("data", "studies/data"):  # as in a clone that has pulled nothing
        shutil.rmtree(project.folder / folder)
    plan = output(start_grid(project))
    assert "train" not in plan and "run at most 2 stages: metrics (2)" in plan
    assert not project.dvc("repro", f"{RUNS}:metrics@{RUN}")
    project.set("lr", 0.002)
    refused = output(start_grid(project), 1)
    assert f"{RUN}, {MORE}: trained before, with other settings or code" in refused
