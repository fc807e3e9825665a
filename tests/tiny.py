"""The whole pipeline, tiny, through DVC itself: a project in a folder of its own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock
from ruamel.yaml import YAML

from ops import files, provenance

ROOT = Path(__file__).parents[1]
PROJECT = ["params.yaml", "stages", "notebooks", "paper", "ops", "src", "benchmarks", "studies"]
REPORT = ("code", "notebooks", "site", "stages")  # of report/, which also holds what is made
PROJECT += [
    "CITATION.cff",
    "docs",
    ".dvcignore",
    ".gitignore",
    ".gitattributes",
    "pyproject.toml",
    "requirements.lock",
]
RUN = "n6-s1"
TINY = {
    "n": 6, "d_model": 16, "d_mlp": 32, "epochs": 40, "validate_every": 20,
    "random_subsets": 20, "shuffles": 5, "draws": 2, "swaps": 1, "square_free_up_to": 1000,
    "moduli": "[6]",
}  # fmt: skip
# The stages that draw figures from the weights, the metrics and the activations.
FIGURES = {"fig01-hierarchy", "metrics-figures"}
EVERY = {"check@runs", f"split@{RUN}", f"train@{RUN}", "forward", "hero", f"metrics@{RUN}"}
EVERY |= {
    "tables",
    "code",
    f"activations@{RUN}",
    "interventions-runs",
    "collect@metrics",
    "collect@interventions",
    f"logits@{RUN}",
    "collect@logits",
    f"embedding@{RUN}",
    "collect@embedding",
}
EVERY |= {
    f"interventions@{RUN}",
    "interventions-tables",
    "grid",
    "accounts",
    "cards",
    f"page@{RUN}",
    "report",
}
EVERY |= FIGURES
# Studies of runs that are named in pipelines/studies itself.
STUDIES = {
    "controls",
    "interventions-controls",
    "logits-controls",
    "accounts-controls",
    "controls-tables",
}
STUDIES |= {"embedding-controls", "embedding-tables", "published", "studies"}
# What shows the library and not the runs.
STUDIES |= {"api", "first-look", "new-modulus"}
STUDIES |= {"extension", "checkpoints", "dynamics", "grokking", "dynamics-tables"}
# Prints the stages of a plan.
PLANNED = """
import sys
from dvc.repo import Repo
from ops import plan, resolved
print(*plan.plan(Repo(), resolved.values(sys.argv[1:])).run)
"""


class Project:
    """A copy of this project with tiny numbers, in a folder and a git repository of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'src'}",
            "DVC_SITE_CACHE_DIR": str(folder.parent / "site"),
            "STRATA_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "GIT_AUTHOR_NAME": "tester", "GIT_AUTHOR_EMAIL": "tester@example.org",
            "GIT_COMMITTER_NAME": "tester", "GIT_COMMITTER_EMAIL": "tester@example.org",
        }  # fmt: skip

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip

    def do(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def dvc(self, *words: str) -> set[str]:
        """The stages that the command ran."""
        addressed = [files.address(word, self.folder) for word in words]
        said = self.do(sys.executable, "-m", "dvc", *addressed)
        return set(re.findall(r"^Running stage '(?:\S+:)?(.+)':", said, re.MULTILINE))

    def planned(self, *overrides: str) -> set[str]:
        """The stages that the plan says run at most, with these values of params.yaml."""
        return set(self.do(sys.executable, "-c", PLANNED, *overrides).split())

    def set(self, key: str, value: object) -> None:
        """Change the first value of that key in params.yaml; a list may take several lines."""
        path = self.folder / "params.yaml"
        text, count = re.subn(
            rf"(?m)^( *){key}: (\[[^]]*\]|.*)$", rf"\g<1>{key}: {value}", path.read_text(), count=1
        )
        assert count == 1
        path.write_text(text)

    def outputs(self) -> dict[str, str]:
        """The md5 of every file of results."""
        folders = ("data", "figures", "tables", "report")
        paths = [path for name in folders for path in (self.folder / name).rglob("*.*")]
        return {str(p.relative_to(self.folder)): provenance.md5(p) for p in paths if p.is_file()}


def dvc(*words: str) -> str:
    """What a dvc command prints."""
    command = [sys.executable, "-m", "dvc", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def notebooks(stage: dict) -> list[str]:
    """The notebooks that a stage executes."""
    if tutorial := re.search(r"report/stages/tutorial.py (\S+)", stage["cmd"]):
        return [f"report/notebooks/{tutorial[1]}.ipynb"]
    _, found, words = stage["cmd"].partition("stages/figure.py ")
    names = re.findall(r"--template (\S+)", words) or words.partition(" --")[0].split()
    folder = re.findall(r"--notebooks (\S+)", words) or ["notebooks"]
    return [f"{folder[0]}/{x}.ipynb" for x in names] if found else []


Described = dict[str, dict]


def pipeline(figures: set[str] = FIGURES) -> Described:
    """The pipeline files with two runs, which are one at first, of the figures those that these
    stages draw, and of the studies the tables over seeds."""
    texts = {file: (ROOT / file).read_text() for file in files.FILES}
    runs = f'runs: &runs [{RUN}, "${{variant}}n${{n}}-s${{seed}}"]'
    texts = {file: re.sub(r"runs: &runs \[[^]]*\]", runs, text) for file, text in texts.items()}
    whole = {file: YAML(typ="safe").load(text) for file, text in texts.items()}
    every = {name: stage for file in whole.values() for name, stage in file["stages"].items()}
    drawn = {x for x, stage in every.items() if "figure.py" in stage.get("do", stage)["cmd"]}
    assert drawn >= figures
    left_out = (drawn - figures) | STUDIES
    report = every["report"]
    gone = {"report/api", "report/tutorials", "data/controls", "data/checkpoints"}
    gone |= {"data/dynamics", "data/grokking"}
    report["deps"] = [path for path in report["deps"] if path not in gone]
    for file in whole.values():
        file["stages"] = {k: v for k, v in file["stages"].items() if k not in left_out}
    plots = whole["dvc.yaml"]["plots"]
    whole["dvc.yaml"]["plots"] = [x for x in plots if isinstance(x, dict)]
    return whole


def called(cmd: str) -> tuple[dict[str, str], list[str]]:
    """The switches of a stage's command, and its script with the arguments."""
    words = shlex.split(cmd)
    at = words.index("python")
    return dict(word.split("=", 1) for word in words[:at]), words[at + 1 :]


def prepared(folder: Path, described: Described) -> Project:
    """The project in that folder, with tiny numbers and that pipeline, and nothing made yet."""
    folder.mkdir(parents=True)
    for name in PROJECT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name in REPORT:
        shutil.copytree(ROOT / "report" / name, folder / "report" / name)
    for file, content in described.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        YAML().dump(content, folder / file)
    (folder / ".dvc").mkdir()
    shutil.copy(ROOT / ".dvc" / "config", folder / ".dvc")
    shutil.copy(ROOT / ".dvc" / ".gitignore", folder / ".dvc")
    made = Project(folder)
    for key, value in TINY.items():
        made.set(key, value)
    made.do("git", "init", "--quiet")
    return made


def shared(base: Path) -> Project:
    """The project with everything made once, committed, and pushed to its own remote: for copies
    alone. It lies in that folder, which all of pytest's processes share."""
    folder = base / "made" / "project"
    with FileLock(base / "made.lock"):
        if not (base / "made" / "ready").exists():
            shutil.rmtree(base / "made", ignore_errors=True)
            project = prepared(folder, pipeline())
            assert project.dvc("repro") == EVERY
            project.dvc("push", "--quiet")
            project.do("git", "add", "--all")
            project.do("git", "commit", "--quiet", "--message", "made")
            (base / "made" / "ready").touch()
    return Project(folder)


def copied(made: Project, folder: Path) -> Project:
    """A copy of that project to do anything with."""
    shutil.copytree(made.folder, folder / "project", symlinks=True)
    return Project(folder / "project")
