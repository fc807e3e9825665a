"""What commands take with more runs in the studies, in a clone in which `make studies` was run and
which is then as it was: writes benchmarks/sweeps.md.

    PYTHONPATH=.:src python benchmarks/sweeps.py CLONE

CPU seconds of all processes, as in benchmarks/experiments.py. The runs are listed and in the lock,
as after a sweep. A stage is the split of a run.
"""

import json
import os
import re
import subprocess
from contextlib import chdir, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks.commands import taken
from ops.grid.logs import Logs
from ops.recover import taken as locked
from strata.run import command

COUNTS, LIKE = (0, 100, 300), "n210-s1"
COMMANDS = {
    "`dvc status`": "dvc status",
    "`dvc --cd studies status`": "dvc --cd studies status",
    "`make plan STUDIES=1`": "make plan STUDIES=1",
    "`make grid STATUS=1`": "make grid STATUS=1",
    "a stage of a run": "dvc --cd studies repro --force --single-item split@n210-s2",
}


def add(folder: Path, count: int) -> None:
    """List so many runs in the studies of a clone, and copy what its lock says of a run."""
    subprocess.run(["git", "restore", "studies"], cwd=folder, check=True)
    runs = [f"quick-n35-s{seed}" for seed in range(1, count + 1)]
    path, lock = folder / "studies" / "runs.yaml", folder / "studies" / "dvc.lock"
    own = "".join(f"{run}: studies/data, " for run in runs)
    text = path.read_text("utf-8").replace("more: {<<: [", "more: {<<: [*sweep, ")
    path.write_text(text.replace("\nmore:", f"\nsweep: &sweep {{{own}}}\nmore:"), "utf-8")
    text = lock.read_text("utf-8")
    found = "".join(re.findall(rf"(?ms)^  \w+@{LIKE}:\n.*?(?=^  \S|\Z)", text))
    lock.write_text(text + "".join(found.replace(LIKE, run) for run in runs), "utf-8")
    with chdir(folder):
        for run in runs:
            Logs().say(run, "running on n1, with 1 threads")
        Path(".grid").mkdir(exist_ok=True)
        jobs = {"threads": 1, "jobs": [["", [[run] for run in runs]]]}
        Path(".grid", "jobs.json").write_text(json.dumps(jobs), "utf-8")


def main(clone: str) -> None:
    folder = Path(clone).resolve()
    os.environ["PATH"] = f"{folder}/.venv/bin:{os.environ['PATH']}"
    rows = {name: [name] for name in COMMANDS}
    with TemporaryDirectory() as home:
        for count in COUNTS:
            add(folder, count)
            with locked(folder / ".grid" / "lock") or nullcontext():
                for name, words in COMMANDS.items():
                    rows[name].append(f"{taken(words, folder, Path(home))[0]:.1f}")
            print(count, *(row[-1] for row in rows.values()), flush=True)
        add(folder, 0)
    headings = ["CPU seconds", *(f"{count} more runs" for count in COUNTS)]
    text = tabulate(rows.values(), headings, tablefmt="github", disable_numparse=True)
    Path("benchmarks/sweeps.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
