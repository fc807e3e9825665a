"""What the forward pass could be computed with: speed of its products, and whether their bytes are
the same on AMD and Intel. Writes benchmarks/products.md.

The other vendor's processors are presented by benchmarks/cpuid.c: an Intel processor whose CPUID
can be made to fault and a C compiler are needed. Takes a minute.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from strata.run import command, read_yaml

SWITCHES = read_yaml("stages/exact.yaml")
MODES = {
    "torch": ("torch", "ATEN_CPU_CAPABILITY=avx2"),
    "torch, `MKL_CBWR=AVX2`": ("torch", "ATEN_CPU_CAPABILITY=avx2 MKL_CBWR=AVX2,STRICT"),
    "torch, `MKL_CBWR=COMPATIBLE`": ("torch", SWITCHES["exact_torch"]),
    "NumPy": ("numpy", ""),
    "NumPy under the switches": ("numpy", SWITCHES["exact"]),
}
# One product of the MLP's size, exponentials of what it gives: time of the first, md5 of both.
WORK = """
import hashlib, time, numpy as np
rng = np.random.default_rng(0)
x, W = (rng.normal(size=s).astype(np.float32) for s in ((2400, 128), (128, 512)))
if {torch}:
    import torch
    x, W = torch.from_numpy(x), torch.from_numpy(W)
best = 1e9
for _ in range(200):
    began = time.perf_counter()
    y = x @ W
    best = min(best, time.perf_counter() - began)
z = (y / 8).exp().numpy() if {torch} else np.exp(y / np.float32(8))
md5 = hashlib.md5(np.asarray(y).tobytes() + z.tobytes()).hexdigest()
print(2 * 2400 * 128 * 512 / best / 1e9, md5)
"""


def measured(engine: str, switches: str, presented: dict[str, str]) -> tuple[float, str]:
    """Gflop/s and md5 in a process that sees the processor presented."""
    asked = dict(word.split("=", 1) for word in shlex.split(switches) if "=" in word)
    done = subprocess.run(
        [sys.executable, "-c", WORK.format(torch=engine == "torch")],
        env=os.environ | {"OMP_NUM_THREADS": "1"} | asked | presented,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    speed, md5 = done.stdout.split()
    return float(speed), md5


def main() -> None:
    rows = []
    with TemporaryDirectory() as scratch:
        library = f"{scratch}/cpuid.so"
        build = ["cc", "-O1", "-shared", "-fPIC", "benchmarks/cpuid.c", "-o", library]
        subprocess.run(build, check=True)
        amd = [{"CPUID": name, "LD_PRELOAD": library} for name in ("zen2", "zen4")]
        for name, (engine, switches) in MODES.items():
            speed, own = measured(engine, switches, {})
            others = [measured(engine, switches, x)[1] == own for x in amd]
            rows.append([name, f"{speed:.0f}", *("yes" if same else "no" for same in others)])
    columns = ["forward pass", "Gflop/s, one core", "as on AMD, AVX2", "as on AMD, AVX-512"]
    text = tabulate(rows, columns, tablefmt="github", disable_numparse=True)
    Path("benchmarks/products.md").write_text(f"{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    command(main)
