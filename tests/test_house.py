"""The plan of the house: which part may import which, how long a module and a function may be."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

from ops.syntax import source

ROOT = Path(__file__).parents[1]
STUDIES = sorted(path.parent.name for path in ROOT.glob("studies/*/dvc.yaml"))
# Where the code of each part lies; tests apart.
PARTS = {
    "library": ("src/strata/**/*.py",),
    "paper": ("stages/*.py", "notebooks/*.ipynb"),
    "ops": ("ops/**/*.py",),
    "report": ("report/code/*.py", "report/stages/*.py", "report/notebooks/*.ipynb"),
    "docs": ("docs/*.py",),
    "benchmarks": ("benchmarks/**/*.py",),
    "studies": ("studies/*.py", "studies/stages/*.py"),  # what all studies share
} | {
    f"studies/{name}": (f"studies/{name}/**/*.py", f"studies/{name}/notebooks/*.ipynb")
    for name in STUDIES
}  # fmt: skip
# What a part may import beside itself and the library, which imports no other part. A key of a
# study's stages knows nothing of ops.
ABOVE = {part: {"studies"} for part in PARTS} | {"library": set(), "ops": set(), "docs": set()}
ABOVE |= {part: {"ops"} for part in ("paper", "report", "benchmarks", "studies")}
# The split is drawn by torch's generator; published checkpoints are torch's; `verify` trains.
KNOW_TORCH = {"src/strata/train", "src/strata/api", "src/strata/task"}
KNOW_TORCH |= {"ops/trainings", "ops/verify"}
FUNCTION_LINES = 50


def files(part: str) -> list[Path]:
    """The modules, scripts and notebooks of a part."""
    found = (path for where in PARTS[part] for path in ROOT.glob(where))
    return sorted(path for path in found if not path.name.startswith("test_"))


MODULES = {
    path.relative_to(ROOT).with_suffix("").as_posix(): path
    for part in PARTS
    for path in files(part)
    if path.suffix == ".py" and path.name != "__init__.py" and path.parent.name != "scripts"
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path))


def imported(module: ast.AST, apart: Iterable[ast.AST] = ()) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it but in these statements."""
    for node in {*ast.walk(module)} - {*apart}:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(name: str) -> str:
    """The part that a dotted name leads to; empty where it is none of ours."""
    first, *rest = name.split(".")
    if first == "studies":
        return f"studies/{rest[0]}" if rest[0] in STUDIES else first
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


def test_no_module_needs_one_that_needs_it():
    """Not even in a function; for its types it may."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        branches = (x for x in ast.walk(tree(path)) if isinstance(x, ast.If))
        types = (x for x in branches if "TYPE_CHECKING" in ast.dump(x.test))
        names = imported(tree(path), (y for x in types for y in ast.walk(x)))
        names = (x.replace(".", "/") for x in names)
        names = (x.replace("strata/", "src/strata/", 1) for x in names)
        graph[name] = {x for y in names for x in (y, y.rpartition("/")[0])} & {*MODULES} - {name}
    assert [*TopologicalSorter(graph).static_order()]


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
    """What is beside the house, and a study that reads torch's files, may know it too."""
    beside = ("benchmarks/", "docs/", "studies/")
    users = {x for x in using("torch") if not x.startswith(beside)}
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
