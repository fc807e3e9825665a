"""Training dynamics, tiny, through DVC itself: nothing trains for them unless it is asked to."""

import sys

import pytest
from tiny import ROOT, RUN, Described, Project, add, copied

from strata.run import read_yaml

DYNAMICS = "studies/dynamics/dvc.yaml"  # its stages are frozen: DVC alone does not make them
FROZEN = (sys.executable, "-c", "from ops import dynamics; print(dynamics.line())")
MAKE = (sys.executable, "-m", "ops.dynamics")


def dynamics() -> Described:
    """The pipeline of the training dynamics of a run, without their tables and figures."""
    whole = read_yaml(ROOT / DYNAMICS)
    kept = {"code"} | {k for k, v in whole["stages"].items() if "matrix" in v}
    whole["stages"] = {k: v for k, v in whole["stages"].items() if k in kept}
    for name in kept - {"code"}:
        whole["stages"][name]["matrix"]["run"] = [RUN]
    return {DYNAMICS: whole}


@pytest.fixture(scope="module")
def project(both, tmp_path_factory) -> Project:
    """Tiny studies with the training dynamics of a run, made once."""
    made = copied(both, tmp_path_factory.mktemp("dynamics"))
    add(made, dynamics())
    made.dvc("repro", "dynamics/dvc.yaml:code", project="studies")
    made.do(*MAKE)
    return made


def test_no_repro_trains_for_another_schedule_and_a_line_says_what_would(project):
    assert project.do(*FROZEN) == "\n"
    receipt = project.folder / "studies" / "dynamics" / "data" / "checkpoints" / f"{RUN}.json"
    before = receipt.read_bytes()
    project.set("count", 7)
    ran = project.dvc("repro", "--all-pipelines", project="studies")
    assert not {x for x in ran if x.startswith("dynamics")} and receipt.read_bytes() == before
    assert f"make dynamics RUN='{RUN}'" in project.do(*FROZEN)
    assert f"checkpoints of {RUN}  epoch 40/40" in project.do(*MAKE)
    assert receipt.read_bytes() != before
    assert project.do(*FROZEN) == "\n"
