"""Every notebook is a clean template, draws its figure for any n, and the same bytes twice."""

import ast
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from drawing import (
    OF_TASKS,
    PARAMS,
    ROOT,
    RUNS,
    born,
    check,
    coarse,
    code,
    declared,
    drawn,
    paths,
    untrained,
)
from matplotlib.figure import Figure
from nbformat import v4
from small import measured, split_of

from ops import files
from ops.syntax import parsed
from strata import notebook, store
from strata.inputs import InputError
from strata.plots import base
from strata.run import Run

PAPER = sorted(ROOT.glob("notebooks/*.ipynb"))
TEMPLATES = PAPER + sorted(ROOT.glob("studies/*/notebooks/*.ipynb"))
every_template = pytest.mark.parametrize("template", TEMPLATES, ids=[t.stem for t in TEMPLATES])


OVER_SEEDS = [t.stem for t in TEMPLATES if "moduli" in declared(t)]


def over_seeds(n: int, folder: Path, seeds: Sequence[int] = (2, 3, 10)) -> dict[str, object]:
    """Runs of modulus n in a folder: none has generalised, and that of seed 3 diverged."""
    history = pd.DataFrame({name: [0.5] for name in store.HISTORY.names})
    for run in (Run(n, seed) for seed in seeds):
        weights = born(run, folder / f"{run}.safetensors")
        broken = {"loss": [np.nan if run.seed == 3 else 0.5]}
        found = measured(run, weights, split_of(n), history.assign(**broken))
        store.write_json(folder / f"{run}.json", found)
    return {"moduli": [n], "models": str(folder)}


