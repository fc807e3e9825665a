"""Training dynamics, tiny, through DVC itself: nothing trains for them unless it is asked to."""

import sys
from contextlib import chdir

import pytest
from tiny import ROOT as TOP
from tiny import RUN, Project, pipeline, prepared

from ops import files, frozen
from strata.run import read_yaml

FROZEN = ("checkpoints", "dynamics", "grokking")
STAGES = {"code", "check", "split", "train", *FROZEN}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    """One run with its training dynamics, made once."""
    whole = pipeline()
    studies = read_yaml(TOP / files.FILES[3])["stages"]
    whole[files.FILES[3]]["stages"] |= {name: studies[name] for name in FROZEN}
    for file in whole.values():
        file["stages"] = {k: v for k, v in file["stages"].items() if k in STAGES}
    for name in FROZEN:
        studies[name]["matrix"]["run"] = [RUN]
    whole["dvc.yaml"].pop("plots")
    made = prepared(tmp_path_factory.mktemp("frozen") / "project", whole)
    made.set("count", 5)
    made.do(sys.executable, "ops/scripts/dynamics.py")
    return made


def said(project: Project) -> str:
    """What make paper says of the frozen stages."""
    with chdir(project.folder):
        return frozen.line()


def test_no_repro_trains_for_another_schedule_and_make_paper_says_what_would(project):
    assert said(project) == ""
    receipt = project.folder / "data" / "checkpoints" / f"{RUN}.json"
    before = receipt.read_bytes()
    project.set("count", 7)
    assert project.dvc("repro", files.FILES[3]) == set()
    assert receipt.read_bytes() == before
    assert said(project) == (
        f"training dynamics of {RUN}: made with other files or parameters (params.yaml: "
        "checkpoints); `make dynamics` makes them again, after training for about 0.0 hours"
    )
    assert f"checkpoints of {RUN}  epoch 40/40" in project.do(
        sys.executable, "ops/scripts/dynamics.py"
    )
    assert receipt.read_bytes() != before
    assert said(project) == ""


def test_another_threshold_takes_no_training(project):
    path = project.folder / "params.yaml"
    text = path.read_text()
    head, dynamics = text.split("\ndynamics:")
    path.write_text(f"{head}\ndynamics:{dynamics.replace('variance: 0.95', 'variance: 0.5', 1)}")
    assert "(params.yaml: dynamics); `make dynamics` makes them again, in minutes" in said(project)
    path.write_text(text)


def test_without_checkpoints_a_measurement_ends_with_one_line_that_says_how_long_they_take(
    project,
):
    for kept in (project.folder / ".snapshots" / "checkpoints" / RUN).glob("*.safetensors"):
        kept.unlink()
    lines = {"dynamics": "again, about as long as the run itself, and measures"}
    lines |= {"grokking": "again, and measures"}
    for stage, end in lines.items():
        words = files.locked(project.folder)[f"{stage}@{RUN}"]["cmd"].split("python ")[1].split()
        ended = project.run(sys.executable, *words)
        assert ended.returncode == 1
        assert ended.stdout == (
            f"{stage}: {RUN}: its checkpoints are not here; `make dynamics` trains them {end}\n"
        )
