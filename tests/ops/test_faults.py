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

import psutil
import pytest
from tiny import DVC, FIGURE, PACKS, RUN, Project, called, cloned, copied

from ops import files, shipped

PAPER = (sys.executable, "-m", "ops.paper")
METRICS = f"data/metrics/{RUN}.json"
SEED = 9  # of the moments; what happens in them still differs from machine to machine
KILLS = {"repro": 4, "paper": 4}


@pytest.fixture
def project(made_project, tmp_path) -> Project:
    return copied(made_project, tmp_path)


@pytest.fixture
def clone(made_project, tmp_path) -> Project:
    return cloned(made_project, tmp_path / "clone")


def results(project: Project) -> dict[str, str]:
    """Return all outputs, except records of training times and the folders in which figures are
    drawn."""
    outputs = project.outputs().items()
    return {k: v for k, v in outputs if not re.search(r"environment\.json$|/\.figures-", k)}


def kill_group(process: subprocess.Popen, how: signal.Signals) -> bool:
    """End the whole group, and return whether the signal reached it alive."""
    with suppress(ProcessLookupError):  # nothing of the group is left
        os.killpg(process.pid, how)
    process.communicate(timeout=120)
    return process.returncode != 0


def drawing_process(stage: psutil.Process) -> psutil.Process:
    """Wait for the process that draws for a stage, a fork of its child, and return it."""
    while not (forks := {*stage.children(recursive=True)} - {*stage.children()}):
        time.sleep(0.01)
    return forks.pop()


@pytest.mark.parametrize("victim", ["stage", "drawing"])
def test_a_killed_figure_is_missing_and_nothing_goes_on_drawing_it(victim, project):
    stage, before = files.locked_stages(project.folder)[FIGURE], results(project)
    switches, words = called(stage["cmd"])
    project.environment |= switches
    for out in stage["outs"]:
        (project.folder / out["path"]).unlink()
    with project.start(sys.executable, *words) as process:
        drawer = drawing_process(psutil.Process(process.pid))
        (process if victim == "stage" else drawer).kill()
        output = process.communicate(timeout=120)[0]
    assert process.returncode and (victim == "stage" or f"figure: {FIGURE}.ipynb: " in output)
    assert not psutil.wait_procs([drawer], timeout=60)[1]
    assert results(project).keys() == before.keys() - {out["path"] for out in stage["outs"]}


def delete_outputs(project: Project) -> None:
    """Delete all outputs, which locks and remote still have."""
    for name in ("data", "figures", "tables", ".dvc/cache"):
        shutil.rmtree(project.folder / name, ignore_errors=True)


def test_dvc_repro_killed_again_and_again_ends_with_the_bytes_of_an_undisturbed_one(project):
    # Every other time dvc alone is killed, and its stage lives on.
    rng, expected, kills = random.Random(SEED), results(project), 0
    project.do("git", "rm", "--quiet", "dvc.lock", "runs/dvc.lock")
    project.do("git", "commit", "--quiet", "--message", "from nothing")
    delete_outputs(project)
    while kills < KILLS["repro"]:
        process = project.start(*DVC, "repro")
        assert process.stdout
        begun, goal = 0, rng.randint(1, 2)
        while begun < goal and (line := process.stdout.readline()):
            begun += line.startswith("Running stage")
        time.sleep(rng.uniform(0, 1))
        if kills % 2:
            process.kill()
            process.communicate(timeout=600)  # its output ends where its orphan's does
        else:
            kill_group(process, signal.SIGKILL)
        kills += process.returncode != 0
        if process.returncode == 0:  # all was made
            delete_outputs(project)
            for name in ("dvc.lock", "runs/dvc.lock"):
                (project.folder / name).unlink()
        outputs = results(project)
        assert all(outputs[path] == expected[path] for path in outputs if path in expected)
    project.do(*DVC, "repro")
    assert results(project) == expected
    assert project.dvc("repro") == set()


def test_a_lock_that_lacks_trainings_is_refused_before_they_are_made_again(project):
    path = project.folder / "runs" / "dvc.lock"
    text = path.read_text()
    path.write_text(text[: text.index(f"  train@{RUN}:")])  # whole YAML
    shutil.rmtree(project.folder / ".dvc" / "cache" / "runs")  # where DVC would find them again
    refused = "runs/dvc.lock: lacks what git's last commit has in it: make back, repeat"
    process = project.run(*DVC, "repro")
    assert process.returncode and f"files: {refused}" in process.stdout
    path.write_text(text[: text.index(f"  train@{RUN}:")])
    for name in ("plan", "grid.grid", "paper"):
        output = project.run(sys.executable, "-m", f"ops.{name}").stdout
        assert output == f"{name.partition('.')[0]}: {refused}\n"
    project.do(sys.executable, "-m", "ops.back")
    assert path.read_text() == text and "train@" not in project.do(*PAPER)


