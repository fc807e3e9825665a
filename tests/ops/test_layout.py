"""Each stage depends on the code that it runs, and on no other."""

import ast
import re
from pathlib import Path

import pytest
from tiny import dvc, notebooks

from ops import files
from ops.code import Code
from ops.syntax import source
from report.code.sections import SECTIONS
from strata.run import read_yaml

ROOT = Path(__file__).parents[2]
STAGES = files.stages(ROOT)
PUBLISHED = read_yaml(ROOT / "published" / "dvc.yaml")["stages"]

SRC, STUDIES = ROOT / "src" / "strata", ROOT / "studies"
SCIENCE = sorted(path for wing in ("measure", "patch") for path in (SRC / wing).glob("*.py"))
SCIENCE.remove(SRC / "measure" / "stored.py")  # reads and writes Parquet
SCIENCE += [SRC / f"{name}.py" for name in ("monoid", "task", "train/network")]
SCIENCE += [SRC / f"train/{name}.py" for name in ("gradients", "trainer")]
INTERVENTIONS = ("criteria", "energy", "head_criteria", "interchange", "levels", "suite")
SCIENCE += [STUDIES / f"interventions/code/{name}.py" for name in INTERVENTIONS]
SCIENCE += [STUDIES / f"dynamics/code/{name}.py" for name in ("schedule", "trajectory")]


def script(stage: dict) -> str:
    """The script that a stage runs."""
    return re.findall(r"(?:[\w-]+/)*stages/\w+\.py", stage["cmd"])[0]


@pytest.mark.parametrize("path", SCIENCE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_science_opens_no_file_and_prints_and_draws_nothing(path):
    tree = ast.parse(source(path))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"open", "print", "input", "Path"}
    packages = {
        a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names
    }
    assert not packages & {"matplotlib", "argparse", "sys", "os", "logging"}


def code(stage: dict, *, above: str = "") -> list[str]:
    """The files of data/code that a stage depends on."""
    return sorted(dep for dep in stage["deps"] if dep.startswith(f"{above}data/code/"))


def runs(stage: dict) -> list[str]:
    """The notebooks that a stage executes, or else its script, by the name of their code's file."""
    names = [Path(path).stem for path in notebooks(stage) or [script(stage)]]
    if "snapshots.CODE" in source(ROOT / script(stage)):  # what its snapshots count for
        names = [*{*names, "train"}]
    return sorted(f"data/code/{name}.txt" for name in names)


@pytest.mark.parametrize("name", sorted(STAGES))
def test_a_stage_depends_on_the_code_that_it_runs_and_on_no_other(name):
    named = [dep for dep in STAGES[name]["deps"] if dep.startswith(("src", "stages", "notebooks"))]
    if name == "code":
        assert named == STAGES[name]["deps"] == ["notebooks", "src/strata", "stages"]
        return
    assert code(STAGES[name]) == runs(STAGES[name])
    assert STAGES["code"]["outs"] == ["data/code"]
    # The report reads the words of all notebooks, the reference those of the library.
    assert named == {"report": ["notebooks"], "api": ["src/strata"]}.get(name, [])


def test_the_report_is_made_from_all_that_the_pipelines_make():
    """So that a plain `dvc repro` at the top makes everything."""
    every = dvc("stage", "list", "--all", "--name-only").split()
    assert len(every) > len(STAGES)
    assert set(re.findall(r'^"([^"]+)";$', dvc("dag", "report", "--dot"), re.M)) == set(every)


def test_what_decides_weights_is_apart_from_analysis_plots_and_tables():
    modules = {x.module for x in Code().reached(ROOT / "stages" / "train.py")}
    wings = {x.split(".")[1] for x in modules if re.fullmatch(r"strata\.\w+\.\w+", x)}
    assert wings == {"train", "schema"} and "strata.params" not in modules
    assert "params" not in STAGES["train"] and "params" not in STAGES["split"]
    for stage in STAGES.values():
        assert len(source(ROOT / script(stage)).splitlines()) <= 90


def test_every_notebook_is_a_stage_and_every_script_too():
    scripts = {path.name for path in ROOT.glob("stages/*.py")}
    stages = [*STAGES.values(), PUBLISHED["convert"]]
    assert set(map(script, stages)) == {f"stages/{x}" for x in scripts}
    used = [path for stage in STAGES.values() for path in notebooks(stage)]
    assert set(used) == {str(x.relative_to(ROOT)) for x in ROOT.glob("notebooks/**/*.ipynb")}


def test_the_report_depends_on_all_that_it_shows():
    deps = set(STAGES["report"]["deps"])
    assert {"site", "report/runs", "figures", "tables", "notebooks"} <= deps
    shown = [made for made in STAGES.values() if any(map(figure_or_table, made.get("outs", ())))]
    assert len(shown) > 9
    for made in shown:
        files = [*made["deps"], *(path for x in made.get("metrics", ()) for path in x)]
        for path in (x for x in files if not x.startswith("data/code/")):
            assert deps & {path, *map(str, Path(path).parents)}, path


def test_every_figure_and_table_is_a_section_of_the_report_once():
    names = [section.name for section in SECTIONS]
    outs = [Path(out) for s in STAGES.values() for out in s.get("outs", ()) if isinstance(out, str)]
    assert sorted(names) == sorted({out.stem for out in outs if figure_or_table(str(out))})


def test_every_figure_is_among_the_plots():
    plots = read_yaml(ROOT / "dvc.yaml")["plots"]
    outs = [out for s in STAGES.values() for out in s.get("outs", ()) if isinstance(out, str)]
    shown = [x for x in plots if isinstance(x, str)]
    drawn = [x for x in outs if x.startswith("figures/") and x.endswith(".png")]
    assert sorted(shown) == sorted(drawn)


def test_runs_are_listed_once():
    """The other stages of runs repeat the list by its anchor."""
    listed = STAGES["check"]["foreach"]["runs"]["runs"]
    runs = [x["matrix"]["run"] for x in STAGES.values() if "run" in x.get("matrix", ())]
    assert len(runs) > 4 and sum(x == listed for x in runs) >= 5
    assert listed[-1] == "${variant}n${n}-s${seed}" and len(set(listed)) == len(listed)
    texts = [path.read_text() for path in (ROOT / "params.yaml", *map(ROOT.joinpath, files.FILES))]
    assert sum("n180-s1" in text for text in texts) == 1
    assert sum(text.count("n180-s1") for text in texts) == 1


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
    drawn = [s for s in STAGES.values() if notebooks(s) and "stages/figure.py" in s["cmd"]]
    ours = [s for s in drawn if inputs(s) <= inputs(theirs)]
    assert sorted(x for s in ours for x in notebooks(s)) == sorted(notebooks(theirs))
