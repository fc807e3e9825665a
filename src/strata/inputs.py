"""What may be used as input: regular files of a size that can be read, and words for a script."""

import inspect
import reprlib
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

LARGEST = 2**30  # bytes of a file that is read whole
LARGEST_YAML = 2**24
DEEPEST = 64  # collections in one another: a parser in C ends the process at some thousands
ROWS_PER_BYTE = 16  # more is a bomb: a row of each of our tables has some bits at least


class InputError(Exception):
    """Input that cannot be used; the message is one line that names it and says what is allowed."""


def regular(path: Path | str, largest: int | float = LARGEST) -> Path:
    """The path of a regular file of at most so many bytes. Raises InputError for anything else,
    such as a pipe, which may never end, and OSError where nothing is there."""
    found = Path(path).stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path}: must be a regular file, is a pipe, device or socket")
    if found.st_size > largest:
        raise InputError(f"{path}: {found.st_size} bytes, must be at most {largest}")
    return Path(path)


def no_bomb(path: Path | str, rows: int) -> None:
    """Raise InputError where a table has more rows than its bytes can stand for."""
    size = Path(path).stat().st_size
    if rows > ROWS_PER_BYTE * size:
        raise InputError(
            f"{path}: {rows} rows in {size} bytes: must be at most {ROWS_PER_BYTE} a byte"
        )


def yaml_text(path: Path | str) -> str:
    """The text of a YAML file that can be parsed at no risk. Raises InputError where collections
    are nested too deep, or an alias inside an anchor could multiply what is read."""
    text = regular(path, LARGEST_YAML).read_text("utf-8")
    anchored: list[bool] = []  # of the collections that are open
    for event in YAML(typ="safe").parse(text):
        if isinstance(event, CollectionStartEvent):
            anchored.append(bool(event.anchor))
        elif isinstance(event, CollectionEndEvent):
            anchored.pop()
        elif isinstance(event, AliasEvent) and any(anchored):
            raise InputError(f"{path}: *{event.anchor}: must not be inside of an anchor")
        if len(anchored) > DEEPEST:
            raise InputError(f"{path}: must be at most {DEEPEST} collections in one another")
    return text


def shown(value: Any) -> str:
    """A value in at most 60 characters, at a cost that does not depend on what is in it: a list may
    hold itself, in effect, a billion times."""
    short = reprlib.Repr()
    short.maxlevel, short.maxstring, short.maxlong, short.maxother = 2, 99, 99, 99
    text = short.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def few(names: Sequence[str]) -> str:
    """Names for a line: the first three, and how many more there are.

    >>> few(["a", "b"]), few("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def arguments(main: Callable[..., Any], words: list[str]) -> tuple[str, ...]:
    """The words that a script was called with, as main takes them; none where it takes none, as it
    then reads them itself. Raises InputError where they are too few or too many."""
    signature = inspect.signature(main)
    if not signature.parameters:
        return ()
    try:
        return signature.bind(*words).args
    except TypeError:
        every = signature.parameters.values()
        names = (x.name + "…" * (x.kind is x.VAR_POSITIONAL) for x in every)
        must = " ".join(names).upper().replace("_", "-")
        raise InputError(f"called with {len(words)} arguments: must be {must}") from None
