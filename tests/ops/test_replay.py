"""Stages run from locks and remote/, on a project made by hand and without DVC."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ops import replay
from strata.run import InputError

ROOT = Path(__file__).parents[2]
# first adds params.yaml's n to what git tracks, second squares the sum; third, a study, writes both
# to a folder.
SCRIPTS = {
    "first": "open('a','w').write(str(int(open('given').read()) + 3))",
    "second": "open('b','w').write(str(int(open('a').read()) ** 2))",
    "studies/third": (
        "import os; os.makedirs('studies/c')\n"
        "[open('studies/c/'+x,'w').write(open(x).read()) for x in 'ab']"
    ),
}
CONTENTS = {"given": "4", "a": "7", "b": "49"}
FIRST, SECOND, THIRD = "first", "second", "studies/dvc.yaml:third"
# A Python that cannot import DVC, nor what belongs to it.
REFUSED = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0].split("_")[0] == "dvc":
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Refused())
"""


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def keep(folder: Path, name: str, text: str) -> None:
    """Put an object in the remote."""
    path = folder / "remote" / "files" / "md5" / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """given → first → a → second → b; a, b → third → studies/c/. The remote holds a and b."""
    folder = tmp_path / "project"
    (folder / "studies").mkdir(parents=True)
    (folder / ".dvc").mkdir()
    listed = [{"md5": md5(CONTENTS[x]), "relpath": x} for x in "ab"]
    known = {x: md5(text) for x, text in CONTENTS.items()} | {"c": md5(json.dumps(listed)) + ".dir"}

    def stage(path: str, deps: list[str], out: str, cd: str = "") -> dict:
        (folder / f"{path}.py").write_text(SCRIPTS[path])
        named = [{"path": x, "md5": known[x.removeprefix("../")]} for x in deps]
        outs = [{"path": out, "md5": known[out]}]
        return {"cmd": f"{cd}python {path}.py", "deps": named, "outs": outs}

    first = stage("first", ["given"], "a") | {"params": {"params.yaml": {"n": 3}}}
    third = stage("studies/third", ["../a", "../b"], "c", "cd .. && ")
    for name, stages in (
        ("dvc", {"first": first, "second": stage("second", ["a"], "b")}),
        ("studies/dvc", {"third": third}),
    ):
        YAML().dump({"schema": "2.0", "stages": stages}, folder / f"{name}.lock")
        written = {k: {"cmd": v["cmd"].replace("python", "${run}")} for k, v in stages.items()}
        YAML().dump({"vars": [{"run": "python"}], "stages": written}, folder / f"{name}.yaml")
    (folder / "params.yaml").write_text("n: 3\nrun: python\n")
    (folder / "given").write_text(CONTENTS["given"])
    (folder / ".dvcignore").write_text("__pycache__/\n")
    for name in "ab":
        keep(folder, known[name], CONTENTS[name])
    monkeypatch.chdir(folder)
    return folder


def replayed(*targets: str) -> dict[str, list[str]]:
    """The stages that ran, each with its outputs of other bytes."""
    found = replay.Replay()
    order = found.order([name for target in targets for name in found.named(target)])
    return {name: found.run(name) for name in order}


def test_a_stage_is_run_on_what_the_remote_holds(project):
    assert replayed("second") == {SECOND: []}
    assert (project / "a").read_text() == "7" and (project / "b").read_text() == "49"
    assert replayed("studies/c/a", "dvc.yaml:first") == {FIRST: [], THIRD: []}
    made = (project / "studies" / "c").iterdir()
    assert {x.name: x.read_text() for x in made} == {"a": "7", "b": "49"}


def test_what_the_remote_lacks_or_has_damaged_is_made_first(project):
    keep(project, md5("7"), "8")
    assert list(replayed("second")) == [FIRST, SECOND]
    for path in (project / "a", project / "b"):
        path.unlink()
    (project / "remote").rename(project / "elsewhere")
    assert list(replayed(THIRD)) == [FIRST, SECOND, THIRD]


def test_other_bytes_are_told_and_the_rest_goes_on(project):
    (project / "first.py").write_text("open('a','w').write('6')")
    found = replayed("first", "second", THIRD)
    assert found == {FIRST: ["a"], SECOND: ["b"], THIRD: ["studies/c"]}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("given", "5", "first: given: must have the md5 "),
        ("params.yaml", "n: 4\nrun: python\n", "first: params.yaml: n: must be as its lock has it"),
        ("first.py", "raise SystemExit(3)", "first.py: ended with exit code 3"),
        ("dvc.yaml", "stages: {first: {cmd: python other.py}}", "the command of its lock is not"),
    ],
)
def test_what_is_not_as_the_lock_has_it_ends_with_one_line(project, name, text, said):
    (project / name).write_text(text)
    with pytest.raises(InputError, match=said):
        replayed("first")


@pytest.mark.parametrize("target", ["nothing", "given", "fir"])
def test_a_target_is_a_stage_or_what_one_writes(project, target):
    with pytest.raises(InputError, match=f"TARGET = {target}: must be a stage of a lock"):
        replayed(target)
    assert not (project / "a").exists()


def test_it_runs_where_there_is_no_dvc(project, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(REFUSED)
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    path = f"{python.parent}:/usr/bin:/bin"
    own = os.environ | {"PATH": path, "PYTHONPATH": f"{tmp_path}:{ROOT}:{ROOT / 'src'}"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["python", *words], env=own, capture_output=True, text=True)

    assert "No module named 'dvc'" in run("-c", "import dvc").stderr
    (project / "studies" / "third.py").write_text("import os; os.makedirs('studies/c')")
    done = run("-m", "ops.replay", "second", "studies/c")
    assert done.returncode == 1
    lines = ["second … the same bytes, ", f"{THIRD} … other bytes: studies/c, "]
    assert all(map(str.startswith, done.stdout.splitlines(), lines)), done.stderr
    assert done.stderr == "replay: 1 of 2 stages wrote other bytes than their lock names\n"
