"""Every notebook is a clean template, draws its figure for any n, and the same bytes twice."""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from drawing import OF_TASKS, RUNS, born, check, declared, paths, untrained
from nbformat import v4
from small import ALL, ROOT, measured, split_of

from ops import files
from strata import notebook, store
from strata.inputs import InputError
from strata.run import Run

PAPER = sorted(ROOT.glob("notebooks/*.ipynb"))
TEMPLATES = PAPER + sorted(ROOT.glob("studies/*/notebooks/*.ipynb"))
every_template = pytest.mark.parametrize("template", TEMPLATES, ids=[t.stem for t in TEMPLATES])


OVER_SEEDS = [t.stem for t in TEMPLATES if "moduli" in declared(t)]


def over_seeds(n: int, folder: Path, seeds: Sequence[int] = (2, 3, 10)) -> dict[str, object]:
    """Write runs of modulus n to a folder: none has generalised, and that of seed 3 diverged."""
    history = pd.DataFrame({name: [0.5] for name in store.HISTORY.names})
    for run in (Run(n, seed) for seed in seeds):
        weights = born(run, folder / f"{run}.safetensors")
        broken = {"loss": [np.nan if run.seed == 3 else 0.5]}
        metrics = measured(run, weights, split_of(n), history.assign(**broken))
        store.write_json(folder / f"{run}.json", metrics)
    return {"moduli": [n], "models": str(folder)}


