"""The plan of the house: which part may import which, how long a module and a function may be."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STUDIES = sorted(path.parent.name for path in ROOT.glob("studies/*/dvc.yaml"))
# Where the code of each part lies; tests apart.
PARTS = {
    "library": ("src/strata/**/*.py",),
    "paper": ("stages/*.py", "notebooks/*.ipynb"),
    "ops": ("ops/**/*.py",),
    "report": ("report/code/*.py", "report/stages/*.py", "report/notebooks/*.ipynb"),
} | {
    f"studies/{name}": (
        f"studies/{name}/code/*.py", f"studies/{name}/stages/*.py",
        f"studies/{name}/notebooks/*.ipynb",
    )
    for name in STUDIES
}  # fmt: skip
# What a part may import beside itself and the library, which imports no other part.
ABOVE = {part: {"ops"} for part in PARTS}  # stages run with what the workshop has
ABOVE |= {"library": set(), "ops": set()}
# The split is drawn by torch's generator; published checkpoints are torch's; `verify` trains.
KNOW_TORCH = {"src/strata/train", "src/strata/api", "src/strata/task"}
KNOW_TORCH |= {"ops/trainings", "ops/verify"}
FUNCTION_LINES = 50


def files(part: str) -> list[Path]:
    """The modules, scripts and notebooks of a part."""
    return sorted(path for where in PARTS[part] for path in ROOT.glob(where))


MODULES = {
    path.relative_to(ROOT).with_suffix("").as_posix(): path
    for part in PARTS
    for path in files(part)
    if path.suffix == ".py" and path.name != "__init__.py" and path.parent.name != "scripts"
}


@cache
def tree(path: Path) -> ast.Module:
    text = path.read_text("utf-8")
    return ast.parse(code(text) if path.suffix == ".ipynb" else text)


def code(notebook: str) -> str:
    cells = json.loads(notebook)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def imported(module: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(name: str) -> str:
    """The part that a dotted name leads to; empty where it is none of ours."""
    first, *rest = name.split(".")
    if first == "studies":
        return f"studies/{rest[0]}" if rest[0] in STUDIES else ""  # params are of all studies
    return {"strata": "library", "ops": "ops", "report": "report"}.get(first, "")


def imports(part: str) -> set[str]:
    """The other parts that a part imports, but for the library."""
    names = chain.from_iterable(imported(tree(path)) for path in files(part))
    return {reached(name) for name in names} - {"", "library", part}


def using(package: str) -> set[str]:
    """The modules that import a package."""
    found = {k: {x.split(".")[0] for x in imported(tree(path))} for k, path in MODULES.items()}
    return {name for name, packages in found.items() if package in packages}


def functions(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Each function and its lines of code, from `def` on, without its docstring."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            told = 0
            if ast.get_docstring(node) is not None:
                told = (first.end_lineno or 0) - first.lineno + 1
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - told


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_imports_the_library_and_no_part_above_it(part):
    assert files(part)
    assert imports(part) <= ABOVE[part]


def test_modules_are_imported_by_their_whole_names():
    for path in MODULES.values():
        nodes = [n for n in ast.walk(tree(path)) if isinstance(n, ast.ImportFrom)]
        assert not any(n.level for n in nodes), path


def test_what_refuses_input_is_imported_from_where_it_is_defined():
    names = {x for part in PARTS for path in files(part) for x in imported(tree(path))}
    assert {x for x in names if x.endswith(".InputError")} == {"strata.inputs.InputError"}


def test_only_plots_knows_matplotlib():
    drawing = re.compile(r"src/strata/plots/|studies/\w+/code/plots$")
    assert not [x for x in using("matplotlib") if not drawing.match(x)]
    for part in PARTS:
        for path in files(part):
            if path.suffix == ".ipynb" or path.parent.name == "stages":
                assert "matplotlib" not in path.read_text("utf-8"), path


def test_torch_is_for_training_alone():
    """A study that reads torch's files may know it too."""
    users = {x for x in using("torch") if not x.startswith("studies/")}
    folders = {x if x in KNOW_TORCH else x.rpartition("/")[0] for x in users}
    assert folders == KNOW_TORCH


def test_a_function_does_one_thing():
    long = {
        f"{module}.{name}"
        for module, path in MODULES.items()
        for name, count in functions(tree(path))
        if count > FUNCTION_LINES
    }
    assert not long


def test_no_script_hides_a_package_that_it_imports():
    """Python looks first in the folder of a script."""
    scripts = [path for where in PARTS for path in files(where) if path.parent.name == "stages"]
    hidden = {*sys.stdlib_module_names, "ops", "report", "strata", "studies"} - {"code"}
    assert not [path for path in scripts if path.stem in hidden]
