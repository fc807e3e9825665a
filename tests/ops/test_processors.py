"""An analysis gives the same bytes on another vendor's processor, emulated, as on this one, and the
switches that see to it are obeyed by the libraries that are installed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version
from tiny import ROOT, RUN, called, copied

from ops import files
from strata.run import read_yaml

EMULATOR = "qemu-x86_64"
PROCESSOR = "EPYC-Rome"  # AMD's; under it libraries take the paths of no Intel processor
ANALYSES = (f"{files.RUNS}:activations@{RUN}", f"{files.RUNS}:metrics@{RUN}")


def emulated(folder: Path) -> str:
    """Return an interpreter of this environment whose processes all see that processor."""
    home = Path(sys.prefix)
    (folder / "bin").mkdir(parents=True)
    for part in ("lib", "share"):
        (folder / part).symlink_to(home / part)
    shutil.copy(home / "pyvenv.cfg", folder)
    python, real = folder / "bin" / "python", Path(sys.executable).resolve()
    python.write_text(f'#!/bin/sh\nexec {EMULATOR} -cpu {PROCESSOR} -0 "$0" {real} "$@"\n')
    python.chmod(0o755)
    return str(python)


@pytest.mark.skipif(
    not shutil.which(EMULATOR), reason=f"no {EMULATOR} here: apt-get install qemu-user brings it"
)
def test_an_analysis_gives_the_same_bytes_on_a_processor_of_another_vendor(made_project, tmp_path):
    # DVC has run the fixture on the real processor. The emulator itself dies now and then of a
    # segmentation fault: then the stage is run twice more.
    project, python = copied(made_project, tmp_path), emulated(tmp_path / "emulated")
    for name in ANALYSES:
        stage = files.locked_stages(project.folder)[name]
        switches, words = called(stage["cmd"])
        for out in stage["outs"]:
            (project.folder / out["path"]).unlink()
        for _ in range(3):
            process = subprocess.run(
                [python, *words], cwd=project.folder, env=project.environment | switches,
                capture_output=True, text=True,
            )  # fmt: skip
            if process.returncode not in (-signal.SIGSEGV, 128 + signal.SIGSEGV):
                break
        assert process.returncode == 0, process.stderr
    assert project.outputs() == made_project.outputs()


def test_the_installed_libraries_obey_the_switches():
    # Every OpenBLAS must have one thread and kernels for AVX2, and NumPy no loops for AVX-512.
    script = (
        "import json, numpy, scipy.linalg, threadpoolctl\n"
        "loops = numpy.show_config('dicts')['SIMD Extensions']['found']\n"
        "print(json.dumps([threadpoolctl.threadpool_info(), loops]))"
    )
    switches, _ = called(read_yaml(ROOT / "stages" / "exact.yaml")["exact"])
    command = [sys.executable, "-c", script]
    pools, loops = json.loads(subprocess.check_output(command, env=os.environ | switches))
    libraries = [x for x in pools if x["internal_api"] == "openblas"]
    assert len(libraries) == 2, pools  # NumPy's and SciPy's
    for library in libraries:
        assert (library["architecture"], library["num_threads"]) == ("Haswell", 1)
        # From 0.3.34 on it chooses for itself on some processors (its issues 6013 and 6021).
        assert Version(library["version"]) < Version("0.3.34")
    assert loops == ["X86_V3"]  # AVX2 and FMA


def test_every_stage_that_computes_with_numpy_has_the_switches():
    # The other stages compute nothing, copy files, compute integers alone, or train in torch.
    without = {"split", "train", "params", "check", "code", "api", "inputs"}
    without |= {"collect", "gather", "first", "first-accounts"}
    torch = {"controls", "first-look", "new-modulus", "your-own"}
    for name, stage in files.stages(ROOT).items():
        kind = files.kind(name)
        switches = "run" if kind in without else "exact_torch" if kind in torch else "exact"
        assert f"${{{switches}}}" in stage["cmd"], name
