"""What experiments take in another commit and here, in turns, in two clones in which `make paper`
was run: writes benchmarks/experiments.md.

    PYTHONPATH=.:src python benchmarks/experiments.py OLD NEW [COMMAND …]

CPU seconds are those of all processes that a command starts, the forked ones among them. Other work
on the machine makes them more: the columns compare, and a loop of Python says by how much. Where
some commands are named, as in the table, the rows of the others stay as they are.
"""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks.commands import taken
from ops.readme import rows
from strata.run import command

STAR = "figures.fig01_hierarchy.star"
# What is typed, and in the order in which it is: each begins where the one above ended.
COMMANDS = {
    "`dvc status`": "dvc status",
    "`dvc repro` with nothing to do": "dvc repro",
    "`make plan SET='n=154'`": "make plan SET='n=154'",
    "`dvc exp run -S n=154`": "dvc exp run -S n=154",
    "`make back` after it": "make back",
    "`dvc repro` for a changed figure": "sed -i 's/star: .*/star: 0.3/' params.yaml && dvc repro",
    "`dvc exp run --queue`, one figure": "make back && git checkout --orphan sweep && "
    f"git commit -m sweep && dvc exp run --queue -S {STAR}=0.4 fig01-hierarchy && dvc queue start",
    "`strata --help`": "strata --help",
    "first logits of `strata.load`": "python -c \"import strata; strata.load('n165-s1')(2, [3])\"",
    "of a loop of Python, for comparison": 'python -c "for i in range(20_000_000): i * i"',
}
NAMED = {f"GIT_{x}_{y}": "strata" for x in ("AUTHOR", "COMMITTER") for y in ("NAME", "EMAIL")}


def main(old: str, new: str, *names: str) -> None:
    os.environ |= NAMED
    folders = [Path(old).resolve(), Path(new).resolve()]
    last = ["git", "rev-parse", "--short=8", "HEAD"]
    before = subprocess.check_output(last, cwd=folders[0], text=True).strip()
    file = Path("benchmarks/experiments.md")
    text = file.read_text("utf-8") if names and file.is_file() else ""
    lines = {row[0]: row for row in rows(text)[1:]}
    with TemporaryDirectory() as home:
        for name in names or COMMANDS:
            times = [taken(COMMANDS[name], folder, Path(home))[0] for folder in folders]
            lines[name] = [name, *(f"{x:.0f}" if x >= 10 else f"{x:.1f}" for x in times)]
            print(*lines[name], flush=True)
            headings = ["CPU seconds", before, "here"]
            text = tabulate(lines.values(), headings, tablefmt="github", disable_numparse=True)
            file.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
