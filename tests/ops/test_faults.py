"""Faults injected into the tiny pipeline, for real: what the user sees, and that the documented
command recovers."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import anywhere
import psutil
import pytest
from tiny import DVC, PACKS, RUN, Project, called, copied

from ops import files, shipped

PAPER = (sys.executable, "-m", "ops.paper")
METRICS, FIGURE = f"data/metrics/{RUN}.json", "fig01-hierarchy"
SEED = 9  # of the moments; what happens in them still differs from machine to machine
KILLS = {"figure": 3, "drawing": 3, "repro": 8, "paper": 4}


@pytest.fixture
def project(made, tmp_path) -> Project:
    return copied(made, tmp_path)


@pytest.fixture
def clone(made, tmp_path) -> Project:
    """A fresh clone."""
    return anywhere.cloned(made, tmp_path / "clone")


def results(project: Project) -> dict[str, str]:
    """All outputs whose bytes do not tell the time that the training took, without what a figure
    is drawn in."""
    found = project.outputs().items()
    return {k: v for k, v in found if not re.search(r"environment\.json$|/\.figures-", k)}


def started(project: Project, *command: str) -> subprocess.Popen:
    """A command that leads a process group of its own, so that all of it can be killed."""
    # SIGINT may be ignored where the tests run in background, and that would be inherited.
    usual = "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start = [sys.executable, "-c", usual + "os.execvp(sys.argv[1], sys.argv[1:])", *command]
    return subprocess.Popen(
        start, cwd=project.folder, env=project.environment, text=True,
        stdin=subprocess.DEVNULL, stdout=-1, stderr=-2, start_new_session=True,
    )  # fmt: skip


def killed(process: subprocess.Popen, how: signal.Signals) -> bool:
    """End the whole group; whether the signal met it alive."""
    with suppress(ProcessLookupError):  # nothing of the group is left
        os.killpg(process.pid, how)
    process.communicate(timeout=120)
    return process.returncode != 0


def drawing(process: psutil.Process) -> list[psutil.Process]:
    """The process that draws, a fork of one beside the stage, as soon as it is there."""
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        found = [x for x in process.children(recursive=True) if x not in process.children()]
        if found:
            return found
        time.sleep(0.01)
    return []


@pytest.mark.parametrize("victim", ["figure", "drawing"])
def test_a_figure_or_what_draws_it_is_killed_and_no_figure_is_half_drawn(project, victim):
    rng, lock = random.Random(SEED), files.locked(project.folder)[FIGURE]
    (switches, words), paths = called(lock["cmd"]), [out["path"] for out in lock["outs"]]
    project.environment |= switches
    expected = results(project)
    kills = 0
    while kills < KILLS[victim]:
        for path in paths:
            (project.folder / path).unlink(missing_ok=True)
        process = started(project, sys.executable, *words)
        drawn = drawing(psutil.Process(process.pid))
        time.sleep(rng.uniform(0, 2))
        with suppress(psutil.NoSuchProcess, IndexError):  # it had come to its end
            (psutil.Process(process.pid) if victim == "figure" else drawn[0]).kill()
        said = process.communicate(timeout=120)[0]
        if process.returncode == 0:
            continue
        kills += 1
        if victim == "drawing":
            assert process.returncode == 1
            assert said.splitlines()[-1].startswith(f"figure: {FIGURE}.ipynb: "), said
        # What draws for a stage that is gone ends by itself.
        assert not psutil.wait_procs(drawn, timeout=60)[1]
        # What is there, as of one that was killed in the end, is whole.
        there = results(project)
        assert all(there[path] == expected[path] for path in paths if path in there)
    project.dvc("repro", "--force", "--single-item", FIGURE)  # else DVC takes its cache
    assert results(project) == expected


def unmade(project: Project) -> None:
    """The project with nothing made, as dvc.lock and its remote still have it."""
    for name in ("data", "figures", "tables", ".dvc/cache"):
        shutil.rmtree(project.folder / name, ignore_errors=True)


def from_nothing(project: Project) -> None:
    """The project with nothing made, and nothing to take it from."""
    unmade(project)
    for name in map(files.lock, files.pipelines(project.folder)):
        (project.folder / name).unlink(missing_ok=True)


def test_dvc_repro_killed_again_and_again_ends_with_the_bytes_of_an_undisturbed_one(project):
    """Everything from nothing; every other time dvc alone is killed, and its stage lives on."""
    rng, expected = random.Random(SEED), results(project)
    project.do("git", "rm", "--quiet", "--cached", "dvc.lock", "runs/dvc.lock")
    project.do("git", "commit", "--quiet", "--message", "from nothing")
    from_nothing(project)
    kills = 0
    while kills < KILLS["repro"]:
        process = started(project, *DVC, "repro")
        assert process.stdout
        begun, goal = 0, rng.randint(1, 2)
        while begun < goal and (line := process.stdout.readline()):
            begun += line.startswith("Running stage")
        time.sleep(rng.uniform(0, 1))
        if kills % 2:
            process.kill()
            process.communicate(timeout=600)  # its output ends where its orphan's does
        else:
            killed(process, signal.SIGKILL)
        kills += process.returncode != 0
        if process.returncode == 0:  # all was made
            from_nothing(project)
        found = results(project)
        assert all(found[path] == expected[path] for path in found if path in expected)
    project.do(*DVC, "repro")
    assert results(project) == expected
    assert project.dvc("repro") == set()


def test_a_lock_that_lacks_trainings_is_refused_before_they_are_made_again(project):
    path = project.folder / "runs" / "dvc.lock"
    text = path.read_text()
    path.write_text(text[: text.index(f"  train@{RUN}:")])  # whole YAML
    refused = "runs/dvc.lock: lacks what git's last commit has in it: make back, repeat"
    shutil.rmtree(project.folder / ".dvc" / "cache" / "runs")  # where DVC would find them again
    done = project.run(*DVC, "repro")
    assert done.returncode and f"files: {refused}" in done.stdout
    path.write_text(text[: text.index(f"  train@{RUN}:")])
    for name in ("plan", "grid.grid"):
        said = project.run(sys.executable, "-m", f"ops.{name}").stdout
        assert said == f"{name.partition('.')[0]}: {refused}\n"
    said = project.do(*PAPER)
    assert "runs/dvc.lock was cut off: that of git's last commit is used" in said
    assert path.read_text() == text and "train@" not in said


def torn(project: Project) -> None:
    """As after a power cut, what DVC wrote last ends half-way: in its folders and lock files."""
    own = (project.folder / ".dvc" / name for name in ("tmp", "cache"))
    folders = (*own, project.folder.parent / "site")
    found = [x for folder in folders for x in folder.rglob("*") if x.is_file() and x.stat().st_size]
    newest = sorted(found, key=lambda path: path.stat().st_mtime)[-8:]
    changed = project.do("git", "diff", "--name-only", "*.lock").split()
    for path in (*newest, *(project.folder / name for name in changed)):
        mode = path.stat().st_mode
        path.chmod(0o644)
        os.truncate(path, path.stat().st_size // 2)
        path.chmod(mode)


def test_make_paper_interrupted_again_and_again_brings_everything_in_the_end(made, clone):
    """Every other time it is killed, and what was written last is torn."""
    rng, expected, kills = random.Random(SEED), results(made), 0
    while kills < KILLS["paper"]:
        process = started(clone, *PAPER)
        time.sleep(rng.uniform(0, 8))
        how = (signal.SIGINT, signal.SIGKILL)[kills % 2]
        if not killed(process, how):  # all was made
            unmade(clone)
            continue
        kills += 1
        if how == signal.SIGKILL:
            torn(clone)
        found = results(clone)
        assert all(found[path] == expected[path] for path in found if path in expected)
    clone.do(*PAPER)
    assert results(clone) == expected
    assert "up to date" in clone.do(*PAPER)
    assert clone.do("git", "status", "--porcelain") == ""


def test_make_paper_waits_for_a_dvc_that_is_at_work_and_then_finds_its_work_done(project):
    project.set("variance", 0.9)
    with started(project, *DVC, "repro") as other:
        assert other.stdout and other.stdout.readline()
        said = project.do(*PAPER)
    assert other.returncode == 0
    waits, *_, last = said.splitlines()
    assert waits.endswith("waiting for its end") and last.startswith("up to date")


UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
FULL = "mount -t tmpfs -o size=16k,mode=755 full $0 && { cat /dev/zero > $0/filler; true; }"


def filled(project: Project, folder: str, *words: str) -> tuple[int, str, set[str]]:
    """Exit code and words of a dvc command while the folder is full, and what the folder holds
    then. The mount is seen by that command alone and needs no root."""
    if not shutil.which("unshare") or project.run(*UNSHARE, "true").returncode:
        pytest.skip("this system lets nobody mount a file system of their own")
    script = f'{FULL} && {{ "$@"; code=$?; echo; find $0 -type f; exit $code; }} 2>&1'
    done = project.run(*UNSHARE, script, folder, *DVC, *words)
    said, _, left = done.stdout.rpartition("\n\n")
    return done.returncode, said, set(left.split())


@pytest.mark.parametrize(
    ("folder", "stage"),
    [
        ("data/metrics", f"{files.RUNS}:metrics@{RUN}"),
        ("figures", FIGURE),
        (".dvc/cache", "tables"),
    ],
)
def test_a_full_disk_ends_the_stage_and_nothing_half_written_stays(project, folder, stage):
    before, lock = results(project), files.locked(project.folder)
    words = ("repro", "--force", "--single-item", stage)
    code, said, left = filled(project, folder, *words)
    assert code != 0 and "No space left on device" in said, said
    assert not {name for name in left if "/." not in name} - {f"{folder}/filler"}
    assert files.locked(project.folder) == lock
    project.do(*DVC, "repro")  # with room again
    assert results(project) == before


ROOM = (1, 3)  # MiB for all that make paper brings, more than 4
# Project, what is said, copies of what there is in the end, room … ; the disk is seen here alone.
ON_A_FULL_DISK = """
from=$0 said=$1 copies=$2; shift 2
mount -t tmpfs -o size=256m,mode=755 full disk && cd disk && git clone --quiet $from project || exit
cd project
for room; do
    rm -rf .dvc/cache remote data figures tables
    head -c $((($(df --output=avail -B1 . | tail -1)) - room * 1048576)) /dev/zero >../filler
    python -m ops.paper >>$said 2>&1 && echo "$room: enough" >>$said
    rm ../filler
    python -m ops.paper >>$said 2>&1 && dvc status --quiet || exit
    mkdir $copies/$room && cp -r data figures tables $copies/$room
