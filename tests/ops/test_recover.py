"""What killed processes, full disks and power cuts leave is deleted or put right, nothing else."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dvc.repo import Repo

from ops import leftovers, recover
from strata.run import InputError

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


@pytest.fixture(params=["dvc", "another program"])
def process(request) -> Iterator[tuple[str, int]]:
    """What a living process looks like, and its number."""
    command = [sys.executable, "-c", WAIT, request.param]
    with subprocess.Popen(command, stdin=-1, stdout=-1) as running:
        assert running.stdout and running.stdout.readline()
        yield request.param, running.pid
        running.kill()


def listed(pid: int) -> dict:
    one = {"pid": pid, "cmd": "dvc repro"}
    return {"write": {"/data": one}, "read": {"/src": [one]}}


LIST = json.dumps(listed(1))


@pytest.mark.parametrize(
    "text", ["", *(LIST[:cut] for cut in (1, 20, -1)), "[1]", '{"read": {"/x": [1]}}', "[" * 10**5]
)
def test_a_list_of_locks_that_cannot_be_read_is_deleted_unless_dvc_is_writing_it(here, text):
    path = here / ".dvc" / "tmp" / "rwlock"
    path.write_text(text)
    with leftovers.held(here / ".dvc" / "tmp" / "rwlock.lock") as mine:
        assert mine
        leftovers.release()
        assert path.exists()
    leftovers.release()
    assert not path.exists()


def test_locks_are_those_of_living_processes_of_dvc(here, process):
    """A process that is no DVC has the number of one that has ended."""
    name, pid = process
    path = here / ".dvc" / "tmp" / "rwlock"
    path.write_text(json.dumps(listed(pid)))
    leftovers.release()
    assert path.exists() == (name == "dvc")
    if path.exists():
        both = listed(pid)
        both["read"]["/src"].append({"pid": 2**22 + 1, "cmd": "dvc pull"})  # no such number
        path.write_text(json.dumps(both))
        leftovers.release()
        assert json.loads(path.read_text()) == listed(pid)


def test_temporary_files_go_where_nobody_can_be_writing_them(here):
    token, gone = "aB3_" * 5 + "-x", 2**22 + 1
    dead = [f"tables/.{token}.tmp", f"tables/seeds.md.{token}.tmp", f".{token}.tmp"]
    dead += [f".dvc/cache/files/md5/00/.{token}.tmp"]
    killed = [f"data/metrics/.a.json.{gone}.tmp", f".summary.json.{gone}.tmp"]
    kept = ["tables/notes.tmp", f"data/.a.json.{os.getpid()}.tmp", "tables/.tmp", "x.tmp"]
    for name in (*dead, *killed, *kept):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).touch()
    with leftovers.held(here / ".dvc" / "tmp" / "lock"):  # as DVC does where it writes
        leftovers.sweep()
        assert not any((here / name).exists() for name in killed)
        assert all((here / name).exists() for name in (*dead, *kept))
    leftovers.sweep()
    assert not any((here / name).exists() for name in dead)
    assert all((here / name).exists() for name in kept)


BOMB = "a: &a [1, 1]\nb: &b [*a, *a]\n"
DEEP = "[" * 10**5


@pytest.mark.parametrize(("text", "code"), [(BOMB, 1), (DEEP, 1), ("a: [", 0), (STAGES, 0)])
def test_a_yaml_file_that_dvc_would_not_survive_is_refused_before_it_is_called(here, text, code):
    """It composes what is nested by recursion in C, and walks over all that aliases stand for."""
    for name in ("params.yaml", "pipelines/runs/dvc.lock", "stages/exact.yaml"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
        command = [sys.executable, "-m", "ops.leftovers"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, len(done.stderr.splitlines())) == (code, code)
        assert done.stderr.startswith(f"paper: {name}: " * code)
        (here / name).unlink()


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


def test_damaged_objects_of_the_cache_go_and_others_stay(here):
    def kept(content: bytes, suffix: str = "") -> tuple[str, Path]:
        md5 = hashlib.md5(content).hexdigest()
        path = here / "md5" / md5[:2] / f"{md5[2:]}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return md5 + suffix, path

    files = [kept(content) for content in (b"whole", b"torn", b"in a folder", b"torn in a folder")]
    of_folder = [{"md5": md5, "relpath": "x"} for md5, _ in files[2:]]
    folder, unnamed = kept(json.dumps(of_folder).encode(), ".dir"), kept(b"of another project")[1]
    for path in (files[1][1], files[3][1], unnamed):
        path.write_bytes(path.read_bytes()[:-1])
        path.chmod(0o444)
    outs = [{"path": "x", "md5": md5} for md5, _ in (*files[:2], folder)]
    outs += [{"path": "x", "md5": "../../victim"}, {"path": "x"}]
    (here / "victim").touch()
    (here / "dvc.lock").write_text("stages: " + json.dumps({"a": {"outs": outs}}))
    damaged = {files[1][1], files[3][1]}
    assert {Path(line.split()[0]) for line in recover.objects(here / "md5")} == damaged
    left = {path for path in (here / "md5").rglob("*") if path.is_file()}
    assert left == {files[0][1], files[2][1], folder[1], unnamed}
    assert (here / "victim").exists()


def test_what_dvc_remembers_is_found_without_opening_it_and_dropped(here, monkeypatch):
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(here / "site"))
    with Repo.init(no_scm=True, force=True) as repo:
        folder = Path(repo.site_cache_dir)
    (database,) = (folder / "hashes").rglob("cache.db")
    database.write_bytes(database.read_bytes()[:5000])
    assert subprocess.run([sys.executable, "-m", "dvc", "status", "-q"], check=False).returncode
    recover.main()
    assert not folder.exists()
    subprocess.run([sys.executable, "-m", "dvc", "status", "-q"], check=True)
