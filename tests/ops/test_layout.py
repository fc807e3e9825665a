"""Each stage depends on the code that it runs, and on no other; each fact has one home."""

import ast
import re
from itertools import chain
from pathlib import Path

import pytest
from tiny import ROOT, notebooks

from ops import files
from ops.code import Code
from ops.git import git
from ops.syntax import parse, python_source
from strata.run import read_yaml

STAGES = files.stages(ROOT)
SCIENCE = [path for wing in ("measure", "patch") for path in (ROOT / "src/strata" / wing).glob("*")]
SCIENCE = [x for x in SCIENCE if x.suffix == ".py" and x.stem != "stored"]  # reads Parquet
SCIENCE += [ROOT / f"src/strata/{x}.py" for x in ("monoid", "task", "train/trainer")]


def scripts(stage: dict) -> list[str]:
    """Return the scripts that a stage runs, each once."""
    return list(dict.fromkeys(re.findall(r"(?:[\w-]+/)*stages/\w+\.py", str(stage["cmd"]))))


def runs(stage: dict) -> list[str]:
    """Return the keys of the notebooks that a stage executes, or else that of its script."""
    paths = notebooks(stage) or scripts(stage)
    tops = (Path(path).parts[:-2] for path in paths)
    keys = zip((Path(*top, "data", "code") for top in tops), paths, strict=True)
    return sorted(f"{key}/{Path(path).stem}.txt" for key, path in keys)


@pytest.mark.parametrize("path", SCIENCE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_science_opens_no_file_and_prints_and_draws_nothing(path):
    tree = ast.parse(python_source(path))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"open", "print", "input", "Path"}
    imported = chain.from_iterable(parse(tree, "").imports.values())
    packages = {name.split(".")[0] for name in imported}
    assert not packages & {"matplotlib", "argparse", "sys", "os", "logging"}


@pytest.mark.parametrize("name", sorted(x for x in STAGES if files.kind(x) != "code"))
def test_a_stage_depends_on_the_code_that_it_runs_and_on_no_other(name):
    keys = [dep for dep in STAGES[name]["deps"] if "data/code/" in dep]
    own_keys = [key for key in keys if Path(key).stem not in {"all", "sources"}]
    assert sorted(own_keys) == runs(STAGES[name])
    code = [dep for dep in STAGES[name]["deps"] if re.search(r"\b(src|stages|notebooks)/", dep)]
    assert not code


def test_what_decides_weights_is_apart_from_analysis_plots_and_tables():
    modules = {x.module for x in Code().reach(ROOT / "stages" / "train.py")}
    wings = {x.split(".")[1] for x in modules if re.fullmatch(r"strata\.\w+\.\w+", x)}
    assert wings <= {"train", "schema"} and "strata.params" not in modules
    for name in (x for x in STAGES if files.kind(x) in {"train", "split"}):
        assert "params" not in STAGES[name]


def test_every_script_and_every_notebook_is_a_stage():
    # git lists the scripts of the repository, and none of its environment.
    tracked = {*git("ls-files", "*stages/*.py").split()}
    of_weights = [read_yaml(path)["stages"] for path in ROOT.glob("studies/*/weights/dvc.yaml")]
    stages = [stage for some in (STAGES, *of_weights) for stage in some.values()]
    assert tracked <= {script for stage in stages for script in scripts(stage)}
    drawn = {path for stage in STAGES.values() for path in notebooks(stage)}
    assert drawn == {*git("ls-files", "*notebooks/*.ipynb").split()}


def test_every_figure_of_the_paper_is_among_the_plots():
    plots = read_yaml(ROOT / "dvc.yaml")["plots"]
    of_paper = [stage for name, stage in STAGES.items() if not files.project(name)]
    items = [(key, stage) for stage in of_paper for key in stage.get("foreach", [""])]
    outs = [x.replace("${key}", str(k)) for k, s in items for x in files.paths(s["outs"])]
    drawn = [path for path in outs if path.startswith("figures/") and path.endswith(".png")]
    assert sorted(x for x in plots if isinstance(x, str)) == sorted(drawn)


def test_runs_are_listed_once_in_each_project_and_alike():
    of_runs = {k: x for k, x in STAGES.items() if k.startswith(files.RUNS)}
    listed = of_runs[f"{files.RUNS}:check"]["foreach"]["runs"]["runs"]
    matrices = [x["matrix"]["run"] for x in of_runs.values() if "matrix" in x]
    assert len(matrices) == 4 and all(x == listed for x in matrices)
    assert listed[-1] == "${variant}n${n}-s${seed}" and len(set(listed)) == len(listed)
    lists = read_yaml(ROOT / "studies" / "runs.yaml")
    assert listed[:-1] == [*lists["paper"]]
    unions = {"more", "all", "measured", "attending", "import"}
    of_studies = [name for part in lists if part not in unions for name in lists[part]]
    assert len({*of_studies}) == len(of_studies) and {*lists["measured"]} <= {*of_studies}
