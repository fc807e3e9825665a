"""Measure what whole commands take, one after the other, in a fresh clone of the last commit with
an empty home folder: writes benchmarks/commands.md.

    PYTHONPATH=.:src python benchmarks/commands.py [COMMAND …]

CPU seconds are those of all processes that a command starts, the forked ones among them; what is
received counts for the whole machine, with what pip finds in PIP_FIND_LINKS. Where some commands
are named, as in the table, the rows of the others stay as they are.
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

SUBREAPER = 36  # of prctl, which lets this process wait for orphans of its children
CLONE, FIRST = "git clone --depth 1", "make paper"
LEAN = f"{CLONE} --filter=blob:none --sparse"
PAPER_ALONE = "git sparse-checkout set --no-cone '/*' '!/studies/artifacts/' '!/report/artifacts/'"
SERVE = "git -c uploadpack.allowFilter=true upload-pack"  # as hosts of repositories are set
COMMANDS = {
    CLONE: "all files and trained models",
    LEAN: "the files for the paper alone (docs/operating.md)",
    FIRST: "the environment; Tables 1 to 5, Figures 1 to 19, beside the paper's numbers",
    "make studies": "what was tested beyond the paper",
    "make report OPEN=": "pages: for each table and figure the command that made it",
    "dvc status": "nothing is stale: results are those of this code and these parameters",
    "dvc repro": "the same, as a command that would make what is stale",
    "make plan SET='n=154'": "what would be restored and run",
    "dvc exp run -S n=154": "the paper's tables and figures for another modulus",
    "sed -i 's/star: .*/star: 0.3/' params.yaml && dvc repro": "a changed figure",
    "make back": "the published state again",
    "strata --help": "a command that computes nothing",
    "strata export n154-s3 --to published && strata analyse n154-s3.pt": "what it computes",
    "make test": "laws of the code, by brute force, planted signals and tiny pipelines",
    "make verify": "what the locks name, made again and compared to the byte",
}
HEADINGS = ["command", "what it shows", "CPU s", "s", "MB written", "MB received"]


def time_command(words: str, folder: Path, home: Path) -> tuple[float, float]:
    """Run a command, and return its CPU seconds and seconds. Raises InputError where it fails."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {k: x for k, x in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    environment |= {"HOME": str(home), "PATH": f"{folder}/.venv/bin:{os.environ['PATH']}"}
    environment["DVC_SITE_CACHE_DIR"] = f"{home}/site"
    process = subprocess.run(
        words, shell=True, cwd=folder, env=environment, capture_output=True, text=True
    )
    seconds = time.monotonic() - began
    try:
        while True:
            os.wait()
    except ChildProcessError:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        last = process.stdout.splitlines()[-6:] + process.stderr.splitlines()[-2:]
        raise InputError(f"{words}: {' | '.join(last)}")
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_seconds, seconds


def megabytes(folder: Path) -> float:
    """Return the MB in a folder; a file with several names counts once."""
    return int(subprocess.check_output(["du", "-sk", folder]).split()[0]) / 1000


def received() -> float:
    """Return the MB that came over the network since this machine was started."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(x.split()[1]) for x in lines if not x.lstrip().startswith("lo:")) / 1e6


def row(words: str, home: Path, wheels: float) -> list[float]:
    """Run a command in the clone, and return its CPU seconds, seconds, MB written and MB
    received."""
    folder = home / "strata"
    disk, network = megabytes(home), received()
    if words in (CLONE, LEAN):
        target = folder if words == CLONE else home / "lean"
        line = f"{words} -u '{SERVE}' 'file://{Path.cwd()}' '{target}'"
        more = f" && cd '{target}' && {PAPER_ALONE}" if words == LEAN else ""
        times = time_command(line + more, home, home)
        network -= megabytes(target / ".git")
    else:
        times = time_command(words, folder, home)
        network -= wheels * (words == FIRST)
    return [*times, megabytes(home) - disk, received() - network]


def main(*named: str) -> None:
    file = Path("benchmarks/commands.md")
    lines = {line[0]: line for line in rows(file.read_text("utf-8"))[1:] if named}
    archives = Path(os.environ.get("PIP_FIND_LINKS", "none")).glob("*.whl")
    wheels = sum(x.stat().st_size for x in archives) / 1e6
    with TemporaryDirectory() as scratch:
        home = Path(scratch)
        (home / ".gitconfig").write_text("[user]\nname = strata\nemail = strata@localhost\n")
        for name, shows in COMMANDS.items():
            if named and name not in (CLONE, FIRST, *named):
                continue
            numbers = [f"{x:.0f}" if x >= 10 else f"{x:.1f}" for x in row(name, home, wheels)]
            lines[f"`{name}`"] = [f"`{name}`", shows, *numbers]
            print(*lines[f"`{name}`"], flush=True)
            text = tabulate(lines.values(), HEADINGS, tablefmt="github", disable_numparse=True)
            file.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
