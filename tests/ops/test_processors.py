"""The real stages give the same bytes on processors of both vendors, emulated, as on this one; and
the switches that see to it are obeyed by the libraries that are installed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from packaging.version import Version
from tiny import ROOT, RUN, Project, called, copied

from ops import files
from strata.run import read_yaml

EMULATOR = "qemu-x86_64"
PROCESSORS = ("EPYC-Rome", "Haswell")  # AMD and Intel, both with AVX2 and without AVX-512
# An analysis of each kind, and tables.
STAGES = {f"{files.RUNS}:metrics@{RUN}", f"{files.RUNS}:activations@{RUN}",
          "forward", "tables", "seeds",
          f"studies/interventions/dvc.yaml:interventions@{RUN}",
          f"studies/mechanism/dvc.yaml:describe@{RUN}"}  # fmt: skip


def switches(*names: str) -> dict[str, str]:
    """Environment variables of stages/exact.yaml."""
    every = read_yaml(ROOT / "stages" / "exact.yaml")
    return {k: v for name in names for k, v in called(every[name])[0].items()}


def emulated(processor: str, folder: Path) -> str:
    """An interpreter of this environment whose every process sees that processor."""
    home = Path(sys.prefix)
    (folder / "bin").mkdir(parents=True)
    for part in ("lib", "share"):
        (folder / part).symlink_to(home / part)
    shutil.copy(home / "pyvenv.cfg", folder)
    python = folder / "bin" / "python"
    real = Path(sys.executable).resolve()
    python.write_text(f'#!/bin/sh\nexec {EMULATOR} -cpu {processor} -0 "$0" {real} "$@"\n')
    python.chmod(0o755)
    return str(python)


def printed(project: Project, python: str, words: list[str]) -> str:
    """What a script prints on that processor. The emulator itself dies now and then of a
    segmentation fault: then it is asked twice more."""
    for _ in range(3):
        done = subprocess.run(
            [python, *words], cwd=project.folder, text=True, capture_output=True, check=False,
            env=project.environment | switches("exact"),
        )  # fmt: skip
        if done.returncode not in (-signal.SIGSEGV, 128 + signal.SIGSEGV):
            assert done.returncode == 0, done.stderr
            return done.stdout
    pytest.skip(f"{EMULATOR} died of a segmentation fault three times")


@pytest.mark.skipif(
    not shutil.which(EMULATOR), reason=f"no {EMULATOR} here: apt-get install qemu-user brings it"
)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_every_analysis_gives_the_same_bytes_on_processors_of_both_vendors(
    both, processor, tmp_path
):
    """``both`` ran the stages through DVC on the processor at hand. What a study's emulated.py
    prints is of measures that its stages take of weights that nothing ships."""
    project, python = copied(both, tmp_path), emulated(processor, tmp_path / "emulated")
    measures = [[str(path), RUN] for path in ROOT.glob("studies/*/emulated.py")]
    made = files.locked(project.folder)
    parts = [x for name in sorted(STAGES & made.keys()) for x in made[name]["cmd"].split(" && ")]
    work = [called(part)[1] for part in parts if "python" in part]
    with ThreadPoolExecutor(2) as pool:
        there = [*pool.map(partial(printed, project, python), [*work, *measures])][len(work) :]
    assert there == [printed(project, sys.executable, words) for words in measures]
    expected, found = both.outputs(), project.outputs()
    assert [path for path in expected if found.get(path) != expected[path]] == []


def test_the_installed_libraries_obey_the_switches():
    """One thread and kernels for AVX2 in every OpenBLAS, and none of NumPy's loops for AVX-512."""
    asked = (
        "import json, numpy, scipy.linalg, threadpoolctl\n"
        "loops = numpy.show_config('dicts')['SIMD Extensions']['found']\n"
        "print(json.dumps([threadpoolctl.threadpool_info(), loops]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], env=os.environ | switches("exact"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    pools, loops = json.loads(done.stdout)
    blas = [x for x in pools if x["internal_api"] == "openblas"]
    assert len(blas) == 2, pools  # NumPy's and SciPy's
    for library in blas:
        assert (library["architecture"], library["num_threads"]) == ("Haswell", 1)
        # From 0.3.34 on it chooses for itself on some processors (its issues 6013 and 6021).
        assert Version(library["version"]) < Version("0.3.34")
    assert loops == ["X86_V3"]  # AVX2 and FMA


def test_every_stage_that_computes_with_numpy_has_the_switches():
    """Those of others compute nothing, integers alone, or a training in torch."""
    without = {"split", "train", "checkpoints", "params", "check", "code", "api", "inputs"}
    without |= {"collect", "gather"}
    torch = {"controls", "first-look", "new-modulus", "your-own"}
    for name, described in files.stages(ROOT).items():
        kind = files.kind(name)
        own = "${run}" if kind in without else "${exact_torch}" if kind in torch else "${exact}"
        assert own in described["cmd"], name
