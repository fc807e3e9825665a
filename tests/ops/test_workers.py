"""Who does what, and what is seen of it."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from tiny import RUN

from ops.calls import last_line
from ops.git import ANYBODY, git, nameless
from ops.grid import grid, pool, watch
from ops.grid.grid import asked, chosen, dealt, trains
from ops.grid.logs import Logs
from ops.grid.pool import Seen
from ops.grid.worker import Failed, Worker
from strata.inputs import InputError


@drawn(st.dictionaries(st.integers(1, 99).map("n6-s{}".format), st.booleans()), st.integers(1, 8))
def test_every_run_is_in_one_task_and_a_training_in_one_of_its_own(trained, batches):
    own = {True: ["train@{}", "studies/dvc.yaml:metrics@{}"], False: ["metrics@{}"]}
    todo = {run: [x.format(run) for x in own[trained[run]]] for run in trained}
    found = dealt(todo, batches)
    assert sorted(run for task in found for run in task) == sorted(trained)
    alone = [task for task in found if any(trains(todo[run]) for run in task)]
    assert all(len(task) == 1 for task in alone) and len(alone) == sum(trained.values())
    others = [len(task) for task in found if task not in alone]
    assert len(others) == min(batches, len(trained) - len(alone))
    assert not others or max(others) - min(others) <= 1


def test_a_task_that_no_time_will_start_is_told_from_one_that_waits():
    assert not pool.impossible({0: Seen("PENDING", reason="Resources"), 1: Seen("RUNNING")})
    for reason in ("PartitionTimeLimit", "BadConstraints", "JobHeldUser"):
        said = pool.impossible({0: Seen("PENDING", reason=reason)})
        assert said.startswith(f"SLURM: {reason}: ")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"RUNS": "n7-s1"}, "RUNS = n7-s1: must be listed in runs/dvc.yaml or studies/runs.yaml"),
        ({"RUNS": "n7"}, "run = 'n7': must look like"),
        ({"ON": "pbs"}, "ON = pbs: must be slurm, or nothing"),
        ({"ARGS": "--time=1"}, "ARGS = --time=1: is for sbatch"),
        ({"ON": "slurm"}, "ON = slurm: sbatch and squeue are not here"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(given, named, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=f"^{re.escape(named)}"):
        chosen(asked(given).runs, [RUN])


def test_the_log_says_what_became_of_a_run_and_how_far_it_is(tmp_path):
    logs = Logs(tmp_path)
    assert logs.state(RUN) == ("", "")
    logs.say(RUN, "running on n1, with 2 threads")
    line = "n6-s1  epoch 100/25000  30 min left"
    with logs.open(RUN) as file:
        file.write(f"Running stage 'train@n6-s1':\n> python\n{line}\n")
    assert logs.state(RUN) == ("running on n1, with 2 threads", line)
    logs.say(RUN, "done")
    assert logs.state(RUN) == ("done", "")


def test_why_a_stage_failed_is_its_own_last_line_or_else_dvcs():
    dvc = "ERROR: failed to reproduce 'train@n6-s1': failed to run: python stages/train.py"
    assert last_line(f"Running stage 'train@n6-s1':\ntrain: bad\n{dvc}\n\n") == "train: bad"
    assert last_line(f"Running stage 'train@n6-s1':\n> python\n{dvc}\n") == dvc
    assert last_line(f"{dvc}\nHaving any troubles? Hit us up at <https://dvc.org>\n") == dvc
    assert last_line("") == ""


@pytest.mark.parametrize(
    ("written", "seen", "said"),
    [
        ("done", None, "done"),
        ("failed: why", Seen("FAILED", "n1"), "failed: why"),
        ("running on n1", Seen("TIMEOUT", "n1"), "TIMEOUT: the same command goes on"),
        ("stopped", Seen("CANCELLED"), "CANCELLED: the same command goes on"),
        ("stopped", None, "stopped: the same command goes on"),
        ("pending\nno such python", Seen("FAILED", "n3"), "no such python"),
        ("pending", Seen("FAILED", "n3"), "nothing is in its log: n3 may lack this folder"),
    ],
)
def test_how_a_run_ended_is_said_by_its_log_or_else_by_slurm(written, seen, said, tmp_path):
    logs = Logs(tmp_path)
    logs.say(RUN, written)
    assert watch.ended(RUN, seen, logs).startswith(said)


# A site whose sbatch greets, takes no array of more than three tasks and says no number of the job,
# and whose squeue knows what is in the file squeue.
SITE = {
    "sbatch": "echo Hello; case $1 in --array=0-[0-2]) ;; *) exec >&2; echo error: Batch job"
    " submission failed: Invalid job array specification; exit 1 ;; esac; echo $* >>$0.log",
    "squeue": "echo CLUSTER: b; echo $* >>$0.log; cat $0.knows",
    "scancel": "echo $* >>$0.log",
}


def test_a_job_is_followed_and_cancelled_whatever_sbatch_says_and_how_few_tasks_it_takes(
    tmp_path, monkeypatch
):
    for name, text in SITE.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tasks, knows = [[f"n6-s{i}"] for i in range(8)], tmp_path / "squeue.knows"
    knows.write_text("")
    args = ["--time=1", "--clusters=b"]
    job = pool.Array("mine", tasks, pool.cluster(args), time.time(), ["bin"], args)
    seen = job.look()
    assert seen == dict.fromkeys(range(8), Seen("PENDING"))  # squeue does not know it yet
    calls = (tmp_path / "sbatch.log").read_text().splitlines()
    names = [re.findall(r"--job-name=(\S+)", x)[0] for x in calls]
    assert [x for line in calls for x in re.findall(r"n6-s\d", line)] == [x for (x,) in tasks]
    knows.write_text("".join(f"{x}|1|RUNNING|n1|None\n" for x in names) + "other-0|0|RUNNING||\n")
    again = pool.Array("mine", tasks, "b", job.since)  # by the same command, after Ctrl-Z and kill
    for found in (job.look(), again.look()):
        second = [number for number, one in (found or {}).items() if one.state == "RUNNING"]
        assert [tasks[i] for i in second] == [[re.findall(r"n6-s\d", x)[1]] for x in calls]
    again.cancel()
    ended = (tmp_path / "scancel.log").read_text()
    assert set(re.findall(r"--clusters=b .*--name=(\S+)", ended)) == set(names)
    knows.write_text("")
    assert again.look() == {}
    assert (tmp_path / "sbatch.log").read_text().splitlines() == calls


def test_git_without_a_name_is_said(monkeypatch):
    for name in [x for x in os.environ if x.startswith("GIT_") or x == "EMAIL"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("GIT_DIR", os.devnull)
    assert "user.email" in nameless()
    for name in ("NAME", "EMAIL"):
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", "me")
    assert not nameless()


def test_a_full_disk_is_named_before_dvc_tries_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)
    worker = Worker(tmp_path)
    worker.checked()
    full = shutil.disk_usage(tmp_path)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(Failed, match=r"the disk is full: make room, then repeat"):
        worker.checked()


def test_a_worker_gets_what_is_not_committed_and_nothing_here_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    Path("src").mkdir()
    Path("params.yaml").write_text("n: 6\n")
    Path("notes").write_text("mine")
    git("add", "params.yaml")
    git(*ANYBODY, "commit", "--quiet", "--message", "first")
    assert grid.revision() == (git("rev-parse", "HEAD"), [])
    Path("params.yaml").write_text("n: 7\n")
    Path("src/new.py").write_text("x = 1\n")
    before = git("status", "--porcelain")
    revision, changed = grid.revision()
    assert changed == ["params.yaml", "src/new.py"]
    assert git("show", f"{revision}:params.yaml") == "n: 7"
    assert git("show", f"{revision}:src/new.py") == "x = 1"
    assert git("status", "--porcelain") == before
    assert git("rev-parse", grid.KEPT) == revision