def truncate_newest(project: Project) -> None:
    """Truncate the files that DVC wrote last into its folders, as a power cut does."""
    folders = [project.folder / ".dvc" / x for x in ("tmp", "cache")]
    folders.append(project.folder.parent / "site")
    paths = [x for folder in folders for x in folder.rglob("*") if x.is_file() and x.stat().st_size]
    for path in sorted(paths, key=lambda path: path.stat().st_mtime)[-8:]:
        mode = path.stat().st_mode
        path.chmod(0o644)
        os.truncate(path, path.stat().st_size // 2)
        path.chmod(mode)


def test_make_paper_interrupted_again_and_again_brings_everything_in_the_end(made_project, clone):
    # Every other time the command is killed, and the newest files are truncated.
    rng, expected, kills = random.Random(SEED), results(made_project), 0
    while kills < KILLS["paper"]:
        process = clone.start(*PAPER)
        time.sleep(rng.uniform(0, 8))
        number = (signal.SIGINT, signal.SIGKILL)[kills % 2]
        if not kill_group(process, number):  # all was made
            delete_outputs(clone)
            continue
        kills += 1
        if number == signal.SIGKILL:
            truncate_newest(clone)
        outputs = results(clone)
        assert all(outputs[path] == expected[path] for path in outputs if path in expected)
    clone.do(*PAPER)
    assert results(clone) == expected
    assert "up to date" in clone.do(*PAPER)
    assert clone.do("git", "status", "--porcelain") == ""


UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]

# Project, what is said, copy of what there is in the end. The disk is seen here alone; it has room
# for 1 MiB, which is less than make paper brings.
ON_A_FULL_DISK = """
from=$0 said=$1 copy=$2
mount -t tmpfs -o size=256m,mode=755 full disk && cd disk && git clone --quiet $from project || exit
cd project
head -c $((($(df --output=avail -B1 . | tail -1)) - 1048576)) /dev/zero >../filler
python -m ops.paper >>$said 2>&1 && echo enough >>$said
rm ../filler
python -m ops.paper >>$said 2>&1 && dvc status --quiet && cp -r data figures tables $copy
"""


def test_after_a_full_disk_make_paper_brings_everything(made_project, tmp_path):
    for name in ("disk", "copy"):
        (tmp_path / name).mkdir()
    on_disk = Project(tmp_path / "disk" / "project")
    on_disk.environment["DVC_SITE_CACHE_DIR"] = str(tmp_path / "disk" / "site")
    on_disk.folder = tmp_path
    if not shutil.which("unshare") or on_disk.run(*UNSHARE, "true").returncode:
        pytest.skip("this system lets nobody mount a file system of their own")
    log = tmp_path / "said"
    arguments = (made_project.folder, log, tmp_path / "copy")
    process = on_disk.run(*UNSHARE, ON_A_FULL_DISK, *map(str, arguments))
    assert process.returncode == 0, process.stdout + log.read_text()
    assert "enough" not in log.read_text()
    assert results(Project(tmp_path / "copy")) == results(made_project)


def object_path(project: Project, path: str, folder: str = "remote") -> Path:
    """Return the object of an output in the project's remote, or in another folder."""
    out = shipped.Outs(files.locked_stages(project.folder)).by_path[path]
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


def test_damaged_objects_of_the_remote_are_not_pulled_and_make_paper_unpacks_them(
    made_project, clone
):
    clone.do(*PACKS)
    harmed = {METRICS: "truncated", f"figures/{FIGURE}.png": "flipped"}
    harmed |= {"tables/claims.csv": "missing"}
    for path, how in harmed.items():
        damage(object_path(clone, path), how)
    process = clone.run(*DVC, "pull")
    assert process.returncode == 1 and "ERROR" in process.stdout
    assert not harmed.keys() & clone.outputs().keys()
    clone.do(*PAPER)
    assert results(clone) == results(made_project)
    assert all(
        object_path(clone, x).read_bytes() == object_path(made_project, x).read_bytes()
        for x in harmed
    )


def test_what_dvc_copied_from_a_damaged_object_of_its_cache_is_made_anew(project):
    # DVC trusts the name of a read-only object, and takes the copy for the object.
    expected, path = results(project), project.folder / METRICS
    at = object_path(project, METRICS, ".dvc/cache")
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
