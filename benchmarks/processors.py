"""Which bytes analyses give on processors of the other vendor: writes benchmarks/processors.md.

Runs analyses of two runs on this processor and on AMD's as benchmarks/cpuid.c presents them. Needs
a C compiler and an Intel processor whose CPUID can be made to fault. Takes a quarter of an hour.
"""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tabulate import tabulate

from ops import files, provenance
from strata.run import command

KINDS = (f"{files.RUNS}:metrics", "studies/interventions/dvc.yaml:interventions")
RUNS = ("n165-s1", "mlp-n165-s1")
COLUMNS = ["stage", "processor", "md5 of its output", "as recorded"]


def md5(stage: dict[str, Any], presented: dict[str, str], scratch: str) -> str:
    """The md5 of what a stage writes in a process that sees the processor presented."""
    (out,) = (x["path"] for x in stage["outs"])
    command = stage["cmd"].rpartition(" && ")[2].replace(out, f"{scratch}/out")
    own = os.environ | presented
    subprocess.run(command, shell=True, check=True, env=own, stderr=subprocess.DEVNULL)
    return provenance.md5(f"{scratch}/out")


def main() -> None:
    rows, locked = [], files.locked()
    with TemporaryDirectory() as scratch:
        library = Path(scratch, "cpuid.so")
        build = ["cc", "-O1", "-shared", "-fPIC", "benchmarks/cpuid.c", "-o", str(library)]
        subprocess.run(build, check=True)
        vendor = torch.cpu.get_capabilities()["cpu_name"]
        seen = {f"{vendor}, {torch.backends.cpu.get_cpu_capability()}": {}}
        for processor, name in (("AMD, AVX2", "zen2"), ("AMD, AVX512", "zen4")):
            seen[processor] = {"CPUID": name, "LD_PRELOAD": str(library)}
        for stage in (f"{kind}@{run}" for kind in KINDS for run in RUNS):
            for processor, presented in seen.items():
                found = md5(locked[stage], presented, scratch)
                same = locked[stage]["outs"][0]["md5"] == found
                rows.append((stage.rpartition(":")[2], processor, found, "yes" if same else "no"))
                print(*rows[-1], flush=True)
    text = tabulate(rows, COLUMNS, tablefmt="github")
    Path("benchmarks/processors.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    command(main)
