"""What the mechanism's measures of one run take: writes benchmarks/measures.md.

Each run is measured in a process of its own, as its stage does; CPU seconds are those of one
thread, memory is the most that the process held.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from strata.run import command

HERE = Path(__file__).parents[1]
RUNS = ("n113-s1", "n143-s1", "n165-s1", "n195-s1", "n231-s1", "mlp-n165-s1")


def weights_of(name: str) -> Path:
    """Of a run of the paper, or of the studies."""
    paths = (HERE / x / f"data/train/{name}/weights.safetensors" for x in ("", "studies"))
    return next(path for path in paths if path.is_file())


def measured(name: str, folder: str) -> tuple[float, float]:
    """CPU seconds and MB of all measures of a run."""
    script, settings = "studies/mechanism/stages/measure.py", "studies/data/config/mechanism.json"
    words = [sys.executable, script, name, settings, str(weights_of(name)), f"{folder}/{name}"]
    paths = {"PYTHONPATH": "src:."}
    with subprocess.Popen(words, cwd=HERE, env=os.environ | paths) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, name
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main() -> None:
    rows = []
    with TemporaryDirectory() as folder:
        for name in RUNS:
            cpu, memory = measured(name, folder)
            rows.append([name, f"{cpu:.0f}", f"{memory:.0f}"])
    columns = ["run", "CPU s", "MB"]
    text = tabulate(rows, columns, tablefmt="github", disable_numparse=True)
    Path(HERE, "benchmarks/measures.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
