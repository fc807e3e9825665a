"""Modules, scripts and notebooks as syntax trees: what they define, import and use."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The packages of this repository, and where each lies in it.
PACKAGES = {name: name for name in ("studies", "report", "ops")} | {"strata": "src/strata"}
STATEMENTS = ""  # the name for what stands at the top of a module and defines nothing
NO_MEANING = {"ctx", "kind", "type_comment", "type_params"}
IMPORTS = (ast.Import, ast.ImportFrom)
NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DOCUMENTED = NAMED | ast.Module


class Module(NamedTuple):
    """What stands at the top of a module, by name, and what its imports bind, anywhere in it."""

    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, set[str]]


def python_source(path: Path) -> str:
    """Return the Python of a module, or of all code cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(c["source"]) for c in cells(text) if c["cell_type"] == "code")


def cells(notebook: str) -> list[dict]:
    return json.loads(notebook)["cells"]


def parse(tree: ast.Module, package: str) -> Module:
    """Collect the definitions and imports of a module that lies in that package."""
    names = Module({}, {})
    for node in ast.walk(tree):
        for bound, target in _bindings(node, package):
            names.imports.setdefault(bound, set()).add(target)
    body = [node for node in _undocumented(tree) if not isinstance(node, IMPORTS)]
    for node in body:
        for name in _names(node) or [STATEMENTS]:
            names.definitions.setdefault(name, []).append(node)
    imported = (n for n, x in names.imports.items() if any(t.split(".")[0] in PACKAGES for t in x))
    ours = {*imported, *names.definitions}
    for node in body:  # a decorator of ours may register what it decorates
        for decorator in node.decorator_list if isinstance(node, NAMED) else ():
            if ours & {x[0] for x in chains(decorator)}:
                names.definitions.setdefault(STATEMENTS, []).append(node)
    return names


def _bindings(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, and what each stands for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) + 1 - node.level]
        base = ".".join([*(above if node.level else ()), *filter(None, [node.module])])
        for alias in node.names:
            yield alias.asname or alias.name, f"{base}.{alias.name}"


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines; none where it does something else too."""
    if isinstance(node, NAMED):
        return [node.name]
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [x for t in targets for x in (t.elts if isinstance(t, ast.Tuple) else [t])]
    names = [x.id for x in flat if isinstance(x, ast.Name)]
    return names if len(names) == len(flat) else []


def chains(node: ast.AST) -> Iterator[list[str]]:
    """Yield every name that is used with the attributes after it, quoted annotations included."""
    attributes, root = [], node
    while isinstance(root, ast.Attribute):
        attributes, root = [root.attr, *attributes], root.value
    if isinstance(root, ast.Name):
        yield [root.id, *attributes]
        return
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from chains(child)
                if field in {"annotation", "returns"}:
                    yield from _quoted_chains(child)


def _quoted_chains(annotation: ast.AST) -> Iterator[list[str]]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                yield from chains(ast.parse(node.value.strip(), mode="eval"))
            except SyntaxError:
                continue  # the shape of an array


def _undocumented(node: DOCUMENTED) -> list[ast.stmt]:
    """Return the body of a module, class or function without its docstring."""
    return node.body if ast.get_docstring(node, clean=False) is None else node.body[1:]


def dump(node: object) -> str:
    """Write a syntax tree as text, the same for every version of Python."""
    if isinstance(node, list):
        return f"[{','.join(dump(x) for x in node if not isinstance(x, IMPORTS))}]"
    if not isinstance(node, ast.AST):
        return f"{type(node).__name__} {node!a}"
    fields = dict(ast.iter_fields(node)) | (
        {"body": _undocumented(node)} if isinstance(node, DOCUMENTED) else {}
    )
    kept = {k: v for k, v in fields.items() if k not in NO_MEANING and v not in (None, [])}
    return f"{type(node).__name__}({','.join(f'{k}={dump(v)}' for k, v in sorted(kept.items()))})"
