"""Values of parameters by their keys, and the md5 that dvc.lock has of a file."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from strata.inputs import InputError


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


def leaves(key: str, found: Any) -> Iterable[tuple[str, str]]:
    """Every single value under a key, with its dotted name.

    >>> list(leaves("a", {"b": 1, "c": {"d": 2}}))
    [('a.b', '1'), ('a.c.d', '2')]
    """
    if not isinstance(found, Mapping):
        return [(key, str(found))]
    return [leaf for name in found for leaf in leaves(f"{key}.{name}", found[name])]


def md5(path: Path | str) -> str:
    """The md5 of a file, which is what dvc.lock says of it. Raises InputError."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
