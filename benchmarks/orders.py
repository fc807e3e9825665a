"""What an epoch takes by how many elements a task has, in another commit and here, in turns: writes
benchmarks/orders.md.

    python benchmarks/orders.py OLD [ROUNDS]

CPU milliseconds of one thread, the least of the rounds: other work on the machine only adds.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from strata.inputs import InputError
from strata.run import command

HERE = Path(__file__).parents[1]
# Elements, and what they are beside residues that are multiplied.
TASKS = {"80": "", "80 165": "units of 165", "110": "", "110 121": "units of 121"}
TASKS |= dict.fromkeys(("165", "499"), "")
EPOCHS = """
import sys, time
from strata import task
from strata.params import load
from strata.run import Run
from strata.train import machine
from strata.train.trainer import Trainer
machine.prepare()
order, *units = sys.argv[1].split()
p = load("params.yaml")
n = int(units[0] if units else order)
more = [task.named("units", n)] if units else []
split = task.split(int(order), 1, p.split.train_fraction, p.split.validation_fraction)
trainer = Trainer(Run(n, 1), p.train, split, "cpu", *more)
trainer.advance(2)
start = time.process_time()
trainer.advance(trainer.epoch + 5)
print((time.process_time() - start) / 5e-3)
"""


def epoch(task: str, folder: Path) -> float:
    """CPU milliseconds of one epoch by the code in a folder."""
    own = {"PYTHONPATH": f"{folder / 'src'}", "OMP_NUM_THREADS": "1", "STRATA_THREADS": "1"}
    words = [sys.executable, "-c", EPOCHS, task]
    found = subprocess.run(words, cwd=folder, env=os.environ | own, capture_output=True, text=True)
    if found.returncode:
        raise InputError(f"{folder.name}, {task}: {found.stderr.splitlines()[-1]}")
    return float(found.stdout)


def main(old: str, rounds: str = "7") -> None:
    with TemporaryDirectory() as scratch:
        before = Path(scratch, old)
        subprocess.run(["git", "clone", "--quiet", "--shared", HERE, before], check=True)
        subprocess.run(["git", "checkout", "--quiet", old], cwd=before, check=True)
        times: dict[tuple[str, bool], list[float]] = {}
        for _ in range(int(rounds)):
            for task, units in TASKS.items():
                for here in (False, True) if not units else (True,):
                    took = epoch(task, HERE if here else before)
                    times.setdefault((task, here), []).append(took)
    rows = []
    for task, units in TASKS.items():
        cells = [min(times[task, x]) if (task, x) in times else None for x in (False, True)]
        shown = ["–" if x is None else f"{x:.1f}" for x in cells]
        rows.append([task.split()[0], units or f"all residues modulo {task}", *shown])
    columns = ["elements", "", f"{old}: ms", "here: ms"]
    text = tabulate(rows, columns, tablefmt="github", disable_numparse=True)
    Path(HERE, "benchmarks/orders.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
