"""Who does what, what is seen of it, and what is brought in."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import ROOT, RUN, copied

from ops.grid import gather, pin, slurm, watch
from ops.grid.head import Asked
from ops.grid.slurm import Seen
from ops.grid.state import Folder, State, last_line, taken
from ops.grid.tasks import Task, chosen, makespan, tasks
from ops.grid.worker import Failed, Worker, granted
from strata.run import InputError, read_yaml

SECONDS = st.dictionaries(st.integers(1, 99).map("n6-s{}".format), st.floats(0.1, 100), min_size=1)


@given(SECONDS, st.integers(1, 8), st.data())
def test_every_run_is_in_one_task_and_a_training_in_one_of_its_own(took, batches, data):
    trained = {run for run in took if data.draw(st.booleans())}
    todo = {run: ("train", "metrics") if run in trained else ("metrics",) for run in took}
    found = tasks(took, todo, batches)
    assert sorted(run for task in found for run in task.stages) == sorted(took)
    assert all(len(task.stages) == 1 for task in found if task.trains)
    others = [sum(took[run] for run in task.stages) for task in found if not task.trains]
    assert len(others) == min(batches, len(took) - len(trained))
    if others:  # the greedy bound: no task exceeds the mean by more than the longest run
        assert max(others) <= sum(others) / len(others) + max(took.values()) + 1e-9
    assert [Task.parse(str(task)) for task in found] == found


@given(st.lists(st.floats(0.1, 100), min_size=1), st.integers(1, 64))
def test_workers_take_at_least_their_share_and_at_most_a_task_more(took, at_once):
    seconds, share = makespan(took, at_once), sum(took) / at_once
    assert max(share, max(took)) - 1e-6 <= seconds <= share + max(took) + 1e-6
    assert makespan(took, 1) == pytest.approx(sum(took))


def test_squeue_is_read_by_the_widths_that_it_was_asked_for():
    words = [["0", "RUNNING", "n1", "None", "0"], ["1-3", "PENDING", "", "Priority", "0"]]
    widths = slurm.FIELDS.values()
    lines = ["".join(map(str.ljust, row, widths)) for row in words]
    assert slurm.rows("\n".join(lines)) == [words[0]]


def test_a_task_that_no_time_will_start_is_told_from_one_that_waits():
    assert not slurm.impossible({0: Seen("PENDING", reason="Resources"), 1: Seen("RUNNING")})
    for reason, what in slurm.FOR_EVER.items():
        assert slurm.impossible({0: Seen("PENDING", reason=reason)}) == f"SLURM: {reason}: {what}"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"RUNS": "n7-s1"}, "RUNS = n7-s1: must be in the list &runs of pipelines/runs/dvc.yaml"),
        ({"RUNS": "n7"}, "run = 'n7': must look like"),
        ({"ON": "pbs"}, "ON = pbs: must be slurm, or nothing"),
        ({"ARGS": "--time=1"}, "ARGS = --time=1: is for sbatch"),
        ({"REMOTE": "grid"}, "REMOTE, FROM: both or none"),
        ({"ON": "slurm", "PATH": ""}, "ON = slurm: sbatch and squeue are not here"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(asked, named, monkeypatch):
    monkeypatch.chdir(ROOT)
    for key in ("ON", "RUNS", "ARGS", "REMOTE", "FROM"):
        monkeypatch.delenv(key, raising=False)
    for key, value in asked.items():
        monkeypatch.setenv(key, value)
    with pytest.raises(InputError, match=f"^{re.escape(named)}"):
        chosen(Asked.given().runs)


LOG = """
== n1, process 7, threads 2, 2026-11-23 15:00:00
Running stage 'pipelines/runs/dvc.yaml:train@n6-s1':
> python stages/train.py
n6-s1  epoch 100/25000  loss 1.5  train 0.9  validation 0.250  mirror-free 0.1  30.5 min left
"""


def test_the_log_says_how_far_a_run_is_and_what_came_before_does_not_count(tmp_path):
    folder = Folder(tmp_path)
    folder.make()
    folder.log(RUN).write_text(LOG)
    p = folder.progress(RUN)
    assert (p.stage, p.epoch, p.epochs, p.loss, p.accuracy, p.left) == (
        "train", 100, 25000, "1.5", 0.25, 30.5
    )  # fmt: skip
    folder.log(RUN).write_text(LOG + "Running stage 'pipelines/runs/dvc.yaml:metrics@n6-s1':\n")
    assert folder.progress(RUN).stage == "metrics" and folder.progress(RUN).epoch is None
    folder.log(RUN).write_text(LOG + "\n== n2, process 8, threads 2, 2026-11-23 15:10:00\n")
    assert folder.progress(RUN).stage == ""


def test_why_a_stage_failed_is_its_own_last_line_or_else_dvcs():
    dvc = "ERROR: failed to reproduce 'train@n6-s1': failed to run: python stages/train.py"
    assert last_line(f"Running stage 'train@n6-s1':\ntrain: bad\n{dvc}\n\n") == "train: bad"
    assert last_line(f"Running stage 'train@n6-s1':\n> python\n{dvc}\n") == dvc
    assert last_line("") == ""


def state(word: str, said: str = "") -> State:
    begun = State(run=RUN, node="n1", pid=1, threads=1, state="waiting", began=0.0)
    return begun.now(word, said)


@pytest.mark.parametrize(
    ("written", "seen", "row", "why"),
    [
        (None, Seen("PENDING", reason="Priority"), "pending", ""),
        (None, Seen("PENDING", reason="BeginTime"), "pending", "BeginTime"),
        ("running", Seen("RUNNING", "n1"), "running", ""),
        ("running", Seen("PENDING", reason="BeginTime"), "pending", "BeginTime"),  # requeued
        ("waiting", Seen("RUNNING", "n1"), "waiting", ""),
        (None, Seen("RUNNING", "n1"), "running", ""),  # no disk is shared, or it has just begun
        (None, Seen("RUNNING"), "pending", ""),
        ("done", None, "done", ""),
        (None, Seen("COMPLETED", "n1"), "done", ""),
        ("failed", Seen("FAILED", "n1", code=1), "failed", "why"),
        ("running", Seen("TIMEOUT", "n1"), "ended", "its time was over: the same command goes on"),
        ("running", Seen("NODE_FAIL", "n1"), "ended", "n1 was lost: the same command goes on"),
        ("stopped", Seen("CANCELLED"), "ended", "it was cancelled: the same command goes on"),
        (None, Seen("FAILED", "n3", code=66), "ended", "ARGS='--exclude=n3'"),
        (None, Seen("FAILED", "n3", code=73), "ended", "n3 may not write in"),
        (None, Seen("FAILED", "n3", code=9), "ended", "FAILED, exit code 9"),
    ],
)
def test_what_is_shown_of_a_run(written, seen, row, why, tmp_path):
    folder = Folder(tmp_path)
    folder.make()
    if written:
        folder.write(state(written, "why" if written == "failed" else ""))
    found = watch.row(RUN, seen, folder, first=True)
    assert found.state == row and (why in found.why if why else not found.why)
    later = watch.row(RUN, seen, folder).state
    assert later == row if written or row != "running" else later == "pending"


def test_the_table_shows_what_happens_first_and_counts_the_rest():
    rows = [watch.Row(f"n6-s{k}", "done") for k in range(9)] + [watch.Row("n7-s1", "running", "n2")]
    shown = watch.table(rows, 3)
    assert shown.row_count == 3 and shown.caption == "1 running, 9 done"
    assert str(next(iter(shown.columns[0].cells))) == "n7-s1"


def test_a_lock_is_held_by_one_and_comes_back_when_its_owner_is_killed(tmp_path):
    hold = "import sys; from pathlib import Path; from ops.grid.state import taken\n"
    hold += "x = taken(Path(sys.argv[1])); print(x is not None, flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", hold, str(tmp_path / "lock")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout and owner.stdout.readline() == "True\n"
        assert taken(tmp_path / "lock") is None
        owner.kill()
    file = taken(tmp_path / "lock")
    assert file
    file.close()


@pytest.mark.parametrize("busy", [False, True])
def test_only_a_run_that_another_process_has_is_said_to_wait(busy, tmp_path, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(Worker, "stages", lambda *_: None)
    worker, states = Worker(tmp_path, tmp_path, tmp_path, ""), []
    other = taken(tmp_path / ".grid" / "locks" / RUN) if busy else None

    def write(_: Folder, told: State) -> None:
        states.append(told.state)
        if other and told.state == "waiting":
            other.close()

    monkeypatch.setattr(Folder, "write", write)
    assert worker.made(RUN, ("train",))
    assert states == ["waiting"] * busy + ["running", "done"]


def test_a_full_disk_is_named_before_dvc_tries_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)
    worker = Worker(tmp_path, tmp_path, tmp_path, "")
    worker.checked()
    full = shutil.disk_usage(tmp_path)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(Failed, match=r"the disk is full: make room, then repeat"):
        worker.checked()


def test_threads_are_what_is_asked_for_or_what_slurm_grants(monkeypatch):
    for name in ("STRATA_THREADS", "SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"):
        monkeypatch.delenv(name, raising=False)
    assert granted() >= 1
    asked = {"SLURM_CPUS_ON_NODE": 8, "SLURM_CPUS_PER_TASK": 4, "STRATA_THREADS": 3}
    for name, count in asked.items():
        monkeypatch.setenv(name, str(count))
        assert granted() == count


def git(*words: str) -> str:
    own = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    return subprocess.run(["git", *own, *words], capture_output=True, text=True, check=True).stdout


def test_a_worker_gets_what_is_not_committed_and_nothing_here_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    Path("src").mkdir()
    Path("params.yaml").write_text("n: 6\n")
    Path("notes").write_text("mine")
    git("add", "params.yaml")
    git("commit", "--quiet", "--message", "first")
    assert pin.revision(carry=False) == (git("rev-parse", "HEAD").strip(), [])
    Path("params.yaml").write_text("n: 7\n")
    Path("src/new.py").write_text("x = 1\n")
    before = git("status", "--porcelain")
    revision, changed = pin.revision()
    assert changed == ["params.yaml", "src/new.py"]
    assert git("show", f"{revision}:params.yaml") == "n: 7\n"
    assert git("show", f"{revision}:src/new.py") == "x = 1\n"
    assert git("status", "--porcelain") == before and git("rev-parse", pin.KEPT).strip() == revision
    with pytest.raises(InputError, match=r"params\.yaml: is not as in git's last commit"):
        pin.revision(carry=False)


GATHER = f"""
import json
from ops.grid import gather
print(json.dumps(gather.gather(["{RUN}"]).run))
"""


def test_what_is_gathered_is_what_dvc_restores_stage_by_stage(made, tmp_path):
    project = copied(made, tmp_path)
    lock, outputs = project.folder / "pipelines" / "runs" / "dvc.lock", project.outputs()
    before = read_yaml(lock)
    kept = {k: v for k, v in outputs.items() if k.startswith(("data/metrics", "data/train"))}
    for path in (lock, *(project.folder / name for name in kept)):
        path.unlink()
    project.dvc("repro", "check@runs")  # of no run
    left = json.loads(project.do(sys.executable, "-c", GATHER).splitlines()[-1])
    assert not [stage for stage in left if stage.endswith(f"@{RUN}")]
    assert {name: project.outputs()[name] for name in kept} == kept
    assert read_yaml(lock) == before and {*os.listdir(lock.parent)} == {"dvc.yaml", "dvc.lock"}
    assert project.dvc("repro", f"page@{RUN}", f"logits@{RUN}", f"embedding@{RUN}") == set()


def test_a_command_of_dvc_that_fails_says_why(made, monkeypatch):
    monkeypatch.chdir(made.folder)
    with pytest.raises(InputError, match=r"^dvc fetch: ERROR: .* remote 'nosuch' doesn't exist$"):
        gather.gather([RUN], "nosuch")
