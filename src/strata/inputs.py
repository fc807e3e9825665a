"""Check what may be used as input, and say in one line why anything else may not."""

import inspect
import reprlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from pydantic import ValidationError

LARGEST = 2**30  # bytes of a file that is read whole


class InputError(Exception):
    """This error says why input cannot be used, in one line that names it and what is wrong."""


def regular_file(path: Path | str, largest: int | float = LARGEST) -> Path:
    """Return the path of a regular file of at most ``largest`` bytes. Raises InputError for
    anything else, such as a pipe, which may never end, and OSError where nothing is there."""
    file = Path(path)
    size = file.stat().st_size
    if not file.is_file():
        raise InputError(f"{path}: must be a regular file")
    if size > largest:
        raise InputError(f"{path}: {size} bytes, must be at most {largest}")
    return file


def opened(content: bytes, largest: int = LARGEST) -> BytesIO:
    """Return the content as a file in memory. Raises InputError for an archive, as torch and NumPy
    write, that unpacks to more than ``largest`` bytes."""
    file = BytesIO(content)
    with suppress(BadZipFile):
        size = sum(x.file_size for x in ZipFile(file).infolist())
        if size > largest:
            raise InputError(f"it unpacks to {size} bytes, must be at most {largest}")
    file.seek(0)
    return file


def fault(error: ValidationError, origin: str, *prefix: str) -> InputError:
    """Return the first fault as one line: where it is, the key, its value in short, and what is
    wrong."""
    faults = error.errors(include_url=False)
    # A misspelt key is missing under its right name too: name what can be seen in the file.
    first = min(faults, key=lambda x: x["type"] != "extra_forbidden")
    key = ".".join((*prefix, *map(str, first["loc"])))
    if first["loc"] and first["type"] not in {"missing", "value_error"}:
        key += f" = {reprlib.repr(first['input'])}"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    reason = first["msg"].removeprefix("Value error, ")
    return InputError(" ".join((": ".join(filter(None, (origin, key, reason))) + more).split()))


def printable(text: str) -> str:
    """Replace each character that cannot be printed, such as codes of a terminal, by a question
    mark.

    >>> printable("n6\x1b[2J …")
    'n6?[2J …'
    """
    return "".join(x if x.isprintable() else "?" for x in text)


def shortened(names: Sequence[str]) -> str:
    """Return names for a line: the first three, and how many more there are.

    >>> shortened(["a", "b"]), shortened("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def arguments(main: Callable[..., Any], words: list[str]) -> tuple[str, ...]:
    """Return the words that a script was called with, as ``main`` takes them. A main without
    parameters reads the words itself and gets none. Raises InputError where there are too few or
    too many."""
    signature = inspect.signature(main)
    if not signature.parameters:
        return ()
    try:
        return signature.bind(*words).args
    except TypeError:
        names = " ".join(signature.parameters).upper().replace("_", "-")
        raise InputError(f"called with {len(words)} arguments: must be {names}") from None