def inches(pdf: bytes) -> float:
    """How wide the page of a PDF is."""
    return float(re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ", pdf)[0]) / 72


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run(request, tmp_path_factory):
    return request.param, untrained(request.param, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder to run the stage in, with inputs of the headline n, widths and no outputs yet."""
    folder = tmp_path_factory.mktemp("work")
    text = re.sub(r"(?m)^n: .*", "n: 12", (ROOT / "params.yaml").read_text())
    text = re.sub(r"(?m)^inches:\n.*\n.*\n", "inches: {column: 4, page: 7.5}\n", text)
    (folder / "params.yaml").write_text(text)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    (folder / "data").mkdir()
    untrained(Run(12, PARAMS.seed), folder / "data")
    return folder


@pytest.fixture
def stage(workplace, monkeypatch):
    """The stage as a function of its arguments, called inside this process."""
    monkeypatch.chdir(workplace)

    def call(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["stages/figure.py", *arguments])
        runpy.run_path(str(ROOT / "stages" / "figure.py"), run_name="__main__")

    return call


@every_template
def test_a_template_is_stripped_and_has_one_parameters_cell(template):
    cells = nbformat.read(template, as_version=4).cells
    assert not any(c.outputs or c.execution_count for c in code(template))
    assert [c.metadata.get("tags") for c in code(template)].count(["parameters"]) == 1
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ")
    assert "stem" in declared(template)
    assert not {"n", "seed"} & set(declared(template)), "a run is one parameter"


@every_template
def test_a_template_defines_nothing_asserts_something_and_leaves_matplotlib_to_plots(template):
    tree = ast.parse("\n".join(c.source for c in code(template)))
    kinds = [type(node) for node in ast.walk(tree)]
    assert not {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda} & set(kinds)
    assert ast.Assert in kinds
    imported = chain.from_iterable(parsed(tree, "").imports.values())
    known = {"numpy", "pandas", "IPython", "strata"} | ({"studies"} & {*template.parts})
    assert {name.split(".")[0] for name in imported} <= known


@every_template
def test_every_parameter_is_an_input_or_a_key_of_params_yaml(template):
    own = PARAMS.figures.get(template.stem.replace("-", "_"), {})
    shared = {*PARAMS.metrics.model_dump(exclude={"seed"})}
    shared |= {*PARAMS.figures["stability"]} if "moduli" in declared(template) else set()
    rest = set(declared(template)) - {"run", "moduli", "stem"} - paths(template)
    assert set(own) <= rest <= {*own, *shared}


@pytest.mark.parametrize("template", PAPER, ids=[t.stem for t in PAPER])
def test_every_figure_is_drawn_for_any_run_even_untrained(template, run, tmp_path, monkeypatch):
    of, inputs = run
    given: dict[str, object] = {"run": str(of)}
    given |= {name: str(inputs[name]) for name in paths(template) - {"models"}}
    if template.stem in OVER_SEEDS:
        given |= over_seeds(of.n, tmp_path / "models")
    check(template, given, tmp_path, monkeypatch)


@pytest.mark.parametrize("of", OF_TASKS, ids=str)
def test_every_figure_of_a_run_is_drawn_of_other_tasks_too(of, tmp_path, monkeypatch):
    inputs = untrained(of, tmp_path)
    for template in (x for x in PAPER if x.stem not in OVER_SEEDS):
        given = {name: str(inputs[name]) for name in paths(template)} | {"run": str(of)}
        check(template, given, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", OVER_SEEDS)
def test_runs_that_all_diverged_still_make_a_figure_that_says_so(name, tmp_path, monkeypatch):
    given = over_seeds(12, tmp_path / "models", [3])
    figures: list[Figure] = []
    monkeypatch.setattr(base, "save", lambda fig, stem: figures.append(fig) or coarse(fig, stem))
    template = ROOT / "notebooks" / f"{name}.ipynb"
    drawn(template, given, tmp_path)
    said = [text.get_text() for ax in figures[0].axes for text in (*ax.texts, ax.title)]
    assert "diverged" in said and "$n$ = 12, seed 3" in said


def test_the_same_inputs_give_the_same_bytes_and_a_page_that_needs_no_network(stage, workplace):
    arguments = ["fig02-pca-dim", "--input", "metrics=data/metrics"]
    stage(*arguments)
    once = contents(workplace / "figures")
    command = [sys.executable, str(ROOT / "stages" / "figure.py"), *arguments]
    again = subprocess.run(command, cwd=workplace, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert contents(workplace / "figures") == once
    assert list(once) == [f"fig02-pca-dim.{x}" for x in ("html", "pdf", "png", "svg")]
    assert inches(once["fig02-pca-dim.pdf"]) == 4
    html = once["fig02-pca-dim.html"].decode()
    assert "figures/fig02-pca-dim" in html and 'src="fig02-pca-dim.png"' in html
    assert not re.search(r"<script|<link|@import|(src|href)=.(?!fig02|data:|#)|url\(", html)


def test_a_notebook_that_fails_gives_one_line_and_leaves_no_file(stage, workplace):
    with pytest.raises(SystemExit) as stop:
        stage("fig08-class-order", "--input", "weights=params.yaml", "--out", "none")
    said = r"figure: fig08-class-order\.ipynb: InputError: params\.yaml: .+"
    assert re.fullmatch(said, str(stop.value))
    assert contents(workplace / "none") == {}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nothing"], "notebooks/nothing.ipynb"),
        (["fig17-attn-seeds", "--template", "nothing"], "notebooks/nothing.ipynb"),
        (["fig01-hierarchy", "--notebooks", "studies"], "studies/fig01-hierarchy.ipynb"),
        (["fig08-class-order"], "weights"),
        (
            ["fig08-class-order", "--input", "weights=x", "--input", "wieghts=y"],
            "wieghts",
        ),
        (["fig14-attn-seeds", "--input", "models=x"], "moduli"),
    ],
)
def test_a_wrong_command_is_refused_before_anything_runs(stage, workplace, arguments, named):
    with pytest.raises(SystemExit) as stop:
        stage(*arguments, "--out", "refused")
    assert named in str(stop.value) and "\n" not in str(stop.value)
    assert not (workplace / "refused").exists()


def test_a_figure_of_a_family_compares_its_moduli_in_order_of_seeds_under_its_own_name(
    stage, workplace
):
    over_seeds(12, workplace / "over")
    over_seeds(6, workplace / "over", [2])
    words = ["--template", "fig14-attn-seeds", "--input", "models=over", "--out", "out"]
    stage("fig17-attn-seeds", *words, "--moduli", "12")
    html = (workplace / "out" / "fig17-attn-seeds.html").read_text("utf-8")
    assert re.findall(r"seed (\d+): block score of head 0", html) == ["2", "10"]
    made = contents(workplace / "out")
    assert list(made) == [f"fig17-attn-seeds.{x}" for x in ("html", "pdf", "png", "svg")]
    assert inches(made["fig17-attn-seeds.pdf"]) == 7.5


def written(folder: Path, *cells: str) -> Path:
    """A template of these cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code = [v4.new_code_cell("", metadata={"tags": ["parameters"]}), *map(v4.new_code_cell, cells)]
    title = v4.new_markdown_cell("# T")
    made = v4.new_notebook(cells=[title, *code], metadata={"kernelspec": kernel})
    nbformat.write(made, folder / "written.ipynb")
    return folder / "written.ipynb"


def test_a_page_has_what_a_cell_prints_shows_and_ends_with_in_this_order(tmp_path):
    cell = "from IPython.display import HTML, display\nprint('1st')\ndisplay(HTML('2nd'))\n'3rd'"
    [page] = notebook.pages([(written(tmp_path, cell, "print('4th');"), {})])
    output = re.sub(r'(?s)<div class="input">.*?</pre>', "", page)
    assert re.findall("[1-4](?:st|nd|rd|th)", output) == ["1st", "2nd", "3rd", "4th"]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("assert 1 > 2, 'it is not'", "written.ipynb: AssertionError: it is not"),
        ("1 +", "written.ipynb: SyntaxError: "),
        ("raise SystemExit(3)", "written.ipynb: SystemExit: 3"),
        ("import os; os._exit(3)", "written.ipynb: its process ended with exit code 3"),
    ],
)
def test_a_cell_that_fails_ends_it_with_one_line(cell, said, tmp_path):
    with pytest.raises(InputError, match=re.escape(said)):
        next(notebook.pages([(written(tmp_path, cell), {})]))


