"""What common commands take, in clones of two commits, one right after the other: writes
benchmarks/commands.md.

    python benchmarks/commands.py OLD [NEW [COMMAND …]]

Each command runs in a clone with everything restored, under the environment of this Python. CPU
seconds are those of all processes that it starts, the forked ones among them.
"""

import ctypes
import os
import re
import resource
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from strata.inputs import InputError
from strata.run import command

SUBREAPER = 36  # of prctl: orphans below this process are waited for by it
STAR = re.compile(r"(?m)^    star: .*")
COMMANDS = {
    "status": "dvc status --quiet",
    "nothing": "dvc repro --quiet",
    "figure": "dvc repro --quiet",  # after a changed figure parameter
    "modulus": "dvc exp run --set-param n=154",
    "quick": "dvc exp run --set-param n=35 --set-param variant=quick-",
    "plan": "SET='n=154' python -m ops.plan",
    "help": "strata --help",
    "load": "python -c 'import strata; print(strata.load(\"n165-s1\")(3, 5))'",
}


def taken(words: str, folder: Path) -> tuple[float, float]:
    """CPU seconds and seconds of a command. Raises InputError where it fails."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    own = os.environ | {
        "PYTHONPATH": f"{folder}:{folder}/src",
        "DVC_SITE_CACHE_DIR": f"{folder}.site",
    }
    done = subprocess.run(words, shell=True, cwd=folder, env=own, capture_output=True, text=True)
    took = time.monotonic() - began
    try:
        while True:
            os.wait()
    except ChildProcessError:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise InputError(f"{words}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, took


def prepared(commit: str, folder: Path) -> None:
    """A clone at that commit with the outputs of its top project."""
    taken(f"git clone --quiet --no-checkout . '{folder}'", Path.cwd())
    taken(f"git checkout --quiet {commit}", folder)
    taken("dvc pull --quiet; dvc repro --quiet", folder)


def main(old: str, new: str = "HEAD", *names: str) -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    asked = {name: COMMANDS[name] for name in names or COMMANDS}
    rev = ["git", "rev-parse", "--short=8", new]
    now = subprocess.run(rev, check=True, capture_output=True, text=True).stdout.strip()
    columns, rows = ["command", f"{old}: CPU s", "s", f"{now}: CPU s", "s"], []
    with TemporaryDirectory() as scratch:
        clones = [Path(scratch, name) for name in ("old", "new")]
        for commit, folder in zip((old, new), clones, strict=True):
            prepared(commit, folder)
        for name, words in asked.items():
            row = [f"`{words}`" + (", a figure's parameter changed" if name == "figure" else "")]
            for folder in clones:
                params = folder / "params.yaml"
                if name == "figure":
                    params.write_text(STAR.sub("    star: 0.4", params.read_text(), count=1))
                row += [f"{x:.0f}" if x >= 10 else f"{x:.1f}" for x in taken(words, folder)]
                taken("git checkout --quiet . && dvc checkout --quiet --force", folder)
            rows.append(row)
            print(*row, flush=True)
    text = tabulate(rows, columns, tablefmt="github", disable_numparse=True)
    Path("benchmarks/commands.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
