"""Who may import whom; and each stage depends on the code that it runs, and on no other."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from strata.pipeline import files
from strata.pipeline.code import SRC, imported, reached, source
from strata.report.sections import SECTIONS
from strata.run import read_yaml

ROOT = Path(__file__).parents[2]
STAGES = files.stages(ROOT)
PUBLISHED = read_yaml(ROOT / "published" / "dvc.yaml")["stages"]

# Imports point one way: each layer may use its own modules and those of the layers above it.
LAYERS = [
    {"monoid"},
    {"run"},
    {"course_params", "moments"},
    {"task", "fourier", "subspaces", "readout", "residues", "spans"},
    {"model"},
    {"gradients", "store"},
    {"environment"},
    {"thresholds", "training", "activations", "published", "courses"},
    {"params"},
    {"outcomes"},
    {"sweep", "circuits", "rerun", "neurons", "directions", "products"},
    {"measures", "ablations", "stability"},
    {"swaps", "heads"},
    {"interventions", "criteria", "course"},
    {"tables", "plots", "streams", "machine", "progress", "snapshots", "notebook", "scratch"},
    {"keeping"},
    {"columns"},
    {"typeset", "schematic", "panels", "multiples", "curves", "verdict", "evidence", "extension"}
    | {"spread", "emergence"},
    {"pages", "provenance", "pipelines", "imports", "sections", "likeness", "verify"},
    {"compared", "beyond", "first_epochs", "claim"},
    {"report", "again"},
]
WEIGHTS = {"run", "store", "task", "model", "gradients", "training"}
WEIGHTS |= {"environment", "machine", "progress", "snapshots"}
SCIENCE = {"monoid", "task", "model", "gradients", "training", "activations"}
SCIENCE |= {"fourier", "subspaces", "readout", "residues", "spans"}
SCIENCE |= {"sweep", "circuits", "neurons", "measures", "pages"}
SCIENCE |= {"rerun", "outcomes", "ablations", "swaps", "heads", "interventions", "criteria"}
SCIENCE |= {"stability", "moments", "course", "directions", "products"}


def dvc(*words: str) -> str:
    """What a dvc command prints."""
    command = [sys.executable, "-m", "dvc", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def script(stage: dict) -> str:
    """The script that a stage runs."""
    return re.findall(r"stages/\w+\.py", stage["cmd"])[0]


def test_every_module_has_a_layer():
    assert sorted(x for layer in LAYERS for x in layer) == sorted(
        path.stem for path in SRC.glob("*.py") if path.stem != "__init__"
    )


@pytest.mark.parametrize("depth", range(len(LAYERS)))
def test_imports_point_one_way(depth):
    above = set().union(*LAYERS[: depth + 1])
    for module in LAYERS[depth]:
        assert imported(SRC / f"{module}.py") <= above - {module}


@pytest.mark.parametrize("module", sorted(SCIENCE))
def test_science_opens_no_file_and_prints_and_draws_nothing(module):
    tree = ast.parse(source(SRC / f"{module}.py"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"open", "print", "input", "Path"}
    packages = {
        a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
    }
    assert not packages & {"matplotlib", "argparse", "sys", "os", "logging"}


def test_only_plots_knows_matplotlib():
    users = [path for path in SRC.glob("*.py") if re.search(r"\bmatplotlib\b", source(path))]
    assert [path.stem for path in users] == ["plots"]
    for path in (*ROOT.glob("stages/*.py"), *ROOT.glob("notebooks/*.ipynb")):
        assert "matplotlib" not in source(path)


def code(stage: dict, *, above: str = "") -> list[str]:
    """The files of data/code that a stage depends on."""
    return sorted(dep for dep in stage["deps"] if dep.startswith(f"{above}data/code/"))


def runs(stage: dict) -> list[str]:
    """The notebooks that a stage executes, or else its script, by the name of their code's file."""
    paths = notebooks(stage) or [script(stage)]
    return sorted(f"data/code/{Path(path).stem}.txt" for path in paths)


@pytest.mark.parametrize("name", sorted(STAGES))
def test_a_stage_depends_on_the_code_that_it_runs_and_on_no_other(name):
    named = [dep for dep in STAGES[name]["deps"] if dep.startswith(("src", "stages", "notebooks"))]
    if name == "code":
        assert named == STAGES[name]["deps"] == ["notebooks", "src/strata", "stages"]
        return
    assert code(STAGES[name]) == runs(STAGES[name])
    assert set(code(STAGES[name])) <= set(STAGES["code"]["outs"])
    # The report reads the words of all notebooks.
    assert all(name == "report" and dep.endswith(".ipynb") for dep in named)


