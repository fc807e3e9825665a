"""The modules of strata that a script or a notebook reaches through its imports."""

import ast
import json
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[1]


def source(path: Path) -> str:
    """The Python of a module, or of all code cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules of strata that a file imports itself, such as analysis/fourier."""
    found = set()
    for node in ast.walk(ast.parse(source(path))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "strata":
            inside = str(node.module).split(".")[1:]
            named = ["/".join([*inside, alias.name]) for alias in node.names]
            found |= {x if (SRC / f"{x}.py").is_file() else "/".join(inside) for x in named}
        elif isinstance(node, ast.Import):
            found |= {a.name[7:].replace(".", "/") for a in node.names if a.name[:7] == "strata."}
    return frozenset(found - {""})


def reached(*paths: Path) -> set[str]:
    """The modules of strata that the files reach, directly or through one another."""
    todo, seen = set().union(*(imported(path) for path in paths)), set()
    while todo:
        module = todo.pop()
        seen.add(module)
        todo |= imported(SRC / f"{module}.py") - seen
    return seen
