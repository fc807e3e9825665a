"""The whole pipeline run by DVC with tiny numbers: the paper with one run, studies with two."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock
from ruamel.yaml import YAML

from ops import files, provenance
from strata.run import read_yaml

ROOT = Path(__file__).parents[1]
PROJECT = ["params.yaml", "stages", "notebooks", "paper", "ops", "src", "benchmarks", "docs"]
PROJECT += [".dvcignore", ".gitignore", ".gitattributes", "CITATION.cff", "pyproject.toml"]
PROJECT += ["Makefile", *(f"requirements{x}.lock" for x in ("", "-cpu", "-torch", "-uv"))]
RUN, MORE = "n6-s1", "n6-s2"  # the paper's run, and one that the studies train
TINY = {
    "n": 6, "d_model": 16, "d_mlp": 32, "epochs": 40, "validate_every": 20,
    "random_subsets": 20, "shuffles": 5, "draws": 2, "square_free_up_to": 1000,
    "moduli": "[6]",
}  # fmt: skip
FIGURE = "fig01-hierarchy"
FIGURES = {FIGURE, "metrics-figures"}  # the stages of figures that a tiny paper has
DRAWN = "fig03-attn-scores"  # by the second of them, which draws five for the paper
OF_A_RUN = ("split", "train", "activations", "metrics")
CHECK = f"{files.RUNS}:check@runs"
EVERY = {"code", "params", CHECK, "collect", "tables", "seeds", "forward", *FIGURES}
EVERY |= {f"{files.RUNS}:{kind}@{RUN}" for kind in OF_A_RUN}
DVC = (sys.executable, "-m", "dvc")
PACKS = (sys.executable, "-m", "ops.packs")  # packs the files of a clone into its remotes
# The stages of each pipeline file that tiny studies have, without the names of runs.
STUDIES = {
    "studies/dvc.yaml": {"code", "check", *OF_A_RUN, "collect"},
    "studies/interventions/dvc.yaml": {"code", "interventions"},
    "studies/mechanism/dvc.yaml": {"code", "accounts"},
}
STUDIES = {file: stages for file, stages in STUDIES.items() if (ROOT / file).is_file()}
LISTED: dict[str, dict[str, str]] = {"paper": {RUN: "data"}, "moduli": {MORE: "studies/data"}}
LISTED |= {"imported": {}, "import": {}}
LISTED |= {"more": LISTED["moduli"], "all": LISTED["paper"] | LISTED["moduli"]}
LISTED |= {"measured": LISTED["all"], "attending": LISTED["all"]}


class Project:
    """A copy of this project with tiny numbers, in a folder and a git repository of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.umask = -1  # that of this process
        make_variables = {"MAKELEVEL", "MAKEFLAGS", "MFLAGS"}  # tell a make that another called it
        self.environment = {k: v for k, v in os.environ.items() if k not in make_variables} | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'src'}",
            "DVC_SITE_CACHE_DIR": str(folder.parent / "site"),
            "STRATA_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "GIT_AUTHOR_NAME": "tester", "GIT_AUTHOR_EMAIL": "tester@example.org",
            "GIT_COMMITTER_NAME": "tester", "GIT_COMMITTER_EMAIL": "tester@example.org",
        }  # fmt: skip

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, umask=self.umask,
        )  # fmt: skip

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        """Start a command that leads a process group of its own, so that all of it can be ended."""
        return subprocess.Popen(
            words, cwd=self.folder, env=self.environment | variables, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
            # ignored where the tests run in background, and that would be inherited
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def do(self, *words: str) -> str:
        process = self.run(*words)
        assert process.returncode == 0, process.stdout
        return process.stdout

    def dvc(self, *words: str, project: str = "") -> set[str]:
        """Run DVC in the paper's project or in that of the studies. Return the stages that ran, by
        the names that DVC has for them there."""
        options = ("--cd", project) if project else ()
        output = self.do(*DVC, *options, *words)
        return set(re.findall(r"^Running stage '(.+)':", output, re.MULTILINE))

    def commit(self, message: str = "made") -> None:
        """Commit all files as they are now."""
        self.do("git", "add", "--all")
        self.do("git", "commit", "--quiet", "--message", message)

    def set(self, key: str, value: object) -> None:
        """Change the first value of that key in params.yaml, or else in that of the studies; a list
        may take several lines."""
        for path in (self.folder / "params.yaml", self.folder / "studies" / "params.yaml"):
            text = path.read_text() if path.exists() else ""
            replacement = rf"\g<1>{key}: {value}"
            text, count = re.subn(rf"(?m)^( *){key}: (\[[^]]*\]|.*)$", replacement, text, count=1)
            if count:
                path.write_text(text)
                return
        raise KeyError(key)

    def outputs(self) -> dict[str, str]:
        """Return the md5 of every file of results."""
        tops = ("data", "figures", "tables")
        folders = [*tops, *(f"studies/{x}" for x in tops), *(f"studies/*/{x}" for x in tops)]
        paths = [x for name in folders for top in self.folder.glob(name) for x in top.rglob("*.*")]
        return {str(p.relative_to(self.folder)): provenance.md5(p) for p in paths if p.is_file()}

    def page(self) -> str:
        """Return the md5 of the page of the figure, which shows its parameters."""
        return self.outputs()[f"figures/{FIGURE}.html"]

    def published(self) -> dict[str, str]:
        """Return the md5 of the results that a cache keeps."""
        return {k: v for k, v in self.outputs().items() if not k.startswith("data/forward/")}


def notebooks(stage: dict) -> list[str]:
    """Return the notebooks that a stage executes."""
    if tutorial := re.search(r"report/stages/tutorial.py (\S+)", stage["cmd"]):
        return [f"report/notebooks/{tutorial[1]}.ipynb"]
    _, script, words = stage["cmd"].partition("stages/figure.py ")
    names = re.findall(r"--template (\S+)", words) or words.partition(" --")[0].split()
    folder = re.findall(r"--notebooks (\S+)", words) or ["notebooks"]
    return [f"{folder[0]}/{x}.ipynb" for x in names] if script else []


Described = dict[str, dict]


def pipeline(figures: set[str] = FIGURES) -> Described:
    """Return the paper's pipeline for the run n6-s1 and that of params.yaml, which are one at
    first, with the stages that draw these figures."""
    paper = read_yaml(ROOT / "dvc.yaml")
    runs = f'runs: &runs [{RUN}, "${{variant}}n${{n}}-s${{seed}}"]'
    text = re.sub(r"runs: &runs \[[^]]*\]", runs, (ROOT / files.RUNS).read_text())
    stages = paper["stages"]
    drawing = {x for x, stage in stages.items() if "figure.py" in stage.get("do", stage)["cmd"]}
    assert drawing >= figures
    omitted = drawing - figures | {"gather"}  # a tiny paper has no runs over seeds
    paper["stages"] = {k: v for k, v in stages.items() if k not in omitted}
    for stage in (stages[name] for name in figures & {"metrics-figures"}):
        left_out = {*re.findall(r"fig\d\d-[\w-]+", stage["cmd"])} - {DRAWN}
        stage["cmd"] = " ".join(x for x in stage["cmd"].split() if x not in left_out)
        for kind in ("deps", "outs"):
            stage[kind] = [x for x in stage[kind] if not any(name in x for name in left_out)]
    paper["plots"] = [x for x in paper["plots"] if isinstance(x, dict)]
    return {"dvc.yaml": paper, files.RUNS: YAML(typ="safe").load(text)}


def studies() -> Described:
    """Return the pipelines of the studies for two runs, without stages that read other runs by
    name."""
    pipelines = {file: read_yaml(ROOT / file) for file in STUDIES}
    for file, content in pipelines.items():
        content["stages"] = {k: v for k, v in content["stages"].items() if k in STUDIES[file]}
    return pipelines


def called(cmd: str) -> tuple[dict[str, str], list[str]]:
    """Split a stage's command into its switches, and its script with the arguments."""
    words = shlex.split(cmd)
    start = words.index("python")
    pairs = [word.split("=", 1) for word in words[:start] if "=" in word]
    return dict(pairs), words[start + 1 :]


def prepared(folder: Path, described: Described) -> Project:
    """Write the project into a folder, with tiny numbers, these pipeline files and no outputs. The
    project has studies where one of the files is of theirs."""
    folder.mkdir(parents=True)
    for name in PROJECT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name in ("studies", "report"):  # their code, which stages and tests import
        outputs = ("data", "figures", "tables", "html", "dvc.*", ".dvc", "weights")
        outputs += (files.ARTIFACTS, "remote")
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*outputs))
    YAML().dump(LISTED, folder / "studies" / "runs.yaml")
    project = Project(folder)
    for key, value in TINY.items():
        project.set(key, value)
    project.do("git", "init", "--quiet")
    add(project, described)
    return project


