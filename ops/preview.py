"""Draw one figure again, from the files that its stage reads, without DVC: ``make figure F=fig03``.

The pictures go to ``preview/`` and no stage knows of them; ``dvc repro`` draws the figure for good.
"""

import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

from ops import files
from strata import notebook
from strata.inputs import InputError
from strata.run import command

SCRIPT, OUT = "stages/figure.py", "preview"


def figures() -> dict[str, list[str]]:
    """Return the words by which a stage last drew each figure, by the figure's label."""
    calls: dict[str, list[str]] = {}
    for stage in files.locked_stages().values():
        words = shlex.split(str(stage["cmd"]))
        if SCRIPT in words:
            after = words[words.index(SCRIPT) + 1 :]
            labels = [*takewhile(lambda word: not word.startswith("--"), after)]
            calls |= dict.fromkeys(labels, words)
    return calls


def call(label: str, words: list[str]) -> list[str]:
    """Return the words that draw this figure alone, into a folder of its own."""
    start = words.index(SCRIPT) + 1
    options = [*zip(words[start:], words[start + 1 :], strict=False)]
    value = {name: value for name, value in options if name in ("--notebooks", "--template")}
    folder, template = value.get("--notebooks", "notebooks"), value.get("--template", label)
    declared = notebook.parameters(Path(folder, f"{template}.ipynb"))
    moduli = words[words.index("--moduli") :] if "--moduli" in words else []
    inputs = [x for name, x in options if name == "--input" and x.partition("=")[0] in declared]
    options = [(name, x) for name, x in options if name in (*value, "--run")]
    options += [("--input", x) for x in inputs]
    python = words[words.index("env") : start]
    return [*python, label, *(x for pair in options for x in pair), *moduli, "--out", OUT]


def main(name: str = "") -> None:
    calls = figures()
    labels = [x for x in calls if name and x.startswith(name)]
    if len(labels) != 1:
        raise InputError(f"F = {name}: must begin one of {', '.join(sorted(calls))}")
    [label] = labels
    draw = call(label, calls[label])
    if code := subprocess.run(draw, check=False).returncode:
        sys.exit(code)
    print(f"{OUT}/{label}.png, .svg, .pdf and .html; dvc repro draws it for good")


if __name__ == "__main__":
    command(main)
