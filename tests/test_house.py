"""The plan of the house: which part may import which."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

from ops.syntax import python_source

ROOT = Path(__file__).parents[1]
STUDIES = sorted(path.parent.name for path in ROOT.glob("studies/*/dvc.yaml"))
# The files of each part, without tests.
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
# The parts that a part may import beside itself and the library, which imports no other part. The
# keys of a study's stages do not cover ops.
ABOVE = {part: {"studies"} for part in PARTS} | {"library": set(), "ops": set(), "docs": set()}
ABOVE |= {part: {"ops"} for part in ("paper", "report", "benchmarks", "studies")}
# The split is drawn by torch's generator; published checkpoints are torch's; `verify` trains.
KNOW_TORCH = {"src/strata/train", "src/strata/api", "src/strata/task"}
KNOW_TORCH |= {"ops/trainings", "ops/verify"}


def files(part: str) -> list[Path]:
    """Return the modules, scripts and notebooks of a part."""
    paths = (path for where in PARTS[part] for path in ROOT.glob(where))
    return sorted(path for path in paths if not path.name.startswith("test_"))


MODULES = {
    path.relative_to(ROOT).with_suffix("").as_posix(): path
    for part in PARTS
    for path in files(part)
    if path.suffix == ".py" and path.name != "__init__.py" and path.parent.name != "scripts"
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(python_source(path))


def imported_names(module: ast.AST, excluded: Iterable[ast.AST] = ()) -> Iterator[str]:
    """Generate the dotted names that a module imports outside the excluded statements."""
    for node in {*ast.walk(module)} - {*excluded}:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(name: str) -> str:
    """Return the part that a dotted name leads to; empty where the name is none of ours."""
    first, *inner = name.split(".")
    if first == "studies":
        return f"studies/{inner[0]}" if inner[0] in STUDIES else first
    return {"strata": "library", "ops": "ops", "report": "report"}.get(first, "")


def imports(part: str) -> set[str]:
    """Return the parts that a part imports, without itself and the library."""
    names = chain.from_iterable(imported_names(tree(path)) for path in files(part))
    return {part_of(name) for name in names} - {"", "library", part}


def modules_using(package: str) -> set[str]:
    """Return the modules that import a package."""
    names = {module: imported_names(tree(path)) for module, path in MODULES.items()}
    return {k for k, imported in names.items() if package in {x.split(".")[0] for x in imported}}


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_imports_the_library_and_no_part_above_it(part):
    assert files(part)
    assert imports(part) <= ABOVE[part]


def test_no_module_needs_one_that_needs_it():
    """Count imports inside functions too, but not those for types alone."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        branches = (x for x in ast.walk(tree(path)) if isinstance(x, ast.If))
        types = (x for x in branches if "TYPE_CHECKING" in ast.dump(x.test))
        names = imported_names(tree(path), (y for x in types for y in ast.walk(x)))
        names = (x.replace(".", "/") for x in names)
        names = (x.replace("strata/", "src/strata/", 1) for x in names)
        graph[name] = {x for y in names for x in (y, y.rpartition("/")[0])} & {*MODULES} - {name}
    assert [*TopologicalSorter(graph).static_order()]


def test_only_plots_knows_matplotlib():
    drawing = re.compile(r"src/strata/plots/|studies/\w+/code/plots$")
    assert not [x for x in modules_using("matplotlib") if not drawing.match(x)]
    for part in PARTS:
        for path in files(part):
            if path.suffix == ".ipynb" or path.parent.name == "stages":
                assert "matplotlib" not in path.read_text("utf-8"), path


def test_torch_is_for_training_alone():
    """Let code outside the house know torch too, and a study that reads torch's files."""
    exempt = ("benchmarks/", "docs/", "studies/")
    users = {x for x in modules_using("torch") if not x.startswith(exempt)}
    folders = {x if x in KNOW_TORCH else x.rpartition("/")[0] for x in users}
    assert folders == KNOW_TORCH


def test_every_law_has_its_test():
    laws = (ROOT / "docs" / "laws.md").read_text("utf-8")
    tests = [x for top in ("tests", "studies") for x in (ROOT / top).rglob("test_*.py")]
    defined = {name for x in tests for name in re.findall(r"def (test_\w+)", x.read_text("utf-8"))}
    named = re.findall(r"`(test_\w+)`", laws)
    assert {*named} <= defined
    numbers = re.findall(r"(?m)^(\d+)\.", laws)
    assert numbers == [str(i + 1) for i in range(len(numbers))] and len(named) >= len(numbers)
