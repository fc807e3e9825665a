"""Keys for code: a hash of every definition that a script or a notebook reaches.

A definition is a function, a class or an assignment at the top of a module. It reaches those whose
names it uses, itself or as attributes of a module; an object's class is reached where the object is
made. Whatever else stands at the top of a module counts as soon as the module is imported. A module
that is passed around counts whole. Comments, docstrings and layout do not count.
"""

import ast
import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from ops.syntax import PACKAGES, STATEMENTS, Module, cells, chains, dump, parse, python_source

TOP = Path(__file__).parents[1]
WHOLE = "*"
SCRIPTS = {"stages", "scripts"}  # nobody takes names out of what lies in these


class Definition(NamedTuple):
    """A definition in a module, all of it (WHOLE), or what else its top has (STATEMENTS)."""

    module: str
    name: str

    def __str__(self) -> str:
        joined = "." if _ours(self.module) else ": "
        return f"{self.module}{joined}{self.name}" if self.name else f"{self.module}: statements"


class Code:
    """The modules as they are now, each read once."""

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}
        self.memo: dict[Definition, tuple[set[Definition], str]] = {}

    def hashes(self, *paths: Path) -> list[str]:
        """Return a line for each definition that the files reach, with its md5 and its name.

        A figure's page shows its notebook: all cells count, with prose and comments.
        """
        hashes = {str(x): self._uses(x)[1] for x in self.reach(*paths) if x.name != WHOLE}
        for path in paths:
            if path.suffix == ".ipynb":
                content = [[c["cell_type"], "".join(c["source"])] for c in cells(path.read_text())]
                hashes[f"{_name(path)}: cells"] = _md5(json.dumps(content))
        return [f"{hashes[name]}  {name}\n" for name in sorted(hashes) if hashes[name]]

    def reach(self, *paths: Path) -> set[Definition]:
        """Return the definitions that modules, scripts or notebooks reach."""
        todo, seen = {Definition(_name(path), WHOLE) for path in paths}, set()
        while todo:
            one = todo.pop()
            seen.add(one)
            todo |= self._uses(one)[0] - seen
        return seen

    def _uses(self, one: Definition) -> tuple[set[Definition], str]:
        """Return what a definition reaches by itself, and its md5, which is empty for no code."""
        if one not in self.memo:
            self.memo[one] = (
                self._uses_of_module(one) if one.name == WHOLE else self._uses_of_definition(one)
            )
        return self.memo[one]

    def _uses_of_module(self, one: Definition) -> tuple[set[Definition], str]:
        module = self._read(one.module)
        targets_of_imports = {x for targets in module.imports.values() for x in targets}
        imported = {
            x for target in targets_of_imports for x in self._resolve(target) if x.name != WHOLE
        }
        entry = not _ours(one.module)  # nobody takes names out of a script
        definitions = {Definition(one.module, name) for name in module.definitions}
        return definitions | {Definition(one.module, STATEMENTS)} | (
            set() if entry else imported
        ), ""

    def _uses_of_definition(self, one: Definition) -> tuple[set[Definition], str]:
        module, reached, bound = self._read(one.module), set(), set()
        for parts in (x for node in module.definitions.get(one.name, ()) for x in chains(node)):
            name, attributes = parts[0], parts[1:]
            if name in module.definitions:
                reached.add(Definition(one.module, name))
            for target in module.imports.get(name, ()):
                bound.add(f"{name}={target}")
                reached |= self._resolve(".".join([target, *attributes]))
        if one.name == STATEMENTS:
            targets = {x for targets in module.imports.values() for x in targets}
            reached |= {Definition(x, STATEMENTS) for t in targets for x in self._holders(t)}
            reached |= {Definition(x, STATEMENTS) for x in self._holders(one.module)}
        reached.add(Definition(one.module, STATEMENTS))
        text = "\n".join([*map(dump, module.definitions.get(one.name, ())), *sorted(bound)])
        return reached - {one}, _md5(text) if text else ""

    def _resolve(self, dotted: str) -> set[Definition]:
        """Resolve a name with dots to a definition, or to a whole module."""
        holders = self._holders(dotted)
        if not holders:
            return set()
        attributes = dotted.removeprefix(holders[-1]).split(".")[1:]
        module = self._read(holders[-1])
        imports = module.imports | self._lazy(holders[-1])
        if not attributes or not (attributes[0] in module.definitions or attributes[0] in imports):
            return {Definition(holders[-1], WHOLE)}
        targets = {".".join([x, *attributes[1:]]) for x in imports.get(attributes[0], ())}
        definitions = {x for other in targets - {dotted} for x in self._resolve(other)}
        return definitions | {
            Definition(holders[-1], n) for n in attributes[:1] if n in module.definitions
        }

    def _lazy(self, module: str) -> dict[str, set[str]]:
        """Return what a module imports at the first use of a name, by its stub NAME.pyi."""
        stub = (self._file(module) or Path()).with_suffix(".pyi")
        return parse(ast.parse(stub.read_text()), module).imports if stub.is_file() else {}

    def _holders(self, dotted: str) -> list[str]:
        """Return the modules that importing a dotted name runs: packages, and the module last."""
        parts = dotted.split(".")
        prefixes = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
        return [name for name in prefixes if self._file(name)] if _ours(dotted) else []

    def _file(self, module: str) -> Path | None:
        if not _ours(module):
            return TOP / module
        package, *inside = module.split(".")
        path = TOP.joinpath(PACKAGES[package], *inside)
        files = (path.with_suffix(".py"), path / "__init__.py")
        return next((file for file in files if file.is_file()), None)

    def _read(self, name: str) -> Module:
        if name not in self.modules:
            path = self._file(name)
            assert path
            inside = name if path.name == "__init__.py" else name.rpartition(".")[0]
            self.modules[name] = parse(ast.parse(python_source(path)), inside)
        return self.modules[name]


def _ours(module: str) -> bool:
    """Whether it is the name of a module of this repository, and not the path of a script."""
    return module.split(".")[0] in PACKAGES


def _name(path: Path) -> str:
    """Return the name of a module, such as strata.task. A script or a notebook has its path from
    the top as its name, and a file outside the repository its whole path."""
    whole = path.resolve()
    if not whole.is_relative_to(TOP.resolve()):
        return whole.as_posix()
    inside = whole.relative_to(TOP.resolve())
    for package, folder in PACKAGES.items():
        module = path.suffix == ".py" and not SCRIPTS & {*inside.parts}
        if module and inside.is_relative_to(folder):
            parts = inside.relative_to(folder).with_suffix("").parts
            return ".".join((package, *parts)).removesuffix(".__init__")
    return inside.as_posix()


def _md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()
