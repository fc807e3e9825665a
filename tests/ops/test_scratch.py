"""Outputs come together or not at all, and what a killed process left is deleted, nothing else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from strata.render import scratch

OWNER = """
import sys
from pathlib import Path
from strata.render import scratch
with scratch.together(Path(sys.argv[1])) as folder:
    (folder / "a").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


def hidden(out: Path) -> list[Path]:
    return list(out.glob(".*"))


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(name)


@pytest.fixture
def owner(tmp_path) -> Iterator[subprocess.Popen]:
    """A process that has a folder in tmp_path and writes to it until its input ends."""
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        yield process
        process.kill()


def folder_of(owner: subprocess.Popen) -> Path:
    assert owner.stdout
    return Path(owner.stdout.readline().strip())


def test_files_take_their_places_together(tmp_path):
    out = tmp_path / "new" / "figures"
    with scratch.together(out) as folder:
        assert folder.parent == out
        write(folder, "a", "b")
        assert not [path for path in out.iterdir() if path != folder]
    assert {path.name: path.read_text() for path in out.iterdir()} == {"a": "a", "b": "b"}


def test_where_the_block_fails_nothing_comes(tmp_path):
    with suppress(KeyError), scratch.together(tmp_path) as folder:
        write(folder, "a")
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_where_one_file_cannot_come_none_does(tmp_path):
    (tmp_path / "b" / "full").mkdir(parents=True)
    with pytest.raises(IsADirectoryError), scratch.together(tmp_path) as folder:
        write(folder, "a", "b", "c")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize("number", scratch.SIGNALS)
def test_a_signal_between_two_renames_waits_for_the_last(tmp_path, monkeypatch, number):
    there, replace = [], os.replace

    def replaced(source: Path, target: Path) -> None:
        replace(source, target)
        os.kill(os.getpid(), number)

    before = signal.signal(number, lambda *_: there.append(len(list(tmp_path.glob("[a-z]")))))
    try:
        monkeypatch.setattr(os, "replace", replaced)
        with scratch.together(tmp_path) as folder:
            write(folder, "a", "b", "c")
    finally:
        signal.signal(number, before)
    assert there == [3, 3, 3]


def test_the_folder_of_a_living_process_stays_and_that_of_a_killed_one_goes(tmp_path, owner):
    folder = folder_of(owner)
    scratch.remove(folder)
    with scratch.together(tmp_path) as own:
        assert set(hidden(tmp_path)) == {folder, own}
    assert hidden(tmp_path) == [folder]
    owner.kill()
    owner.wait()
    assert hidden(tmp_path) == [folder]
    with scratch.together(tmp_path) as own:
        assert hidden(tmp_path) == [own]


def test_a_living_process_ends_as_if_alone(tmp_path, owner):
    folder = folder_of(owner)
    subprocess.run([sys.executable, "-m", "strata.render.scratch", folder], check=True)
    owner.communicate()
    assert owner.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_taken_for_a_dead_ones_before_it_is_locked_is_replaced(tmp_path, monkeypatch):
    """Another process deletes the new folder before its owner has the lock."""
    locked, calls = scratch._locked, []

    def late(folder: Path) -> int:
        calls.append(folder)
        if len(calls) == 1:
            folder.rmdir()
        return locked(folder)

    monkeypatch.setattr(scratch, "_locked", late)
    with scratch.together(tmp_path) as folder:
        assert calls[0] != folder
        write(folder, "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_without_locks_nothing_is_deleted_and_files_come_all_the_same(tmp_path, monkeypatch):
    left = tmp_path / f"{scratch.PREFIX}left"
    left.mkdir()

    def unsupported(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unsupported)
    with scratch.together(tmp_path) as folder:
        write(folder, "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == [left.name, "a"]
