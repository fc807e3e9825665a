"""What killed processes, full disks and power cuts leave is put right or named, nothing else."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dvc.repo import Repo

from ops import recover
from strata.inputs import InputError

STAGES = "stages:\n  a:\n    cmd: x\n  b:\n    cmd: x\n  c:\n    cmd: x\n"
LOCK = "schema: '2.0'\n" + STAGES
WAIT = "import sys; print(flush=True); sys.stdin.read()"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty project in a git repository, to which the tests go."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".dvc" / "tmp").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["here", "elsewhere"])
def process(request, here, tmp_path_factory) -> Iterator[tuple[bool, int]]:
    """A process of DVC, between two stages: whether it is at work here, and its number."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "dvc").write_text(WAIT)
    at = here if request.param == "here" else folder
    command = [sys.executable, str(folder / "dvc")]
    with subprocess.Popen(command, stdin=-1, stdout=-1, cwd=at) as running:
        assert running.stdout and running.stdout.readline()
        yield at == here, running.pid
        running.kill()


def listed(pid: int) -> str:
    one = {"pid": pid, "cmd": "dvc repro"}
    return json.dumps({"write": {"/data": one}, "read": {"/src": [one]}})


def test_dvc_is_at_work_where_a_living_process_of_it_is_here(here, process):
    """Whatever its list says: another program may have the number of one that has ended."""
    works, pid = process
    path = here / ".dvc" / "tmp" / "rwlock"
    path.write_text(listed(pid))
    assert bool(recover.busy()) == path.exists() == works


def test_what_only_reads_and_what_has_called_us_is_not_at_work(here, tmp_path_factory):
    (here / "dvc").write_text(WAIT)
    command = [sys.executable, str(here / "dvc"), "exp", "show"]
    with subprocess.Popen(command, stdin=-1, stdout=-1) as running:
        assert running.stdout and running.stdout.readline()
        assert not recover.busy()
        running.kill()
    called = f"{sys.executable} -c 'from ops import recover; print([recover.busy()])'"
    (here / ".git" / "index.lock").touch()  # as that of a commit whose hook we are
    git = ["git", "-c", f"alias.called=!{called}", "called"]
    assert subprocess.run(git, capture_output=True, text=True).stdout == "['']\n"


@pytest.mark.parametrize("text", ["", listed(2**22 + 1)[:20], '{"pid": ' + "9" * 99, "[" * 10**5])
def test_the_list_of_a_killed_dvc_is_deleted_while_none_has_its_lock(here, text):
    path = here / ".dvc" / "tmp" / "rwlock"
    path.write_text(text)
    lock = recover.taken(here / ".dvc" / "tmp" / "lock")
    assert lock and recover.busy() and path.exists()
    lock.close()
    assert not recover.busy() and not path.exists()


def test_a_git_that_writes_is_waited_for_and_a_lock_that_a_killed_one_left_is_named(here):
    stale = here / ".git" / "refs" / "heads" / "a b.lock"
    stale.touch()
    assert "git is at work here: .git/refs/heads/a b.lock" in recover.busy()
    os.utime(stale, (time.time() - 7300, time.time() - 7300))
    waits = ["git", "-c", "alias.waits=!cat", "waits"]
    with subprocess.Popen(waits, stdin=-1) as running:
        while f"process {running.pid} (git " not in recover.busy():
            time.sleep(0.01)
        running.kill()
    with pytest.raises(InputError, match=f"2 h old, of {stale.owner()}: no git .*: rm '.git/refs"):
        recover.busy()
    assert stale.exists()


def committed(here: Path) -> Path:
    """A pipeline of three stages, and its lock file, in git's last commit."""
    (here / "dvc.yaml").write_text(STAGES)
    path = here / "dvc.lock"
    path.write_text(LOCK)
    git = ["git", "-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    subprocess.run([*git, "add", "dvc.yaml", "dvc.lock"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "x"], check=True)
    return path


def test_a_lock_file_cut_off_anywhere_is_taken_from_git(here):
    path = committed(here)
    for cut in (0, 9, len("schema: '2.0'\n"), LOCK.index("  b:"), LOCK.index("  c:"), -11, -7, -1):
        path.write_text(LOCK[:cut])
        assert [line.split()[0] for line in recover.lock_files()] == ["dvc.lock"], cut
        assert path.read_text() == LOCK


def test_a_lock_file_with_other_stages_or_other_values_stays(here):
    path = committed(here)
    for text in (LOCK, LOCK.replace("x", "y"), LOCK + "  d:\n    cmd: x\n"):
        path.write_text(text)
        assert not [*recover.lock_files()]
        assert path.read_text() == text
    (here / "dvc.yaml").write_text(STAGES.replace("  c:\n    cmd: x\n", ""))  # as dvc remove does
    path.write_text(LOCK.replace("  c:\n    cmd: x\n", ""))
    assert not [*recover.lock_files()]


def test_a_merge_that_is_not_resolved_is_named_and_nothing_changes(here):
    path = committed(here)
    text = LOCK.replace("  b:", "<<<<<<< HEAD\n  b:\n=======\n  b2:\n>>>>>>> other")
    path.write_text(text)
    with pytest.raises(InputError, match=r"^dvc\.lock: has the markers of a merge, must be of"):
        list(recover.lock_files())
    assert path.read_text() == text


def test_what_dvc_remembers_is_not_used_again_though_it_cannot_be_opened(here, monkeypatch):
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(here / "site"))
    with Repo.init(no_scm=True, force=True) as repo:
        folder = Path(repo.site_cache_dir)
    (database,) = (folder / "hashes").rglob("cache.db")
    os.truncate(database, 5000)
    status = [sys.executable, "-m", "dvc", "status", "-q"]
    assert subprocess.run(status, check=False).returncode
    recover.forget()
    subprocess.run(status, check=True)
