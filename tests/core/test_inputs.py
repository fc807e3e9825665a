"""What may be input: nothing that never ends or unpacks to more than memory holds."""

import os
import sys
from pathlib import Path

import pytest

from strata import store
from strata.inputs import InputError
from strata.run import command, read_yaml

READERS = {
    "bytes": store.read_bytes,
    "tensors": store.read_tensors,
    "history": store.read_history,
    "yaml": read_yaml,
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_regular_file_is_refused_unread(name, tmp_path):
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it: to open it would be to wait for ever
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match=f"^{path}: must be a regular file"):
            READERS[name](path)
    with pytest.raises(InputError, match=f"^{tmp_path}: must be a regular file$"):
        READERS[name](tmp_path)
    with pytest.raises(InputError, match=r"x: No such file or directory$"):
        READERS[name](tmp_path / "x")


@pytest.mark.parametrize("name", ["bytes", "tensors", "yaml"])
def test_a_file_too_large_to_be_read_whole_is_refused_unread(name, tmp_path):
    with (tmp_path / "x").open("wb") as file:
        file.truncate(2**32)  # it has holes alone and takes no room
    with pytest.raises(InputError, match=r"x: 4294967296 bytes, must be at most \d+$"):
        READERS[name](tmp_path / "x")


def words_of_main(monkeypatch, *words: str) -> list[tuple[str, ...]]:
    """Return what a script of two arguments and more gets from these words."""
    calls = []

    def main(folder: str, split_path: str, *names: str) -> None:
        calls.append((folder, split_path, *names))

    monkeypatch.setattr(sys, "argv", ["stages/x.py", *words])
    command(main)
    return calls


def test_a_script_gets_its_words_or_says_what_they_must_be(monkeypatch):
    for words in (("a", "b"), ("a", "b", "c", "d")):
        assert words_of_main(monkeypatch, *words) == [words]
    with pytest.raises(SystemExit) as end:
        words_of_main(monkeypatch, "a")
    assert end.value.code == "x: called with 1 arguments: must be FOLDER SPLIT-PATH NAMES"


def test_a_script_shows_no_code_of_a_terminal(monkeypatch):
    def main() -> None:
        raise InputError("\x1b[2Jnothing … here")

    monkeypatch.setattr(sys, "argv", ["stages/x.py"])
    with pytest.raises(SystemExit) as end:
        command(main)
    assert end.value.code == "x: ?[2Jnothing … here"
