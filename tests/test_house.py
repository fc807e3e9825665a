"""The plan of the house: which wing may import which, how long a module and a function may be."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "strata"
CORE = "core"
RESULTS = "schema"  # the core's one package: what stages write
BELOW = {"training", "analysis", "interventions", "accounts", "dynamics"}
# What a wing may import beside itself and the core. The core imports no wing.
WINGS = {
    "training": set(),
    "analysis": {"training"},
    "interventions": {"training", "analysis"},
    "accounts": {"training", "analysis", "interventions"},
    "dynamics": {"training", "analysis", "interventions", "accounts"},
    "models": {"training", "analysis", "interventions"},
    "pipeline": BELOW,
    "workers": BELOW | {"pipeline"},
    "plots": BELOW | {"pipeline"},
    "tables": BELOW | {"pipeline", "plots"},
    "report": BELOW | {"pipeline", "plots", "tables"},
    CORE: set(),
}
# The split is drawn by torch's generator; published checkpoints are torch's; `verify` trains.
KNOW_TORCH = {"training", "models", "core/task", "core/interop", "pipeline/first_epochs"}
MODULES = {
    str(path.relative_to(SRC).with_suffix("")): path
    for path in sorted(SRC.rglob("*.py"))
    if path.name != "__init__.py"
}
STAGES = {f"stages/{path.stem}": path for path in sorted((ROOT / "stages").glob("*.py"))}
MODULE_LINES, FUNCTION_LINES = 250, 25
TABLES_OF_DATA = {"tables/seeds.grid"}  # each table of the grid with its caption


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(module: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports, wherever in it."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wing(name: str) -> str:
    """The wing that a dotted name of strata leads to."""
    first = name.split(".")[1]
    return first if first in WINGS else CORE


def rooms(of: str) -> dict[str, Path]:
    """The modules of a wing."""
    folders = (SRC, SRC / RESULTS) if of == CORE else (SRC / of,)
    paths = sorted(path for folder in folders for path in folder.glob("*.py"))
    return {f"{of}/{path.stem}": path for path in paths if path.name != "__init__.py"}


def functions(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Each function and its lines of code, from `def` on, without its docstring."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            told = 0
            if ast.get_docstring(node) is not None:
                told = (first.end_lineno or 0) - first.lineno + 1
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - told


def code(notebook: Path) -> str:
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def test_every_package_is_a_wing():
    packages = {path.parent.name for path in SRC.glob("*/__init__.py")}
    assert packages == set(WINGS) - {CORE} | {RESULTS} and all(rooms(of) for of in WINGS)


def test_wings_stand_upon_one_another():
    assert all(WINGS[low] < WINGS[high] for high in WINGS for low in WINGS[high])


@pytest.mark.parametrize("of", sorted(WINGS))
def test_imports_go_down(of):
    reached = {
        (room, wing(name))
        for room, path in rooms(of).items()
        for name in imported(tree(path))
        if name.split(".")[0] == "strata"
    }
    above = {(room, other) for room, other in reached if other not in {of, CORE, *WINGS[of]}}
    assert not above


def test_nothing_imports_what_is_above_it_by_a_relative_name():
    for path in MODULES.values():
        nodes = [n for n in ast.walk(tree(path)) if isinstance(n, ast.ImportFrom)]
        assert not any(n.level for n in nodes), path


def test_only_plots_knows_matplotlib():
    users = {
        of
        for of in WINGS
        for path in rooms(of).values()
        if "matplotlib" in {x.split(".")[0] for x in imported(tree(path))}
    }
    assert users == {"plots"}
    scripts = [path.read_text("utf-8") for path in STAGES.values()]
    for text in (*scripts, *map(code, (ROOT / "notebooks").rglob("*.ipynb"))):
        assert "matplotlib" not in text


def test_torch_is_for_training_alone():
    users = {
        room
        for of in WINGS
        for room, path in rooms(of).items()
        if "torch" in {x.split(".")[0] for x in imported(tree(path))}
    }
    assert {x if x in KNOW_TORCH else x.split("/")[0] for x in users} == KNOW_TORCH


def test_a_module_is_read_in_one_sitting_and_a_function_does_one_thing():
    modules = MODULES | STAGES
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules.items()}
    long = {name for name, count in lines.items() if count > MODULE_LINES}
    long |= {
        f"{module}.{name}"
        for module, path in modules.items()
        for name, count in functions(tree(path))
        if count > FUNCTION_LINES
    }
    assert long == TABLES_OF_DATA
