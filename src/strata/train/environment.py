"""Record what a training ran on: what its bytes depend on beside its configuration and its code.

The same sums in another order round otherwise, and training amplifies the difference. The order
follows the processor: MKL takes another path on each vendor's, and torch's own kernels one for each
width of vector. So the record names the processor as CPUID shows it to the process, not as /proc
does.
"""

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from strata.inputs import InputError
from strata.run import Settings, validate
from strata.store import read_json

# Up to so many Gflop of products an epoch one thread trains. Threads that wait for one another cost
# more there than they bring, and many times more on a busy machine: docs/operating.md.
SMALL = 0.5
ASIDE = {"cores", "seconds", "note", "chain"}  # these decide no bit


class Environment(BaseModel):
    """An ``Environment`` is a machine, and how a training used it; None stands for what was not
    recorded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: Literal["cpu", "cuda"]
    gpu: str | None = None  # its name, where device is cuda
    vendor: str | None  # of the processor: AMD, Intel …
    processor: str | None  # its name
    instructions: tuple[str, ...] | None  # the instruction sets that it offers
    capability: str  # those that torch's kernels use: AVX512, AVX2 …
    cores: int
    threads: int
    platform: str  # such as Linux x86_64
    libc: str | None
    python: str
    torch: str
    mkl: str | None  # its version, and MKL_CBWR where that is set
    numpy: str | None
    openblas: str | None  # the version that NumPy has
    flushes: bool = False  # whether it took subnormal numbers as 0; the first records do not say
    seconds: float | None = None  # how long the training took
    chain: tuple[str, ...] | None = None  # hashes of its states on the way: stages/train.py
    note: str | None = None  # what was added to the record later

    def repeats(self, target: "Environment") -> bool:
        """Whether a training in this environment must give the same bytes in ``target``, because
        all that decides them is known and the same."""
        one, two = (x.model_dump(exclude=ASIDE) for x in (self, target))
        unknown = {name for name, value in one.items() if value is None} - {"gpu"}
        return one == two and not unknown

    def kind(self) -> tuple[Any, ...]:
        """Return those facts that decide bytes and that the records of all trainings hold."""
        return (
            self.device, self.vendor, self.capability, self.threads, self.flushes, self.platform,
            self.torch,
        )  # fmt: skip

    def words(self) -> str:
        """Describe the machine in a few words."""
        threads = f"{self.threads} thread{'s' if self.threads != 1 else ''}"
        if self.device == "cuda":
            return f"{self.gpu}, {threads}"
        return ", ".join(x for x in (self.vendor, self.capability, threads) if x)


def gflop(order: int, settings: Settings) -> float:
    """Return the Gflop that the matrix products of one epoch take, by the formula of
    benchmarks/training.md."""
    train, left_out = settings.train, 1 - settings.split.train_fraction
    pairs = (1 - left_out**2) * order * order / 2  # a pair and its mirror are computed once
    widths = train.d_model**2 + 2 * train.d_model * train.d_mlp + train.d_model * order
    return (6 * pairs * widths + 12 * (order + 1) * train.d_model**2) / 1e9


def cores() -> int:
    """Return how many processors this process may use, within the quota of its container."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, int(min(count or 1, quota())))


def quota(proc: Path = Path("/proc/self/cgroup"), top: Path = Path("/sys/fs/cgroup")) -> float:
    """Return how many processors' time the control groups of this process may take together."""
    least = math.inf
    with suppress(OSError, ValueError):  # no Linux, or control groups of version 1
        group = proc.read_text("utf-8").rpartition("0::/")[2].strip()
        for folder in (top / group, *(top / group).parents):
            with suppress(OSError, ValueError):  # the root has no file, and "max" is no number
                share, period = map(int, (folder / "cpu.max").read_text("utf-8").split())
                least = min(least, share / period)
    return least


def threads(products: float = math.inf) -> int:
    """Return the threads of a training with that many Gflop of products an epoch: STRATA_THREADS,
    or one where they are few, or as many as this process may use. A run's last bits depend on
    it."""
    text = os.environ.get("STRATA_THREADS", "1" if products <= SMALL else str(cores()))
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise InputError(f"STRATA_THREADS = {text!r}: must be an integer from 1 to 1024")
    return int(text)


def read(path: Path | str) -> Environment:
    """Return the record that a training wrote. Raises InputError where it is not valid."""
    record = read_json(path)
    if not isinstance(record, dict):
        raise InputError(f"{path}: must be a mapping of {', '.join(Environment.model_fields)}")
    return validate(Environment, record, str(path))