def add(project: Project, described: Described) -> None:
    """Give a project these pipeline files."""
    for file, content in described.items():
        (project.folder / file).parent.mkdir(exist_ok=True)
        YAML().dump(content, project.folder / file)
    for name in {files.project(file) for file in described}:
        folder = project.folder / name / ".dvc"
        folder.mkdir(exist_ok=True)
        for file in ("config", ".gitignore"):
            shutil.copy(ROOT / name / ".dvc" / file, folder)


def once(top: Path, make: Callable[[Path], None]) -> Path:
    """Have a project made in that folder once for all processes of pytest, and return where it
    lies: for copies alone."""
    with FileLock(f"{top}.lock"):
        if not (top / "ready").exists():
            shutil.rmtree(top, ignore_errors=True)
            top.mkdir()
            make(top / "project")
            (top / "ready").touch()
    return top / "project"


def shared(base: Path, *, beside: bool = False) -> Project:
    """Return the paper, or with ``beside`` the paper and studies, with everything made, packed and
    committed."""

    def make(folder: Path) -> None:
        if beside:
            project = copied(shared(base), folder.parent)
            add(project, studies())
            project.dvc("repro", "--all-pipelines", project="studies")
        else:
            project = prepared(folder, pipeline())
            assert project.dvc("repro") == EVERY
        project.do(*PACKS, "write")
        project.commit()

    return Project(once(base / ("both" if beside else "made"), make))


def copied(project: Project, folder: Path) -> Project:
    """Copy a project, for a test that changes it."""
    shutil.copytree(project.folder, folder / "project", symlinks=True)
    return Project(folder / "project")


def cloned(project: Project, folder: Path, *options: str) -> Project:
    """Clone a project with these options of git clone."""
    allow = ("-c", "protocol.file.allow=always")
    project.do("git", *allow, "clone", "--quiet", *options, project.folder.as_uri(), str(folder))
    return Project(folder)


def commands(page: str, name: str) -> list[str]:
    """Return the lines of a block of commands of a page of docs/."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    (block,) = re.findall(rf"<!-- commands: {name} -->\n```\n(.*?)```", text, re.DOTALL)
    return block.splitlines()
