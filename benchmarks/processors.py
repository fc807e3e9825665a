"""Which bytes analyses give on processors of the other vendor: writes benchmarks/processors.md.

Runs activations, metrics and interventions of two runs on this processor and on AMD's as
benchmarks/cpuid.c presents them, and activations of one on an AMD processor that qemu-user emulates
instruction by instruction. Needs an Intel processor whose CPUID can be made to fault, a C compiler
and qemu-x86_64. Takes a quarter of an hour.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from tabulate import tabulate

from ops import files
from strata.run import InputError, command, read_yaml

RUNS = ("n165-s1", "mlp-n165-s1")
EXACT = read_yaml("stages/exact.yaml")["exact"]
REAL = Path(sys.executable).resolve()
PACKAGES = next(x for x in sys.path if x.endswith("site-packages"))


def emulated(processor: str) -> str:
    """The interpreter under qemu-user."""
    home = f"PYTHONPATH={shlex.quote(f'.:src:{PACKAGES}')}"
    return f"env {home} qemu-x86_64 -cpu {processor} {REAL}"


def presented(library: Path, processor: str) -> str:
    """The interpreter in a process that sees an AMD processor."""
    return f"env CPUID={processor} LD_PRELOAD={library} {sys.executable}"


def md5(stage: str, python: str, folder: Path) -> str:
    """The md5 of what a stage writes under an interpreter."""
    words = shlex.split(files.locked()[stage]["cmd"])
    arguments = words[words.index("python") + 1 :]
    arguments[-1] = str(folder / "out")
    line = f"{EXACT} {python} {shlex.join(arguments)}"
    subprocess.run(line, shell=True, check=True, stderr=subprocess.DEVNULL)
    return hashlib.md5(Path(arguments[-1]).read_bytes()).hexdigest()


def main() -> None:
    for tool in ("cc", "qemu-x86_64"):
        if not shutil.which(tool):
            raise InputError(f"{tool}: is not installed, and this needs it")
    rows = []
    with TemporaryDirectory() as scratch:
        library = Path(scratch, "cpuid.so")
        build = ["cc", "-O1", "-shared", "-fPIC", "benchmarks/cpuid.c", "-o", str(library)]
        subprocess.run(build, check=True)
        here = (
            f"{torch.cpu.get_capabilities()['cpu_name']}, {torch.backends.cpu.get_cpu_capability()}"
        )
        fast = {
            here: sys.executable,
            "AMD, AVX2": presented(library, "zen2"),
            "AMD, AVX512": presented(library, "zen4"),
        }
        work = [
            (f"{stage}@{name}", processor, python)
            for stage in ("activations", "metrics", "interventions")
            for name in RUNS
            for processor, python in fast.items()
        ]
        work.append((f"activations@{RUNS[0]}", "EPYC-Rome (qemu)", emulated("EPYC-Rome")))
        for stage, processor, python in work:
            rows.append((stage, processor, md5(stage, python, Path(scratch))))
            print(*rows[-1], flush=True)
    recorded = [files.locked()[stage]["outs"][0]["md5"] == found for stage, _, found in rows]
    columns = ["stage", "processor", "md5 of its output", "as recorded"]
    table = [(*row, "yes" if same else "no") for row, same in zip(rows, recorded, strict=True)]
    text = tabulate(table, columns, tablefmt="github")
    Path("benchmarks/processors.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = ".:src"
    command(main)
