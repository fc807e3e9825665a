"""Add runs to those that are trained, measured, changed and compared over seeds.

``python scripts/add_runs.py n165-s11 mlp-n165-s2``, then ``dvc repro``. Their names go wherever
params.yaml and the pipeline files list the runs, which DVC cannot fill in by itself. A run that is
there already stays where it is.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import TextWrapper

from strata import store
from strata.run import InputError, Run, command, read_yaml

RUNS = "runs/dvc.yaml"
# In the order in which they are written: what the others are told from comes last, so that the same
# command again completes an interrupted one.
FILES = ("dvc.yaml", "studies/dvc.yaml", RUNS, "params.yaml")
WIDTH = 120
NAME = r"(?:mlp-)?n\d+-s\d+"
# The same file of one run after the other: as deps, one a line, and as words of a command.
BLOCKS = (
    re.compile(rf"^      - ([\w/]+/){NAME}(\.\w+)\n(?:      - \1{NAME}\2\n)*", re.MULTILINE),
    re.compile(rf"^      ([\w/]+/){NAME}(\.\w+)(?:\s+\1{NAME}\2)*\n", re.MULTILINE),
)
Lists = list[tuple[list[str], list[str]]]  # names before and after


def wrapped(words: Iterable[str], column: int, indent: int) -> str:
    """The words in lines of WIDTH: the first begins at that column, the others at that indent."""
    wrap = TextWrapper(WIDTH, " " * column, " " * indent, break_on_hyphens=False)
    return wrap.fill(" ".join(words))[column:]


def listed(text: str, key: str, names: list[str]) -> str:
    """The text with these names as the list in brackets after the key."""
    head, found, rest = text.partition(f"{key}[")
    if not found:
        raise InputError(f"{key.strip()} must be followed by a list in brackets, as in [n165-s1]")
    line = f"{head}{key}[".rpartition("\n")[2]
    indent = len(line) - len(line.lstrip()) + 2
    words = [f"{name}," for name in names[:-1]] + names[-1:]
    return f"{head}{key}[{wrapped(words, len(line), indent)}]{rest.partition(']')[2]}"


def named(text: str, lists: Lists) -> str:
    """The text where a block with the files of all runs of a list has those of its runs after."""

    def block(found: re.Match[str]) -> str:
        (folder, suffix), names = found.groups(), re.findall(NAME, found[0])
        for before, after in lists:
            if sorted(names) == sorted(before):
                paths = [f"{folder}{name}{suffix}" for name in after]
                if found[0].startswith("      - "):
                    return "".join(f"      - {path}\n" for path in paths)
                return f"      {wrapped(paths, 6, 6)}\n"
        return found[0]

    for pattern in BLOCKS:
        text = pattern.sub(block, text)
    return text


def main() -> None:
    new = {Run.parse(word) for word in sys.argv[1:]}
    if not new:
        raise InputError("must be called with the runs to add, such as n165-s11")
    texts = {file: Path(file).read_text(encoding="utf-8") for file in FILES}
    compared = [Run.parse(name) for name in read_yaml("params.yaml")["grid"]["runs"]]
    *every, headline = read_yaml(RUNS)["stages"]["split"]["matrix"]["run"]
    moduli = list(dict.fromkeys([*(x.n for x in compared), *sorted(x.n for x in new)]))
    together = {*compared, *new}
    grid = sorted(together, key=lambda x: (x.architecture == "mlp", moduli.index(x.n), x.seed))
    before, after = [*map(str, compared)], [*map(str, grid)]
    whole = list(dict.fromkeys([*after, *every]))
    texts["params.yaml"] = listed(texts["params.yaml"], "  runs: ", after)
    texts[RUNS] = listed(texts[RUNS], "run: &runs ", [*whole, f'"{headline}"'])
    for file in FILES[:-1]:
        texts[file] = named(texts[file], [(every, whole), (before, after)])
    for file, text in texts.items():
        store.write_text(file, text)


if __name__ == "__main__":
    command(main)
