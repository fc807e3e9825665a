"""The real stages give the same bytes on processors of both vendors, emulated, as on this one; and
the switches that see to it are obeyed by the libraries that are installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version
from test_pipeline import ROOT, RUN, Project, called, copied

from strata import pipelines
from strata.run import read_yaml

EMULATOR = "qemu-x86_64"
PROCESSORS = ("EPYC-Rome", "Haswell")  # AMD and Intel, both with AVX2 and without AVX-512
# An analysis of each kind, the page of a run, tables and one figure with its notebook's kernel.
STAGES = ("activations", f"metrics@{RUN}", f"interventions@{RUN}", f"page@{RUN}", "tables", "grid",
          "interventions-tables", "hierarchy")  # fmt: skip


def switches(*names: str) -> dict[str, str]:
    """Environment variables of stages/exact.yaml."""
    words = " ".join(read_yaml(ROOT / "stages" / "exact.yaml")[name] for name in names)
    return called(f"{words} python")[0]


def stage(project: Project, name: str) -> str:
    """Script and arguments of a stage."""
    return " ".join(called(pipelines.locked(project.folder)[name]["cmd"])[1])


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


def begun(project: Project, python: str, out: Path) -> subprocess.Popen[str]:
    """A process that runs the stages, the training and the measures of tests/emulated.py."""
    process = subprocess.Popen(
        [python, str(ROOT / "tests" / "emulated.py"), str(out)],
        cwd=project.folder,
        env=project.environment | switches("exact", "exact_torch"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin
    process.stdin.write("".join(f"{stage(project, name)}\n" for name in STAGES))
    process.stdin.close()
    return process


@pytest.mark.skipif(
    not shutil.which(EMULATOR), reason=f"no {EMULATOR} here: apt-get install qemu-user brings it"
)
def test_every_analysis_gives_the_same_bytes_on_processors_of_both_vendors(made, tmp_path):
    """``made`` ran the stages through DVC on the processor at hand. The training is the one of
    stages/controls.py, the measures those of stages/course.py."""
    running, native = {}, tmp_path / "native"
    pythons = {name: emulated(name, tmp_path / f"emulated-{name}") for name in PROCESSORS}
    for name, python in {"native": sys.executable, **pythons}.items():
        (tmp_path / name).mkdir()
        project = copied(made, tmp_path / name)
        running[name] = project, begun(project, python, tmp_path / name)
    expected = made.outputs()
    for name, (project, process) in running.items():
        assert process.stderr
        said = process.stderr.read()
        assert process.wait() == 0, said
        found = project.outputs()
        other = [path for path in expected if found.get(path) != expected[path]]
        assert other == [], name
        own, here = (json.loads((x / "md5.json").read_text()) for x in (tmp_path / name, native))
        assert own == here, name


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
    trains = {"split", "train", "check", "code", "controls", "convert"}
    for name, described in pipelines.stages(ROOT).items():
        own = "${exact} ${exact_torch} python" if name == "controls" else "${exact} python"
        assert (own in described["cmd"]) == (name not in trains - {"controls"}), name
