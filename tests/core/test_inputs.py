"""What may be input: nothing that never ends or unpacks to more than memory holds."""

import inspect
import os
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from strata import inputs, store
from strata.run import InputError, command, read_yaml

ROOT = Path(__file__).parents[2]
WHERE = ("stages", "studies/*/stages", "report/stages")
STAGES = sorted(path for folder in WHERE for path in ROOT.glob(f"{folder}/*.py"))
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


def called(monkeypatch, *words: str) -> list[tuple[str, ...]]:
    """What a script of two arguments and more gets from these words."""
    got = []

    def main(folder: str, split_path: str, *names: str) -> None:
        got.append((folder, split_path, *names))

    monkeypatch.setattr(sys, "argv", ["stages/x.py", *words])
    command(main)
    return got


def test_a_script_gets_its_words_or_says_what_they_must_be(monkeypatch):
    for words in (("a", "b"), ("a", "b", "c", "d")):
        assert called(monkeypatch, *words) == [words]
    with pytest.raises(SystemExit) as end:
        called(monkeypatch, "a")
    assert end.value.code == "x: called with 1 arguments: must be FOLDER SPLIT-PATH NAMES"


def test_a_script_without_parameters_reads_its_words_itself():
    assert inputs.arguments(lambda: None, ["--all"]) == ()


OF_A_RUN = [
    path for path in STAGES if re.search(r"def main\(.*\bnames?: str", path.read_text("utf-8"))
]


@pytest.mark.parametrize("script", OF_A_RUN, ids=lambda path: path.stem)
def test_no_stage_takes_a_path_for_a_name(script, tmp_path, monkeypatch):
    """A run is part of paths that are read and written, a notebook of one that is executed."""
    main, bad = runpy.run_path(str(script))["main"], "../../n6-s1"
    words = [
        bad if x in {"name", "names"} else f"../{x}" for x in inspect.signature(main).parameters
    ]
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shutil.copy(ROOT / "params.yaml", tmp_path / "here")
    with pytest.raises(
        InputError, match=f"run = '{bad}': must look like|{bad}.ipynb: no such note"
    ):
        main(*words)
    assert [x.name for x in tmp_path.rglob("*")] == ["here", "params.yaml"]
