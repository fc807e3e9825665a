"""Who does what, and what is seen of it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import RUN

from ops.calls import last_line
from ops.grid import pin, pool, watch
from ops.grid.grid import Asked
from ops.grid.logs import Logs
from ops.grid.pool import Seen
from ops.grid.tasks import chosen, dealt, makespan, trains
from ops.grid.worker import Failed, Worker, granted
from strata.run import InputError

SECONDS = st.dictionaries(st.integers(1, 99).map("n6-s{}".format), st.floats(0.1, 100), min_size=1)


@given(SECONDS, st.integers(1, 8), st.data())
def test_every_run_is_in_one_task_and_a_training_in_one_of_its_own(took, batches, data):
    trained = {run for run in took if data.draw(st.booleans())}
    todo = {x: [f"train@{x}"] * (x in trained) + [f"studies/dvc.yaml:metrics@{x}"] for x in took}
    found = dealt(took, todo, batches)
    assert sorted(run for task in found for run in task) == sorted(took)
    alone = [task for task in found if any(trains(todo[run]) for run in task)]
    assert all(len(task) == 1 for task in alone) and len(alone) == len(trained)
    others = [sum(took[run] for run in task) for task in found if task not in alone]
    assert len(others) == min(batches, len(took) - len(trained))
    if others:  # the greedy bound: no task exceeds the mean by more than the longest run
        assert max(others) <= sum(others) / len(others) + max(took.values()) + 1e-9


@given(st.lists(st.floats(0.1, 100), min_size=1), st.integers(1, 64))
def test_workers_take_at_least_their_share_and_at_most_a_task_more(took, at_once):
    seconds, share = makespan(took, at_once), sum(took) / at_once
    assert max(share, max(took)) - 1e-6 <= seconds <= share + max(took) + 1e-6
    assert makespan(took, 1) == pytest.approx(sum(took))


def test_squeue_is_read_by_the_widths_that_it_was_asked_for():
    words = [["0", "RUNNING", "n1", "None", "0"], ["1-3", "PENDING", "", "Priority", "0"]]
    lines = ["".join(map(str.ljust, row, pool.FIELDS.values())) for row in words]
    assert pool.rows("\n".join(lines)) == [words[0]]


def test_a_task_that_no_time_will_start_is_told_from_one_that_waits():
    assert not pool.impossible({0: Seen("PENDING", reason="Resources"), 1: Seen("RUNNING")})
    for reason in ("PartitionTimeLimit", "BadConstraints", "JobHeldUser"):
        said = pool.impossible({0: Seen("PENDING", reason=reason)})
        assert said.startswith(f"SLURM: {reason}: ")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"RUNS": "n7-s1"}, "RUNS = n7-s1: must be listed in dvc.yaml or studies/runs.yaml"),
        ({"RUNS": "n7"}, "run = 'n7': must look like"),
        ({"ON": "pbs"}, "ON = pbs: must be slurm, or nothing"),
        ({"ARGS": "--time=1"}, "ARGS = --time=1: is for sbatch"),
        ({"ON": "slurm"}, "ON = slurm: sbatch and squeue are not here"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(asked, named, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=f"^{re.escape(named)}"):
        chosen(Asked.given(asked).runs, [RUN])


def test_the_log_says_what_became_of_a_run_and_how_far_it_is(tmp_path):
    logs = Logs(tmp_path)
    assert (logs.state(RUN), logs.progress(RUN), logs.threads(RUN)) == ("", "", 0)
    logs.say(RUN, "running on n1, with 2 threads")
    with logs.open(RUN) as file:
        file.write("Running stage 'train@n6-s1':\n> python\nn6-s1  epoch 100/25000  30 min left\n")
    assert logs.state(RUN).startswith("running on n1") and logs.threads(RUN) == 2
    assert logs.progress(RUN) == "n6-s1  epoch 100/25000  30 min left"
    logs.say(RUN, "done")
    assert (logs.state(RUN), logs.progress(RUN)) == ("done", "")


def test_why_a_stage_failed_is_its_own_last_line_or_else_dvcs():
    dvc = "ERROR: failed to reproduce 'train@n6-s1': failed to run: python stages/train.py"
    assert last_line(f"Running stage 'train@n6-s1':\ntrain: bad\n{dvc}\n\n") == "train: bad"
    assert last_line(f"Running stage 'train@n6-s1':\n> python\n{dvc}\n") == dvc
    assert last_line("") == ""


RUNS_ON = "running on n1, with 1 threads"


@pytest.mark.parametrize(
    ("written", "seen", "said"),
    [
        ("", Seen("PENDING", reason="Priority"), "pending"),
        ("", Seen("PENDING", reason="BeginTime"), "pending: BeginTime"),
        (RUNS_ON, Seen("RUNNING", "n1"), "running on n1"),
        (RUNS_ON, Seen("PENDING", reason="BeginTime"), "pending: BeginTime"),  # requeued
        ("stopped", Seen("RUNNING", "n2"), "pending"),
        ("waits on n1 for", Seen("RUNNING", "n1"), "waits on n1"),
        ("pending", Seen("RUNNING"), "pending"),
        ("done", None, "done"),
        ("", Seen("COMPLETED", "n1"), "done on n1"),
        ("failed: why", Seen("FAILED", "n1", code=1), "failed: why"),
        (RUNS_ON, Seen("TIMEOUT", "n1"), "ended: its time was over: the same command goes on"),
        (RUNS_ON, Seen("NODE_FAIL", "n1"), "ended: n1 was lost: the same command goes on"),
        ("stopped", Seen("CANCELLED"), "ended: it was cancelled: the same command goes on"),
        ("", Seen("FAILED", "n3", code=66), "ended: n3 does not have"),
        ("", Seen("FAILED", "n3", code=73), "ended: n3 may not write in"),
        ("", Seen("FAILED", "n3", code=9), "ended: FAILED, exit code 9"),
    ],
)
def test_what_is_shown_of_a_run(written, seen, said, tmp_path):
    logs = Logs(tmp_path)
    if written:
        logs.say(RUN, written)
    row = watch.row(RUN, seen, logs)
    assert row.said.startswith(said) and row.over == said.startswith(("done", "failed", "ended"))


def test_a_full_disk_is_named_before_dvc_tries_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)
    worker = Worker(tmp_path, tmp_path, tmp_path)
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
    assert pin.revision() == (git("rev-parse", "HEAD").strip(), [])
    Path("params.yaml").write_text("n: 7\n")
    Path("src/new.py").write_text("x = 1\n")
    before = git("status", "--porcelain")
    revision, changed = pin.revision()
    assert changed == ["params.yaml", "src/new.py"]
    assert git("show", f"{revision}:params.yaml") == "n: 7\n"
    assert git("show", f"{revision}:src/new.py") == "x = 1\n"
    assert git("status", "--porcelain") == before and git("rev-parse", pin.KEPT).strip() == revision
