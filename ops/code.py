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

from ops.syntax import PACKAGES, STATEMENTS, Module, cells, chains, dump, parsed, source

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

    def lines(self, *paths: Path) -> list[str]:
        """A line for each definition that the files reach: its md5, and its name.

        A figure's page shows its notebook: all cells count, with prose and comments.
        """
        found = {str(x): self._used(x)[1] for x in self.reached(*paths) if x.name != WHOLE}
        for path in paths:
            if path.suffix == ".ipynb":
                shown = [[c["cell_type"], "".join(c["source"])] for c in cells(path.read_text())]
                found[f"{_name(path)}: cells"] = _md5(json.dumps(shown))
        return [f"{found[name]}  {name}\n" for name in sorted(found) if found[name]]

    def reached(self, *paths: Path) -> set[Definition]:
        """What the files reach, which are modules, scripts or notebooks."""
        todo, seen = {Definition(_name(path), WHOLE) for path in paths}, set()
        while todo:
            one = todo.pop()
            seen.add(one)
            todo |= self._used(one)[0] - seen
        return seen

    def _used(self, one: Definition) -> tuple[set[Definition], str]:
        """What a definition reaches by itself, and its md5; none where nothing is there."""
        if one not in self.memo:
            self.memo[one] = self._whole(one) if one.name == WHOLE else self._looked_up(one)
        return self.memo[one]

    def _whole(self, one: Definition) -> tuple[set[Definition], str]:
        module = self._read(one.module)
        again = {x for targets in module.imports.values() for x in targets}
        found = {x for target in again for x in self._meant(target) if x.name != WHOLE}
        entry = not _ours(one.module)  # nobody takes names out of a script
        own = {Definition(one.module, name) for name in module.definitions}
        return own | {Definition(one.module, STATEMENTS)} | (set() if entry else found), ""

    def _looked_up(self, one: Definition) -> tuple[set[Definition], str]:
        module, found, bound = self._read(one.module), set(), set()
        for parts in (x for node in module.definitions.get(one.name, ()) for x in chains(node)):
            name, rest = parts[0], parts[1:]
            if name in module.definitions:
                found.add(Definition(one.module, name))
            for target in module.imports.get(name, ()):
                bound.add(f"{name}={target}")
                found |= self._meant(".".join([target, *rest]))
        if one.name == STATEMENTS:
            targets = {x for targets in module.imports.values() for x in targets}
            found |= {Definition(x, STATEMENTS) for t in targets for x in self._holders(t)}
            found |= {Definition(x, STATEMENTS) for x in self._holders(one.module)}
        found.add(Definition(one.module, STATEMENTS))
        text = "\n".join([*map(dump, module.definitions.get(one.name, ())), *sorted(bound)])
        return found - {one}, _md5(text) if text else ""

    def _meant(self, dotted: str) -> set[Definition]:
        """What a name with dots stands for: a definition, or a whole module."""
        holders = self._holders(dotted)
        if not holders:
            return set()
        rest = dotted.removeprefix(holders[-1]).split(".")[1:]
        module = self._read(holders[-1])
        imports = module.imports | self._lazy(holders[-1])
        if not rest or not (rest[0] in module.definitions or rest[0] in imports):
            return {Definition(holders[-1], WHOLE)}
        again = {".".join([x, *rest[1:]]) for x in imports.get(rest[0], ())}
        found = {x for other in again - {dotted} for x in self._meant(other)}
        return found | {Definition(holders[-1], n) for n in rest[:1] if n in module.definitions}

    def _lazy(self, module: str) -> dict[str, set[str]]:
        """What a module imports at the first use of a name: its stub, NAME.pyi, says so."""
        stub = (self._file(module) or Path()).with_suffix(".pyi")
        return parsed(ast.parse(stub.read_text()), module).imports if stub.is_file() else {}

    def _holders(self, dotted: str) -> list[str]:
        """The modules that importing a name with dots runs: packages, and the module last."""
        parts = dotted.split(".")
        every = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
        return [name for name in every if self._file(name)] if _ours(dotted) else []

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
            self.modules[name] = parsed(ast.parse(source(path)), inside)
        return self.modules[name]


def _ours(module: str) -> bool:
    """Whether it is the name of a module of this repository, and not the path of a script."""
    return module.split(".")[0] in PACKAGES


def _name(path: Path) -> str:
    """The name of a module, such as strata.task; of scripts and notebooks their path from the top,
    wherever the repository lies, and of a file outside it its whole path."""
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