def notebooks(stage: dict) -> list[str]:
    """The notebooks that a stage executes."""
    _, found, words = stage["cmd"].partition("stages/figure.py ")
    names = re.findall(r"--template (\S+)", words) or words.partition(" --")[0].split()
    return [f"notebooks/{x}.ipynb" for x in names] if found else []


def test_the_report_is_made_from_all_that_the_pipelines_make():
    """So that a plain `dvc repro` at the top makes everything."""
    every = dvc("stage", "list", "--all", "--name-only").split()
    assert len(every) > len(STAGES)
    assert set(re.findall(r'^"([^"]+)";$', dvc("dag", "report", "--dot"), re.M)) == set(every)


def test_what_decides_weights_is_apart_from_analysis_plots_and_tables():
    assert reached(ROOT / "stages" / "train.py") == WEIGHTS
    assert STAGES["train"]["params"] == ["split", "train"]
    for stage in STAGES.values():
        assert len(source(ROOT / script(stage)).splitlines()) <= 90


def test_every_notebook_is_a_stage_and_every_script_too():
    scripts = {path.name for path in ROOT.glob("stages/*.py")}
    stages = [*STAGES.values(), PUBLISHED["convert"]]
    assert set(map(script, stages)) == {f"stages/{x}" for x in scripts}
    used = [path for stage in STAGES.values() for path in notebooks(stage)]
    assert set(used) == {f"notebooks/{path.name}" for path in ROOT.glob("notebooks/*")}


def test_the_report_depends_on_all_that_it_shows():
    deps = set(STAGES["report"]["deps"])
    assert "site" in deps
    for run in STAGES["page"]["matrix"]["run"]:
        assert f"report/runs/{run}.js" in deps
    shown = [made for made in STAGES.values() if any(map(figure_or_table, made.get("outs", ())))]
    assert len(shown) > 9
    for made in shown:
        files = [
            *made["deps"],
            *made["outs"],
            *(path for x in made.get("metrics", ()) for path in x),
            *notebooks(made),
        ]
        assert {x for x in files if not x.startswith("data/code/")} <= deps


def test_every_figure_and_table_is_a_section_of_the_report_once():
    names = [section.name for section in SECTIONS]
    outs = [Path(out) for s in STAGES.values() for out in s.get("outs", ()) if isinstance(out, str)]
    assert sorted(names) == sorted({out.stem for out in outs if figure_or_table(str(out))})


def test_every_figure_is_among_the_plots():
    plots = read_yaml(ROOT / "dvc.yaml")["plots"]
    outs = [out for s in STAGES.values() for out in s.get("outs", ()) if isinstance(out, str)]
    shown = [x for x in plots if isinstance(x, str)]
    assert sorted(shown) == sorted(x for x in outs if x.endswith(".png"))


def test_the_tables_over_seeds_depend_on_the_runs_that_they_are_over():
    runs = read_yaml(ROOT / "params.yaml")["grid"]["runs"]
    deps = [dep for dep in STAGES["grid"]["deps"] if dep.startswith("data/metrics/")]
    assert sorted(deps) == sorted(f"data/metrics/{run}.json" for run in runs)


def figure_or_table(out: str | dict) -> bool:
    """Whether an output is one of figures/ or tables/."""
    return isinstance(out, str) and Path(out).parts[0] in {"figures", "tables"}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_stage_of_published_weights_depends_on_the_code_that_it_runs(name):
    stage = PUBLISHED[name]
    assert code(stage, above="../") == [f"../{path}" for path in runs(stage)]
    others = [dep for dep in stage["deps"] if re.search(r"src/|stages/|notebooks/", dep)]
    assert not others


def test_published_weights_get_the_figures_of_every_other_run():
    def inputs(stage: dict) -> set[str]:
        return set(re.findall(r"--input (\w+)=", stage["cmd"]))

    theirs = PUBLISHED["figures"]
    ours = [s for s in STAGES.values() if notebooks(s) and inputs(s) <= inputs(theirs)]
    assert sorted(x for s in ours for x in notebooks(s)) == sorted(notebooks(theirs))
