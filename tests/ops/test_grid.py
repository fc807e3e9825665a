"""make grid, on real SLURM and on this machine: tiny runs through DVC itself."""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import slurm
from tiny import CHECK, MORE, RUN, Project, add, copied, pipeline, prepared, studies

from ops.files import RUNS
from ops.grid.pool import Array
from strata.inputs import InputError
from strata.store import read_tensors

SLOW = "slow-n6-s1"
WEIGHTS = f"studies/data/train/{SLOW}/weights.safetensors"
BEGUN: list[subprocess.Popen] = []  # by the test that runs
MISSING = sorted({*slurm.PROGRAMS} - {*slurm.found()})
on_slurm = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    running = slurm.Cluster(tmp_path_factory.mktemp("slurm"), 3)
    try:
        running.start()
        yield running
    finally:
        running.stop()


PAUSED = """        while trainer.epoch < stop and not trainer.diverged:
            import os, time
            while trainer.epoch >= 200 and os.path.exists(os.environ.get("PAUSE", "")):
                time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def trainings(tmp_path_factory) -> Project:
    """A paper and a study of trainings alone, with nothing trained. That of the study waits at
    epoch 200 while the file PAUSE exists; they are saved at each look."""
    folder = tmp_path_factory.mktemp("trainings") / "project"
    kept = pipeline(set()) | {"studies/dvc.yaml": studies()["studies/dvc.yaml"]}
    for whole in kept.values():
        names = {"code", "params", "check", "split", "train"}
        whole["stages"] = {k: v for k, v in whole["stages"].items() if k in names}
        whole.pop("plots", None)
    project = prepared(folder, kept)
    loop = "src/strata/train/loop.py"
    for path, old, new in (
        ("studies/runs.yaml", MORE, SLOW),
        ("params.yaml", "variants:\n", "variants:\n  slow: {epochs: 400}\n"),
        (loop, "= 10, 30.0", "= 10, 0.0"),
        (loop, PAUSED.partition("\n")[0] + "\n", PAUSED),
    ):
        text = (folder / path).read_text()
        assert old in text
        count = -1 if path.endswith("runs.yaml") else 1
        (folder / path).write_text(text.replace(old, new, count))
    project.dvc("repro", CHECK)
    project.dvc("repro", "code", "check", project="studies")
    project.commit()
    return project


@pytest.fixture(scope="module")
def undisturbed(trainings, tmp_path_factory) -> bytes:
    """The weights of the slow run, trained by DVC."""
    project = copied(trainings, tmp_path_factory.mktemp("undisturbed"))
    project.dvc("repro", f"train@{SLOW}", project="studies")
    return (project.folder / WEIGHTS).read_bytes()


@pytest.fixture
def project(trainings, tmp_path) -> Project:
    """A copy of that project."""
    copy = copied(trainings, tmp_path)
    copy.environment |= {"TMPDIR": str(tmp_path / "tmp"), "PAUSE": str(tmp_path / "pause")}
    (tmp_path / "tmp").mkdir()
    (tmp_path / "pause").touch()
    return copy


@pytest.fixture(autouse=True)
def ended_in_any_case():
    """Whatever a test has begun is ended with it."""
    yield
    while BEGUN:
        process = BEGUN.pop()
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def go_on(project: Project) -> None:
    """Let trainings go on."""
    Path(project.environment["PAUSE"]).unlink()


def grid(project: Project, cluster: slurm.Cluster | None = None, **asked: str) -> subprocess.Popen:
    """make grid, begun."""
    own = project.environment | asked
    if cluster:
        own |= {"ON": "slurm", "SLURM_CONF": cluster.environment["SLURM_CONF"]}
        own["PATH"] = f"{own['PATH']}:{slurm.SYSTEM}"
    process = subprocess.Popen(
        [sys.executable, "-m", "ops.grid.grid"], cwd=project.folder, env=own, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        # ignored where the tests run in background, and that would be inherited
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    BEGUN.append(process)
    return process


def ended(process: subprocess.Popen, code: int = 0) -> str:
    said = process.communicate(timeout=600)[0]
    assert process.returncode == code, said
    return said


def until(holds, process: subprocess.Popen) -> None:
    """Wait until something holds, while the process goes on."""
    end = time.monotonic() + 300
    while not holds():
        assert process.poll() is None, process.communicate()[0]
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


def requeued(cluster: slurm.Cluster, process: subprocess.Popen) -> str:
    """The job, once SLURM has queued it again; it starts now, not after two minutes."""
    job = cluster.said("squeue", "-h", "-o", "%A")
    until(lambda: "PENDING" in cluster.said("squeue", "-h", "-j", job, "-o", "%T"), process)
    cluster.said("scontrol", "update", f"JobId={job}", "StartTime=now")
    return job


def nothing_left(project: Project) -> bool:
    """Whether no worker is left, neither its clone nor a process."""
    own = project.environment["TMPDIR"]
    return not slurm.processes(f"TMPDIR={own}\0") and not [*Path(own).glob("strata-worker-*")]


@on_slurm
def test_runs_are_made_through_the_studies_while_the_controller_is_restarted(
    both, cluster, tmp_path
):
    project = prepared(tmp_path / "project", pipeline())
    add(project, studies())
    project.commit()
    process = grid(project, cluster)
    until(lambda: "== running" in log(project, RUN), process)
    time.sleep(5)  # so often it saves what it knows; a task that it forgets is ended
    cluster.kill("slurmctld")
    time.sleep(2)
    cluster.spawn("slurmctld", "-D")
    said = ended(process)
    assert "train 2 models, run 10 stages of 2 runs" in said and "made: 2 runs" in said
    of_runs = [f"interventions/dvc.yaml:interventions@{MORE}", f"mechanism/dvc.yaml:describe@{RUN}"]
    assert not project.dvc("repro", f"{RUNS}:metrics@{RUN}")
    assert not project.dvc("repro", *of_runs, project="studies")
    theirs = both.outputs()
    ours = {k: v for k, v in project.outputs().items() if "environment.json" not in k}
    assert f"studies/data/train/{MORE}/weights.safetensors" in ours
    assert ours == {name: theirs[name] for name in ours}


@on_slurm
def test_a_lost_node_and_a_cancelled_job_cost_no_byte(project, undisturbed, cluster):
    process = grid(project, cluster, RUNS=SLOW)
    until(lambda: paused(project), process)
    node = next(name for name in cluster.names if cluster.steps(name))
    cluster.lose(node)
    job = requeued(cluster, process)
    until(lambda: log(project).count("goes on from epoch") == 1, process)
    cluster.node(node)
    cluster.said("scancel", job)
    said = ended(process, 1)
    go_on(project)
    assert f"{SLOW}: CANCELLED: the same command goes on" in said
    assert "made: 1 run" in ended(grid(project, cluster, RUNS=SLOW))
    assert log(project).count("goes on from epoch") == 2
    assert (project.folder / WEIGHTS).read_bytes() == undisturbed


@on_slurm
def test_a_daemon_that_dies_alone_leads_to_no_second_training(project, undisturbed, cluster):
    cluster.until(lambda: cluster.said("sinfo", "-h", "-o", "%D %T") == "3 idle")
    process = grid(project, cluster, RUNS=SLOW)
    until(lambda: paused(project), process)
    node = next(name for name in cluster.names if cluster.steps(name))
    cluster.kill(node)
    requeued(cluster, process)
    until(lambda: "== waits" in log(project), process)
    go_on(project)
    said = ended(process)
    cluster.node(node)
    assert f"{SLOW} waits" in said and "made: 1 run" in said
    # the second worker finds the run made, or is cancelled with its job where the head was faster
    cluster.until(lambda: not cluster.said("squeue", "-h", "-o", "%A"))
    assert log(project).count("python stages/train.py") == 1 and "goes on" not in log(project)
    assert (project.folder / WEIGHTS).read_bytes() == undisturbed


@on_slurm
def test_what_slurm_can_never_start_ends_in_one_line(project, cluster):
    said = ended(grid(project, cluster, RUNS=SLOW, ARGS="--time=5:00:00"), 1).splitlines()
    named = r"grid: SLURM: (PartitionTimeLimit|PartitionConfig): .*: change ARGS"
    assert [x for x in said if re.match(named, x)] == said[-1:]
    assert not cluster.said("squeue", "-h", "-o", "%A")


@on_slurm
@pytest.mark.parametrize(
    ("args", "named"), [("--partition=gpu", "invalid partition"), ("--gres=gpu:1", "gres")]
)
def test_what_sbatch_refuses_is_named_in_its_words(args, named, cluster, monkeypatch):
    for key in ("PATH", "SLURM_CONF"):
        monkeypatch.setenv(key, cluster.environment[key])
    with pytest.raises(
        InputError, match=rf"(?i)^sbatch: [^\n]*{named}[^\n]*: change ARGS = {args}"
    ):
        Array("strata-test", [[RUN]], words=["bin"], args=[args]).look()


def test_interrupted_it_leaves_nothing_behind_and_goes_on(project, undisturbed):
    process = grid(project, RUNS=SLOW)
    until(lambda: paused(project), process)
    assert "grid: another make grid is at work here" in ended(grid(project), 1)
    assert SLOW in ended(grid(project, STATUS="1"))
    process.send_signal(signal.SIGINT)
    assert "the same command goes on" in ended(process, 130)
    assert nothing_left(project)
    go_on(project)
    assert "made: 1 run" in ended(grid(project, RUNS=SLOW))
    assert "goes on from epoch" in log(project)
    assert (project.folder / WEIGHTS).read_bytes() == undisturbed and nothing_left(project)
    assert "nothing to do" in ended(grid(project, RUNS=SLOW))


def test_changed_analyses_are_made_again_and_no_training(both, tmp_path):
    project = copied(both, tmp_path)
    project.set("variance", 0.9)
    for folder in ("data", "studies/data"):  # as in a clone that has pulled nothing
        shutil.rmtree(project.folder / folder)
    said = ended(grid(project))
    assert "train" not in said and "run 2 stages of 2 runs" in said
    assert "workers have your changes of params.yaml" in said
    assert not project.dvc("repro", f"{RUNS}:metrics@{RUN}")
    assert not project.dvc("repro", f"metrics@{MORE}", project="studies")
    project.set("lr", 0.002)
    again = ended(grid(project), 1)
    assert f"{RUN}, {MORE}: trained before, with other settings or code" in again