done
"""


def test_after_a_full_disk_make_paper_brings_everything(made, tmp_path):
    for name in ("disk", "copies"):
        (tmp_path / name).mkdir()
    on_disk = Project(tmp_path / "disk" / "project")
    on_disk.environment["DVC_SITE_CACHE_DIR"] = str(tmp_path / "disk" / "site")
    on_disk.folder = tmp_path
    if not shutil.which("unshare") or on_disk.run(*UNSHARE, "true").returncode:
        pytest.skip("this system lets nobody mount a file system of their own")
    said, rooms = tmp_path / "said", map(str, ROOM)
    arguments = (str(made.folder), str(said), str(tmp_path / "copies"), *rooms)
    done = on_disk.run(*UNSHARE, ON_A_FULL_DISK, *arguments)
    assert done.returncode == 0, done.stdout + said.read_text()
    assert "enough" not in said.read_text()
    for room in ROOM:
        assert results(Project(tmp_path / "copies" / str(room))) == results(made)


def stored(project: Project, path: str, folder: str = "remote") -> Path:
    """The object of an output in the project's remote, or in another folder."""
    out = shipped.Outs(files.locked(project.folder)).by_path[path]
    return shipped.at(out.md5, project.folder / folder)


def damage(at: Path, how: str) -> None:
    """Truncate, flip one bit of, or delete an object."""
    content = bytearray(at.read_bytes())
    at.chmod(0o644)
    content[len(content) // 2] ^= 1
    if how == "missing":
        at.unlink()
    else:
        at.write_bytes(content if how == "flipped" else content[: len(content) // 2])


SWAPPED = ("figures/fig01-hierarchy.pdf", "tables/moduli.csv")


def test_damaged_objects_of_the_remote_are_not_pulled_and_make_paper_unpacks_them(made, clone):
    clone.do(*PACKS)
    harmed = {METRICS: "truncated", "figures/fig01-hierarchy.png": "flipped"}
    harmed |= {"tables/claims.csv": "missing"}
    for path, how in harmed.items():
        damage(stored(clone, path), how)
    one, other = (stored(clone, path) for path in SWAPPED)
    away = one.rename(one.with_suffix(".away"))
    other.rename(one)
    away.rename(other)
    done = clone.run(*DVC, "pull")
    assert done.returncode == 1 and "ERROR" in done.stdout
    assert not {*harmed, *SWAPPED} & set(clone.outputs())
    assert clone.run(*DVC, "status", "--quiet").returncode == 1
    clone.do(*PAPER)
    assert results(clone) == results(made)
    assert all(stored(clone, x).read_bytes() == stored(made, x).read_bytes() for x in harmed)
    clone.do(*DVC, "status", "--quiet")


def test_what_dvc_copied_from_a_damaged_object_of_its_cache_is_made_anew(project):
    """DVC takes a read-only object for what its name says, and the copy for the object."""
    expected, path = results(project), project.folder / METRICS
    at = stored(project, METRICS, ".dvc/cache")
    damage(at, "truncated")
    at.chmod(0o444)
    path.unlink()
    project.do(*DVC, "checkout")
    assert path.read_bytes() != expected[METRICS]
    assert "was damaged: deleted" in project.do(*PAPER)
    assert results(project) == expected
    assert "up to date" in project.do(*PAPER)


def test_a_table_edited_by_hand_is_kept_before_it_is_made_again(project):
    before, table = results(project), project.folder / "tables" / "moduli.md"
    table.unlink()
    table.write_text("mine")
    assert "tables/moduli.md is not as recorded: it was copied to " in project.do(*PAPER)
    assert results(project) == before
    assert (project.folder / ".dvc/tmp/replaced/tables/moduli.md").read_text() == "mine"
