"""Choose and describe the machine that a run trains on."""

import math
import os
import platform
import re

import numpy as np
import torch

from strata.inputs import InputError
from strata.train.environment import Environment, threads


def device() -> torch.device:
    """Return the device that STRATA_DEVICE names: cpu, cuda or auto, the default, which is a GPU
    where torch sees one. Raises InputError for another name, and for cuda without a GPU."""
    name = os.environ.get("STRATA_DEVICE", "auto")
    if name not in {"auto", "cpu", "cuda"}:
        raise InputError(f"STRATA_DEVICE = {name!r}: must be auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("STRATA_DEVICE = 'cuda': torch sees no GPU here; use auto or cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def prepare(flush: bool = True, products: float = math.inf) -> torch.device:
    """Fix what a run needs to repeat to the byte, and return the device: the thread count, for so
    many Gflop of products an epoch, the order of the GPU's sums, and whether subnormal numbers are
    taken as 0.

    Gradients of pairs that a run has learnt are subnormal, and an Intel core is several times
    slower with those: docs/operating.md.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS starts
    torch.set_flush_denormal(flush)
    torch.set_num_threads(threads(products))
    return device()


def describe(where: torch.device) -> Environment:
    """Return what a run's bytes may depend on beside its configuration."""
    offered = torch.cpu.get_capabilities()
    name = str(offered.get("cpu_name") or "")  # begins with the vendor that CPUID names
    return Environment(
        device="cuda" if where.type == "cuda" else "cpu",
        gpu=torch.cuda.get_device_name(where) if where.type == "cuda" else None,
        vendor=name.split()[0] if name else None,
        processor=name or None,
        instructions=tuple(sorted(key for key, value in offered.items() if value is True)),
        capability=torch.backends.cpu.get_cpu_capability(),
        cores=os.cpu_count() or 1,
        threads=torch.get_num_threads(),
        platform=f"{platform.system()} {platform.machine()}",
        libc=" ".join(platform.libc_ver()).strip() or platform.release(),
        python=platform.python_version(),
        torch=torch.__version__,
        mkl=_mkl(),
        numpy=np.__version__,
        openblas=np.show_config("dicts")["Build Dependencies"]["blas"].get("version"),
        flushes=not (torch.full((1,), 1e-39) * 1).view(torch.int32).any(),
    )


def _mkl() -> str:
    """Return the version of torch's MKL, with the path that MKL_CBWR asks of it."""
    match = re.search(r"Math Kernel Library Version (\S+)", torch.__config__.show())
    setting = os.environ.get("MKL_CBWR")
    if not match:
        return "none"
    return match[1] + (f", MKL_CBWR={setting}" if setting else "")
