"""What killed processes, full disks and power cuts leave is put right or named, nothing else."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dvc.lock import make_lock
from dvc.repo import Repo

from ops import back, files, recover
from ops.calls import check_out
from ops.git import ANYBODY, git, why_experiments_fail
from strata.inputs import InputError

STAGES = "stages:\n  a:\n    cmd: x\n  b:\n    cmd: x\n  c:\n    cmd: x\n"
LOCK = "schema: '2.0'\n" + STAGES
WAIT = "import sys; print(flush=True); sys.stdin.read()"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """Return an empty project in a git repository, in which the tests run."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".dvc" / "tmp").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("inside", "words", "writes"),
    [(True, ["repro"], True), (True, ["exp", "show"], False), (False, ["repro"], False)],
)
def test_dvc_is_at_work_where_a_living_process_of_it_writes_in_the_project(
    inside, words, writes, project, tmp_path_factory
):
    # Its list may be wrong: another program may have the number of a process that has ended.
    other_folder = tmp_path_factory.mktemp("other")
    program, rwlock = other_folder / "dvc", project / ".dvc" / "tmp" / "rwlock"
    program.write_text(WAIT)
    command = [sys.executable, str(program), *words]
    folder = project if inside else other_folder
    with subprocess.Popen(command, stdin=-1, stdout=-1, cwd=folder) as process:
        assert process.stdout and process.stdout.readline()
        entry = {"pid": process.pid, "cmd": "dvc repro"}
        rwlock.write_text(json.dumps({"write": {"/data": entry}, "read": {"/src": [entry]}}))
        assert bool(recover.busy()) == rwlock.exists() == writes
        process.kill()


def test_the_list_of_a_killed_dvc_is_deleted_while_none_has_its_lock(project):
    rwlock = project / ".dvc" / "tmp" / "rwlock"
    rwlock.write_text('{"write": {"/da')
    lock = recover.try_lock(project / ".dvc" / "tmp" / "lock")
    assert lock and recover.busy() and rwlock.exists()
    lock.close()
    assert not recover.busy() and not rwlock.exists()


def test_where_dvc_locks_by_links_its_lock_is_seen_and_no_other_is_left_that_bars_it(project):
    (project / ".dvc" / "config").write_text("[core]\nhardlink_lock = true\n")
    path = project / ".dvc" / "tmp" / "lock"
    lock = make_lock(str(path), tmp_dir=str(path.parent), hardlink_lock=True)
    with lock:
        assert ".dvc/tmp/lock, which you may delete" in recover.busy()
    others = [path, path.with_name("rwlock.lock")]
    for other in others:
        other.write_text(" 123\n")  # as DVC leaves them without this setting
    assert not recover.busy() and not any(x.exists() for x in others)
    with lock:
        assert recover.busy()


@pytest.fixture
def lock(project) -> Path:
    """Write a pipeline of three stages and its lock, commit both, and return the lock."""
    (project / "dvc.yaml").write_text(STAGES)
    (project / "dvc.lock").write_text(LOCK)
    git("add", "dvc.yaml", "dvc.lock")
    git(*ANYBODY, "commit", "--quiet", "--message", "x")
    return project / "dvc.lock"


def test_a_lock_file_cut_off_anywhere_or_with_a_merge_in_it_is_refused(lock):
    for cut in (0, 9, len("schema: '2.0'\n"), LOCK.index("  b:"), LOCK.index("  c:"), -11, -7, -1):
        lock.write_text(LOCK[:cut])
        with pytest.raises(InputError, match=r"^dvc\.lock: lacks .*: make back, repeat$"):
            files.refuse_cut_off()
    lock.write_text(LOCK.replace("  b:", "<<<<<<< HEAD\n  b:\n=======\n  b2:\n>>>>>>> other"))
    with pytest.raises(InputError, match=r"^dvc\.lock: has the markers of a merge: make merge"):
        files.refuse_cut_off()


def test_a_lock_is_taken_back_whatever_the_name_of_its_folder(lock):
    study = lock.parent / "studies" / "größe 1"
    study.mkdir(parents=True)
    for path in (lock, lock.with_suffix(".yaml")):
        shutil.copy(path, study)
    git("add", "studies")
    git(*ANYBODY, "commit", "--quiet", "--message", "a study")
    for path in (lock, study / "dvc.lock"):
        path.write_text(LOCK.replace("x", "y"))
    assert back.restore_tracked() == []
    assert lock.read_text() == (study / "dvc.lock").read_text() == LOCK


def test_a_lock_file_with_other_stages_or_other_values_is_whole(lock):
    for text in (LOCK, LOCK.replace("x", "y"), LOCK + "  d:\n    cmd: x\n"):
        lock.write_text(text)
        files.refuse_cut_off()
    Path("dvc.yaml").write_text(STAGES.replace("  c:\n    cmd: x\n", ""))  # as dvc remove does
    lock.write_text(LOCK.replace("  c:\n    cmd: x\n", ""))
    files.refuse_cut_off()


