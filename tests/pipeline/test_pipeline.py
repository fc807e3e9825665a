"""The whole pipeline, tiny, through DVC itself: what runs, what is left alone, what is refused."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from ruamel.yaml import YAML
from test_layout import notebooks

from strata.pipeline import files

ROOT = Path(__file__).parents[2]
PROJECT = ["params.yaml", "stages", "notebooks", "paper", "scripts", "site", "src"]
PROJECT += [".dvcignore", ".gitignore", ".gitattributes", "pyproject.toml", "requirements.lock"]
RUN = "n6-s1"
TINY = {
    "n": 6, "d_model": 16, "d_mlp": 32, "epochs": 40, "validate_every": 20,
    "random_subsets": 20, "shuffles": 5, "draws": 2, "swaps": 1, "square_free_up_to": 1000,
    "runs": f"[{RUN}]",
}  # fmt: skip
# The stages that draw figures from the weights, the metrics and the activations.
FIGURES = {"hierarchy", "metrics-figures", "mlp-neurons"}
EVERY = {"check", f"split@{RUN}", f"train@{RUN}", "activations", f"metrics@{RUN}", "tables"}
EVERY |= {"code"}
EVERY |= {f"interventions@{RUN}", "interventions-tables", "grid", f"page@{RUN}", "report"}
EVERY |= FIGURES
# Studies of runs that are named in studies/dvc.yaml itself.
STUDIES = {"interventions-runs", "controls", "interventions-controls", "controls-tables"}
STUDIES |= {"extension", "course", "course-tables"}


class Project:
    """A copy of this project with tiny numbers, in a folder and a git repository of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(folder / "src"),
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

    def set(self, key: str, value: object) -> None:
        """Change the first value of that key in params.yaml; a list may take several lines."""
        path = self.folder / "params.yaml"
        text, count = re.subn(
            rf"(?m)^( *){key}: (\[[^]]*\]|.*)$", rf"\g<1>{key}: {value}", path.read_text(), count=1
        )
        assert count == 1
        path.write_text(text)

    def outputs(self) -> dict[str, bytes]:
        folders = ("data", "figures", "tables", "report")
        paths = [path for name in folders for path in (self.folder / name).rglob("*.*")]
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in paths if p.is_file()}


Described = dict[str, dict]


def pipeline(figures: set[str] = FIGURES) -> Described:
    """The pipeline files with two runs, which are one at first, of the figures those that these
    stages draw, and of the studies the tables over seeds."""
    texts = {file: (ROOT / file).read_text() for file in files.FILES}
    runs = f'run: &runs [{RUN}, "n${{n}}-s${{seed}}"]'
    texts = {file: re.sub(r"run: &runs \[[^]]*\]", runs, text) for file, text in texts.items()}
    whole = {file: YAML(typ="safe").load(text) for file, text in texts.items()}
    every = {name: stage for file in whole.values() for name, stage in file["stages"].items()}
    grid = every["grid"]
    grid["deps"] = [x for x in grid["deps"] if not x.startswith("data/metrics/")]
    grid["deps"].append(f"data/metrics/{RUN}.json")
    drawn = {name for name, stage in every.items() if "figure.py" in stage["cmd"]}
    assert drawn >= figures
    left_out = (drawn - figures) | STUDIES
    gone = {out for name in left_out for out in every[name]["outs"]}
    gone |= {path for name in left_out for path in notebooks(every[name])}
    report = every["report"]
    report["deps"] = [
        dep
        for dep in report["deps"]
        if dep not in gone and not re.search(r"/(mlp-)?n1\d\d-s\d+[./]", dep)
    ]
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
    for file, content in described.items():
        (folder / file).parent.mkdir(exist_ok=True)
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


@pytest.fixture(scope="module")
def project(made, tmp_path_factory) -> Project:
    return copied(made, tmp_path_factory.mktemp("pipeline"))


@pytest.fixture
def restored(project: Project):
    """The project, and afterwards the project as it was."""
    yield project
    project.do("git", "reset", "--quiet", "--hard")
    project.dvc("checkout", "--quiet", "--allow-missing")


def test_nothing_runs_when_nothing_changed(project):
    assert project.dvc("repro") == set()


