"""Which stage made a file, from what: read from dvc.yaml, with the md5 of every file it names.

The md5s are taken from the files. They are those that dvc.lock holds, which a stage cannot read:
DVC writes it after every stage.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.run import InputError

CODE = "data/code/"


@dataclass(frozen=True)
class Stage:
    """A stage of dvc.yaml with its names filled in."""

    name: str
    command: str
    params: tuple[str, ...]
    deps: tuple[str, ...]
    outs: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """How a file was made: what a reader needs to make it again, or to check that it is the one."""

    stage: str
    command: str
    parameters: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]


def stages(written: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Stage]:
    """The stages of dvc.yaml that stand once, by name; those of a matrix are left out."""
    single = {k: v for k, v in written.items() if not {"matrix", "foreach"} & set(v)}
    return {name: _stage(name, stage, params) for name, stage in single.items()}


def _stage(name: str, stage: Mapping[str, Any], params: Mapping[str, Any]) -> Stage:
    outs = [*stage.get("outs", ()), *stage.get("metrics", ())]
    paths = [next(iter(out)) if isinstance(out, dict) else out for out in outs]
    return Stage(
        name,
        filled(stage["cmd"], params),
        tuple(stage.get("params", ())),
        tuple(dict.fromkeys(filled(dep, params) for dep in stage.get("deps", ()))),
        tuple(filled(path, params) for path in paths),
    )


def filled(text: str, params: Mapping[str, Any]) -> str:
    """The text with the value of every ${key} in its place.

    >>> filled("data/n${n}.json", {"n": 6})
    'data/n6.json'
    """
    return re.sub(r"\$\{([\w.]+)\}", lambda found: str(value(params, found[1])), text)


def value(params: Mapping[str, Any], key: str) -> Any:
    """The value at a dotted key. Raises InputError where there is none."""
    found: Any = params
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise InputError(f"params.yaml: {key}: is missing, but dvc.yaml names it")
        found = found[part]
    return found


def made(stage: Stage, params: Mapping[str, Any]) -> Made:
    """The stage's command, parameters and files, the latter with their md5; code is not hashed."""
    return Made(
        stage.name,
        stage.command,
        tuple(leaf for key in stage.params for leaf in leaves(key, value(params, key))),
        hashed(dep for dep in stage.deps if not dep.startswith(CODE)),
        hashed(stage.outs),
    )


def leaves(key: str, found: Any) -> Iterable[tuple[str, str]]:
    """Every single value under a key, with its dotted name.

    >>> list(leaves("a", {"b": 1, "c": {"d": 2}}))
    [('a.b', '1'), ('a.c.d', '2')]
    """
    if not isinstance(found, Mapping):
        return [(key, str(found))]
    return [leaf for name in found for leaf in leaves(f"{key}.{name}", found[name])]


def hashed(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each path with its md5."""
    return tuple((path, md5(path)) for path in paths)


def md5(path: Path | str) -> str:
    """The md5 of a file, which is what dvc.lock says of it. Raises InputError."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def script(name: str, data: Any) -> str:
    """A script that hands data to the report's function of that name."""
    text = json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return f"strata.{name}({text});\n"


def scripted(text: str) -> Any:
    """The data that ``script`` wrote."""
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])
