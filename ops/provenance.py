"""Values of parameters by their keys, and the md5 that dvc.lock has of a file."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from strata.inputs import InputError


def fill(text: str, params: Mapping[str, Any]) -> str:
    """Put the value of every ${key} in its place in a text.

    >>> fill("data/n${n}.json", {"n": 6})
    'data/n6.json'
    """
    return re.sub(r"\$\{([\w.]+)\}", lambda key: str(value(params, key[1])), text)


def value(params: Mapping[str, Any], key: str) -> Any:
    """Return the value at a dotted key. Raises InputError where there is none."""
    node: Any = params
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            raise InputError(f"params.yaml: {key}: is missing, but dvc.yaml names it")
        node = node[part]
    return node


def leaves(key: str, node: Any) -> Iterable[tuple[str, str]]:
    """Return every single value under a key, with its dotted name.

    >>> list(leaves("a", {"b": 1, "c": {"d": 2}}))
    [('a.b', '1'), ('a.c.d', '2')]
    """
    if not isinstance(node, Mapping):
        return [(key, str(node))]
    return [leaf for name in node for leaf in leaves(f"{key}.{name}", node[name])]


def md5(path: Path | str) -> str:
    """Return the md5 of a file, which dvc.lock has of it. Raises InputError."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