@every_template
def test_a_notebook_that_is_opened_by_hand_reads_and_writes_as_a_stage_does(template, monkeypatch):
    options = runpy.run_path(str(ROOT / "stages/figure.py"))["options"]
    own, given = declared(template), []
    for stage in files.stages(ROOT).values():
        _, found, words = stage.get("do", stage).get("cmd", "").partition("stages/figure.py ")
        known = {"variant": PARAMS.variant, "n": PARAMS.n, "seed": PARAMS.seed, "item": PARAMS.n}
        words = re.sub(r"\$\{(\w+)\}", lambda x, k=known: str(k.get(x[1], x[1])), words)
        monkeypatch.setattr(sys, "argv", ["", *words.split()])
        if found and template.stem in words.split():
            args = options()
            inputs = dict(pair.split("=") for pair in args.input)
            given.append(inputs | {"stem": f"{args.out}/{template.stem}"})
    files_of_it = {name: own[name] for name in ("stem", *paths(template))}
    assert any(files_of_it.items() <= x.items() for x in given)


@pytest.mark.parametrize("template", [PAPER[0], TEMPLATES[-1]], ids=lambda path: path.stem)
def test_a_notebook_that_is_opened_in_its_folder_finds_the_top(template, monkeypatch):
    monkeypatch.chdir(template.parent)
    scope: dict[str, object] = {}
    exec(code(template)[0].source, scope)
    assert Path.cwd() == ROOT and "stem" in scope


def test_a_notebook_that_was_copied_out_of_the_clone_says_what_to_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="in no clone of strata; set STRATA_REPOSITORY to"):
        notebook.at_top()
    monkeypatch.setenv("STRATA_REPOSITORY", str(ROOT))
    notebook.at_top()
    assert Path.cwd() == ROOT