def test_what_dvc_remembers_is_not_used_again_though_it_cannot_be_opened(project, monkeypatch):
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(project / "site"))
    with Repo.init(no_scm=True, force=True) as repo:
        folder = Path(repo.site_cache_dir)
    (database,) = (folder / "hashes").rglob("cache.db")
    os.truncate(database, 5000)
    with pytest.raises(InputError, match=r"^dvc checkout: ERROR: "):
        check_out("")
    recover.forget()
    assert check_out("") == []


def test_what_killed_writes_left_beside_outputs_is_deleted_and_nothing_else(project):
    partial = [Path("data/forward/.n6-s1.parquet.4134.tmp"), Path("zeros/tables/.a.csv.7.tmp")]
    partial += [Path("figures/.figures-x7/fig01.png"), Path("zeros/figures/.figures-y/a.svg")]
    complete = [Path("data/forward/n6-s1.parquet"), Path("data/.hidden"), Path("src/.a.csv.7.tmp")]
    for path in (*partial, *complete):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    recover.delete_partial()
    assert not any(x.exists() for x in partial) and all(x.exists() for x in complete)


def test_empty_folders_of_the_run_cache_are_deleted_and_named_and_others_stay(project):
    runs = recover.cache() / "runs"
    for name in ("ab/abc", "ab/abd"):
        (runs / name).mkdir(parents=True)
    (runs / "ab" / "abd" / "entry").write_text("cmd: x\n")
    [line] = recover.delete_empty()
    assert "ab/abc" in line and "abd" not in line
    assert sorted(x.name for x in runs.rglob("*")) == ["ab", "abd", "entry"]
    assert not list(recover.delete_empty())


def message(name: str, number: str) -> str:
    """Return a message of DVC's queue about an experiment of that name."""
    body = base64.b64encode(json.dumps([[{"name": name}], {}, {}]).encode()).decode()
    return json.dumps({"headers": {"id": number, "task": "dvc.tasks.run_exp"}, "body": body})


def test_what_killed_experiments_left_is_deleted_and_named_and_what_is_queued_or_used_stays(lock):
    top = recover.EXPERIMENTS.resolve()
    texts = {
        "tmpdead/data/x": "",
        "tmpused/x": "",
        "standalone/tmpdead/x": "",
        "run/1/1.run": json.dumps({"root_dir": f"{top}/tmpdead", "name": "killed"}),
        "run/2/2.run": json.dumps({"root_dir": f"{top}/tmpused", "name": "lives"}),
        "run/3/3.run": json.dumps({"root_dir": f"{top}/tmpgone", "name": "over"}),
        "standalone/run/4/4.run": '{"root_dir": "/',
        "celery/broker/in/5.celery.msg": message("queued", "5"),
        "celery/broker/processed/6.celery.msg": message("begun", "6"),
        "celery/broker/processed/7.celery.msg": message("ended", "7"),
        "celery/broker/processed/8.celery.msg": message("recorded", "8"),
        "celery/result/celery-task-meta-7": "{}",
        "celery/broker/in/9.celery.pidbox.msg": "{}",
    }
    for name, text in texts.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    for name in ("temp/head-1", "12/3456/recorded"):
        git("update-ref", f"refs/exps/{name}", "HEAD")
    with subprocess.Popen(
        [sys.executable, "-c", WAIT], stdin=-1, stdout=-1, cwd=top / "tmpused"
    ) as process:
        assert process.stdout and process.stdout.readline()
        first, *_ = recover.clear_experiments()
        process.kill()
    assert first.startswith("begun, killed: ")
    left = {str(x.relative_to(top)) for x in top.rglob("*") if x.is_file()}
    gone = {"tmpdead/data/x", "standalone/tmpdead/x", "run/1/1.run"}
    gone |= {"celery/broker/in/9.celery.pidbox.msg"}
    gone |= {f"celery/broker/processed/{x}.celery.msg" for x in (6, 8)}
    assert left == texts.keys() - gone
    refs = git("for-each-ref", "refs/exps").splitlines()
    assert [x.split("/")[-1] for x in refs] == ["recorded"]


def test_what_git_lacks_for_experiments_is_named(tmp_path, monkeypatch):
    for name, value in (("HOME", str(tmp_path)), ("GIT_CONFIG_NOSYSTEM", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    assert "no user.name and no user.email" in why_experiments_fail()
    git("config", "user.email", "a@b")
    assert "no user.name, which" in why_experiments_fail()
    git("config", "user.name", "a")
    assert why_experiments_fail() == ""