def test_a_figure_parameter_reruns_one_notebook(restored):
    restored.set("star", 0.3)
    assert restored.dvc("repro") == {"check", "hierarchy", "report"}


def test_a_metrics_parameter_reruns_metrics_tables_and_the_figures_that_read_them(restored):
    restored.set("variance", 0.9)
    ran = {"check", f"metrics@{RUN}", "tables", "grid", "metrics-figures", f"page@{RUN}", "report"}
    assert restored.dvc("repro") == ran


def test_a_learning_rate_reruns_the_training_and_all_that_rests_on_it(restored):
    restored.set("lr", 0.002)
    assert restored.dvc("repro") == EVERY - {"code", f"split@{RUN}"}


def test_a_changed_analysis_module_trains_nothing(restored):
    for module in ("measures", "fourier", "plots", "tables", "params"):
        with (restored.folder / "src" / "strata" / f"{module}.py").open("a") as file:
            file.write("# a remark\n")
    ran = restored.dvc("repro", "tables", "metrics-figures")
    assert f"metrics@{RUN}" in ran
    assert not {stage for stage in ran if stage.startswith(("train", "split"))}


def test_a_module_reruns_those_stages_alone_that_reach_it(restored):
    with (restored.folder / "src" / "strata" / "swaps.py").open("a") as file:
        file.write("# a remark\n")
    ran = restored.dvc("repro", f"interventions@{RUN}", f"metrics@{RUN}")
    assert ran == {"code", f"interventions@{RUN}"}


def test_another_modulus_trains_one_model_and_leaves_the_tables_over_seeds(restored):
    ran = restored.dvc("exp", "run", "--set-param", "n=7", "tables", "grid")
    assert {stage for stage in ran if stage.startswith("train")} == {"train@n7-s1"}
    assert "grid" not in ran
    ran = restored.dvc("exp", "run", "--set-param", "n=6", "tables")
    assert not {stage for stage in ran if stage.startswith("train")}


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("n", "1.5", "n = 1.5: must be an integer from 2 to 4096"),
        ("n", "../x", "n = '../x': must be an integer"),
        ("seed", "-1", "seed = -1: must be an integer from 0"),
        ("train_fraction", "0.9", "must be at most 1"),
        ("n_heads", "3", "must be divisible by n_heads = 3"),
        ("epochs", "0", "train.epochs = 0: must be an integer of at least 1"),
    ],
)
def test_bad_input_gets_one_line_and_loses_nothing(key, value, named, restored):
    before = restored.outputs()
    restored.set(key, value)
    done = restored.run(sys.executable, "-m", "dvc", "repro")
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("check: params.yaml: ")]
    assert len(lines) == 1
    assert named in lines[0]
    after = restored.outputs()
    assert {k: v for k, v in before.items() if k != "data/check.txt"} == after


def test_a_clone_pulls_everything_and_makes_the_activations_alone(project, tmp_path):
    clone = Project(tmp_path / "clone")
    project.do("git", "clone", "--quiet", str(project.folder), str(clone.folder))
    clone.dvc("pull", "--quiet")
    assert clone.dvc("repro") == {"activations"}
    clone.do(sys.executable, "-m", "dvc", "status", "--quiet")
    uncached = {name for name in clone.outputs() if name.startswith("data/activations/")}
    assert len(uncached) == 1
    assert {k: v for k, v in clone.outputs().items() if k not in uncached} == {
        k: v for k, v in project.outputs().items() if not k.startswith("data/activations/")
    }
    assert clone.do("git", "status", "--porcelain") == ""


def test_forced_figures_and_tables_have_the_same_bytes(project):
    project.dvc("repro", "activations")  # no cache keeps them, so no checkout brings them back
    before = project.outputs()
    project.dvc("repro", "--force", "--single-item", "tables", "hierarchy", f"page@{RUN}", "report")
    assert project.outputs() == before


def test_numbers_and_curves_can_be_shown(project):
    assert "fve" in project.do(sys.executable, "-m", "dvc", "metrics", "show")
    shown = project.do(sys.executable, "-m", "dvc", "plots", "show", "--json", "accuracy")
    assert "validation_accuracy" in shown