def inches(pdf: bytes) -> float:
    """Return how wide the page of a PDF is."""
    return float(re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ", pdf)[0]) / 72


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run(request, tmp_path_factory):
    return request.param, untrained(request.param, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """Return a folder to run the stage in, with the inputs of the headline n and no outputs."""
    folder = tmp_path_factory.mktemp("work")
    text = re.sub(r"(?m)^n: .*", "n: 12", (ROOT / "params.yaml").read_text())
    text = re.sub(r"(?m)^inches:\n.*\n.*\n", "inches: {column: 4, page: 7.5}\n", text)
    (folder / "params.yaml").write_text(text)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    (folder / "data").mkdir()
    untrained(Run(12, ALL.seed), folder / "data")
    return folder


@pytest.fixture
def stage(workplace, monkeypatch):
    """Return the stage as a function of its arguments, which runs in this process."""
    monkeypatch.chdir(workplace)

    def call(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["stages/figure.py", *arguments])
        runpy.run_path(str(ROOT / "stages" / "figure.py"), run_name="__main__")

    return call


@every_template
def test_every_parameter_is_an_input_or_a_key_of_params_yaml(template):
    settings = ALL.figures.get(template.stem.replace("-", "_"), {})
    shared = {*ALL.metrics.model_dump(exclude={"seed"})}
    shared |= {*ALL.figures["stability"]} if "moduli" in declared(template) else set()
    assert "stem" in declared(template) and not {"n", "seed"} & set(declared(template))
    parameters = set(declared(template)) - {"run", "moduli", "stem"} - paths(template)
    assert set(settings) <= parameters <= {*settings, *shared}


@pytest.mark.parametrize("template", PAPER, ids=[t.stem for t in PAPER])
def test_every_figure_is_drawn_for_any_run_even_untrained(template, run, tmp_path, monkeypatch):
    drawn_run, inputs = run
    values: dict[str, object] = {"run": str(drawn_run)}
    values |= {name: str(inputs[name]) for name in paths(template) - {"models"}}
    if template.stem in OVER_SEEDS:
        values |= over_seeds(drawn_run.n, tmp_path / "models")
    check(template, values, tmp_path, monkeypatch)


@pytest.mark.parametrize("task_run", OF_TASKS, ids=str)
def test_every_figure_of_a_run_is_drawn_of_other_tasks_too(task_run, tmp_path, monkeypatch):
    inputs = untrained(task_run, tmp_path)
    for template in (x for x in PAPER if x.stem not in OVER_SEEDS):
        values = {name: str(inputs[name]) for name in paths(template)} | {"run": str(task_run)}
        check(template, values, tmp_path, monkeypatch)


def test_the_same_inputs_give_the_same_bytes_and_a_page_that_needs_no_network(stage, workplace):
    arguments = ["fig02-pca-dim", "--input", "metrics=data/metrics"]
    stage(*arguments)
    first = contents(workplace / "figures")
    command = [sys.executable, str(ROOT / "stages" / "figure.py"), *arguments]
    process = subprocess.run(command, cwd=workplace, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    assert contents(workplace / "figures") == first
    assert list(first) == [f"fig02-pca-dim.{x}" for x in ("html", "pdf", "png", "svg")]
    assert inches(first["fig02-pca-dim.pdf"]) == 4
    html = first["fig02-pca-dim.html"].decode()
    assert "figures/fig02-pca-dim" in html and 'src="fig02-pca-dim.png"' in html
    assert not re.search(r"<script|<link|@import|(src|href)=.(?!fig02|data:|#)|url\(", html)


def test_a_wrong_command_is_refused_before_anything_runs(stage, workplace):
    wrong = {
        "notebooks/nothing.ipynb": ["nothing"],
        "weights": ["fig08-class-order"],
        "wieghts": ["fig08-class-order", "--input", "weights=x", "--input", "wieghts=y"],
        "moduli": ["fig14-attn-seeds", "--input", "models=x"],
    }
    for fault, words in wrong.items():
        with pytest.raises(SystemExit) as stop:
            stage(*words, "--out", "refused")
        assert fault in str(stop.value) and "\n" not in str(stop.value)
    assert not (workplace / "refused").exists()
    with pytest.raises(SystemExit, match=r"fig08-class-order\.ipynb: InputError: params\.yaml: "):
        stage("fig08-class-order", "--input", "weights=params.yaml", "--out", "refused")
    assert contents(workplace / "refused") == {}


def test_a_figure_of_a_family_compares_its_moduli_in_order_of_seeds_under_its_own_name(
    stage, workplace
):
    over_seeds(12, workplace / "over")
    over_seeds(6, workplace / "over", [2])
    words = ["--template", "fig14-attn-seeds", "--input", "models=over", "--out", "out"]
    stage("fig17-attn-seeds", *words, "--moduli", "12")
    html = (workplace / "out" / "fig17-attn-seeds.html").read_text("utf-8")
    assert re.findall(r"seed (\d+): block score of head 0", html) == ["2", "10"]
    outputs = contents(workplace / "out")
    assert list(outputs) == [f"fig17-attn-seeds.{x}" for x in ("html", "pdf", "png", "svg")]
    assert inches(outputs["fig17-attn-seeds.pdf"]) == 7.5


def write_template(folder: Path, *cells: str) -> Path:
    """Write a template of these cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    code = [v4.new_code_cell("", metadata={"tags": ["parameters"]}), *map(v4.new_code_cell, cells)]
    title = v4.new_markdown_cell("# T")
    template = v4.new_notebook(cells=[title, *code], metadata={"kernelspec": kernel})
    nbformat.write(template, folder / "written.ipynb")
    return folder / "written.ipynb"


def test_a_page_has_what_a_cell_prints_shows_and_ends_with_in_this_order(tmp_path):
    cell = "from IPython.display import HTML, display\nprint('1st')\ndisplay(HTML('2nd'))\n'3rd'"
    [page] = notebook.pages([(write_template(tmp_path, cell, "print('4th');"), {})])
    output = re.sub(r'(?s)<div class="input">.*?</pre>', "", page)
    assert re.findall("[1-4](?:st|nd|rd|th)", output) == ["1st", "2nd", "3rd", "4th"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("assert 1 > 2, 'it is not'", "written.ipynb: AssertionError: it is not"),
        ("import os; os._exit(3)", "written.ipynb: its process ended with exit code 3"),
    ],
)
def test_a_cell_that_fails_ends_it_with_one_line(cell, message, tmp_path):
    with pytest.raises(InputError, match=re.escape(message)):
        next(notebook.pages([(write_template(tmp_path, cell), {})]))


@pytest.mark.slow
def test_assertions_hold_where_python_is_told_to_drop_them(tmp_path):
    template = write_template(tmp_path, "assert 1 == 2")
    text = "from pathlib import Path; from strata import notebook\nif __name__ == '__main__':\n"
    text += f"    next(notebook.pages([(Path({str(template)!r}), {{}})]))\n"
    (script := tmp_path / "pages.py").write_text(text)
    done = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONOPTIMIZE": "1"}, cwd=ROOT,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and "AssertionError" in done.stderr


@every_template
def test_a_notebook_that_is_opened_by_hand_reads_and_writes_as_a_stage_does(template, monkeypatch):
    options = runpy.run_path(str(ROOT / "stages/figure.py"))["options"]
    parameters, of_stages = declared(template), []
    for stage in files.stages(ROOT).values():
        _, separator, words = stage.get("do", stage).get("cmd", "").partition("stages/figure.py ")
        values = {"variant": ALL.variant, "n": ALL.n, "seed": ALL.seed, "item": ALL.n}
        words = re.sub(r"\$\{(\w+)\}", lambda x, k=values: str(k.get(x[1], x[1])), words)
        monkeypatch.setattr(sys, "argv", ["", *words.split()])
        if separator and template.stem in words.split():
            args = options()
            inputs = dict(pair.split("=") for pair in args.input)
            of_stages.append(inputs | {"stem": f"{args.out}/{template.stem}"})
    of_notebook = {name: parameters[name] for name in ("stem", *paths(template))}
    assert any(of_notebook.items() <= x.items() for x in of_stages)


def test_a_notebook_finds_the_top_from_its_folder_and_elsewhere_says_what_to_set(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(TEMPLATES[-1].parent)
    notebook.at_top()
    assert Path.cwd() == ROOT
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="in no clone of strata; set STRATA_REPOSITORY to"):
        notebook.at_top()
    monkeypatch.setenv("STRATA_REPOSITORY", str(ROOT))
    notebook.at_top()
    assert Path.cwd() == ROOT
