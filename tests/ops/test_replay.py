"""Stages run from dvc.lock and remote/, on a project made by hand and without DVC."""

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
# first adds n to a number that git tracks, second squares the sum, third writes both to a folder.
SCRIPTS = {
    "first": "open('a','w').write(str(int(open('given').read()) + 3))",
    "second": "open('b','w').write(str(int(open('a').read()) ** 2))",
    "third": "import os; os.makedirs('c'); [open('c/'+x,'w').write(open(x).read()) for x in 'ab']",
}
CONTENTS = {"given": "4", "a": "7", "b": "49"}
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
    """given → first → a → second → b; a, b → third → c/. The remote holds a and b."""
    folder = tmp_path / "project"
    (folder / "stages").mkdir(parents=True)
    listed = [{"md5": md5(CONTENTS[x]), "relpath": x} for x in "ab"]
    known = {x: md5(text) for x, text in CONTENTS.items()}
    known["c"] = md5(json.dumps(listed)) + ".dir"
    stages: dict[str, dict] = {}
    for name, deps, out in (
        ("first", ["given"], "a"),
        ("second", ["a"], "b"),
        ("third", "ab", "c"),
    ):
        (folder / "stages" / f"{name}.py").write_text(SCRIPTS[name])
        stages[name] = {
            "cmd": f"python stages/{name}.py",
            "deps": [{"path": x, "md5": known[x]} for x in deps],
            "outs": [{"path": out, "md5": known[out]}],
        }
    stages["first"]["params"] = {"params.yaml": {"n": 3}}
    YAML().dump({"schema": "2.0", "stages": stages}, folder / "dvc.lock")
    (folder / "params.yaml").write_text("n: 3\n")
    (folder / "given").write_text(CONTENTS["given"])
    (folder / ".dvcignore").write_text("__pycache__/\n")
    for name in "ab":
        keep(folder, known[name], CONTENTS[name])
    monkeypatch.chdir(folder)
    replay.whole.cache_clear()
    return folder


def replayed(*targets: str, everything: bool = False) -> dict[str, list[str]]:
    """The stages that ran, each with its outputs of other bytes."""
    return {name: other for name, other, _ in replay.replayed([*targets], everything)}


def test_a_stage_is_run_on_what_the_remote_holds(project):
    assert replayed("second") == {"second": []}
    assert (project / "a").read_text() == "7" and (project / "b").read_text() == "49"
    assert replayed("c/a", "first") == {"third": [], "first": []}
    assert {x.name: x.read_text() for x in (project / "c").iterdir()} == {"a": "7", "b": "49"}


def test_what_the_remote_lacks_or_has_damaged_is_made_first(project):
    keep(project, md5("7"), "8")
    assert list(replayed("dvc.yaml:second")) == ["first", "second"]
    for path in (project / "a", project / "b"):
        path.unlink()
    (project / "remote").rename(project / "elsewhere")
    replay.whole.cache_clear()
    assert list(replayed("third")) == ["first", "second", "third"]


def test_all_makes_everything_again_in_order(project):
    assert list(replayed("third", everything=True)) == ["first", "second", "third"]


def test_a_trained_model_is_taken_from_the_remote_even_then(project, monkeypatch):
    monkeypatch.setattr(replay, "trains", lambda cmd, _: "second" in cmd)
    assert list(replayed("third", everything=True)) == ["first", "third"]


def test_other_bytes_are_told_and_the_rest_goes_on(project):
    (project / "stages" / "first.py").write_text("open('a','w').write('6')")
    assert replayed("third", everything=True) == {"first": ["a"], "second": ["b"], "third": ["c"]}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("given", "5", "first: given: must have the md5 "),
        ("params.yaml", "n: 4\n", "first: params.yaml: n: must be as dvc.lock has it: 3"),
        (
            "stages/first.py",
            "raise SystemExit(3)",
            "stages/first.py: ended with exit code 3",
        ),
    ],
)
def test_what_is_not_as_the_lock_has_it_ends_with_one_line(project, name, text, said):
    (project / name).write_text(text)
    with pytest.raises(InputError, match=said):
        replayed("first")


@pytest.mark.parametrize("target", ["nothing", "given", "fir"])
def test_a_target_is_a_stage_or_what_one_writes(project, target):
    with pytest.raises(InputError, match=f"TARGET = {target}: must be a stage of dvc.lock"):
        replayed(target)
    assert not (project / "a").exists()


def test_the_script_runs_where_there_is_no_dvc(project, tmp_path):
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
    (project / "stages" / "third.py").write_text("import os; os.makedirs('c')")
    done = run(str(ROOT / "ops" / "scripts" / "replay.py"), "second", "third")
    assert done.returncode == 1
    lines = ["second … the same bytes, ", "third … other bytes: c, "]
    assert all(map(str.startswith, done.stdout.splitlines(), lines))
    assert done.stderr == "replay: 1 of 2 stages wrote other bytes than dvc.lock names\n"


def test_a_stage_that_trains_is_known_by_its_code(monkeypatch):
    monkeypatch.chdir(ROOT)
    code = replay.Code()
    assert replay.trains("python stages/train.py a b", code)
    assert not replay.trains("OMP_NUM_THREADS=1 python stages/metrics.py a", code)
