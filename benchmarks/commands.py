"""What commands take, one after the other, in a fresh clone of the last commit with an empty home
folder: writes benchmarks/commands.md.

    PYTHONPATH=.:src python benchmarks/commands.py [COMMAND …]

CPU seconds are those of all processes that a command starts, the forked ones among them; what is
received counts for the whole machine, with what pip finds in PIP_FIND_LINKS. Where some are named,
the rows of the others stay as they are.
"""

import ctypes
import os
import resource
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from ops.readme import rows
from strata.inputs import InputError
from strata.run import command

SUBREAPER = 36  # of prctl: orphans below this process are waited for by it
CLONE, FIRST = "git clone --depth 1", "make paper"
COMMANDS = {
    CLONE: "all files and trained models",
    FIRST: "the environment; Tables 1 to 5, Figures 1 to 19, beside the paper's numbers",
    "make studies": "what was tested beyond the paper",
    "make report OPEN=": "pages: for each table and figure the command that made it",
    "dvc status": "nothing is stale: results are those of this code and these parameters",
    "dvc exp run -S n=154": "the paper's tables and figures for another modulus",
    "make back": "the published state again",
    "strata export n154-s3 --to published && strata analyse n154-s3.pt": "what it computes",
    "make test": "laws of the code, by brute force, planted signals and tiny pipelines",
    "make verify": "what the locks name, made again and compared to the byte",
}
HEADINGS = ["command", "what it shows", "CPU s", "s", "MB written", "MB received"]


def taken(words: str, folder: Path, home: Path) -> tuple[float, float]:
    """CPU seconds and seconds of a command. Raises InputError where it fails."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    own = {k: x for k, x in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    own |= {"HOME": str(home), "PATH": f"{folder}/.venv/bin:{os.environ['PATH']}"}
    own["DVC_SITE_CACHE_DIR"] = f"{home}/site"
    done = subprocess.run(words, shell=True, cwd=folder, env=own, capture_output=True, text=True)
    took = time.monotonic() - began
    try:
        while True:
            os.wait()
    except ChildProcessError:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        last = f"{done.stdout}{done.stderr}".strip().splitlines()[-6:]
        raise InputError(f"{words}: {' | '.join(last)}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, took


def written(folder: Path) -> float:
    """MB in a folder, what has several names once."""
    return int(subprocess.check_output(["du", "-sk", folder]).split()[0]) / 1000


def received() -> float:
    """MB that came over the network since this machine was started."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(x.split()[1]) for x in lines if not x.lstrip().startswith("lo:")) / 1e6


def main(*names: str) -> None:
    file = Path("benchmarks/commands.md")
    lines = {row[0]: row for row in rows(file.read_text("utf-8"))[1:] if names}
    wheels = Path(os.environ.get("PIP_FIND_LINKS", "none")).glob("*.whl")
    here = sum(x.stat().st_size for x in wheels) / 1e6
    with TemporaryDirectory() as scratch:
        home, clone = Path(scratch, "home"), Path(scratch, "strata")
        home.mkdir()
        for words, shows in COMMANDS.items():
            if names and words not in (CLONE, FIRST, *names):
                continue
            disk, network = written(home.parent), received()
            if words == CLONE:
                times = taken(f"{CLONE} --quiet 'file://{Path.cwd()}' '{clone}'", home, home)
                network -= written(clone / ".git")
            else:
                times = taken(words, clone, home)
                network -= here * (words == FIRST)
            sizes = written(home.parent) - disk, received() - network
            cells = [f"{x:.0f}" if x >= 10 else f"{x:.1f}" for x in (*times, *sizes)]
            lines[f"`{words}`"] = [f"`{words}`", shows, *cells]
            print(*lines[f"`{words}`"], flush=True)
            text = tabulate(lines.values(), HEADINGS, tablefmt="github", disable_numparse=True)
            file.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
