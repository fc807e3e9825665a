"""The whole pipeline, tiny, through DVC itself: what runs is what was planned, what is left alone,
what is refused."""

import re
import sys

import pytest
from tiny import CHECK, EVERY, FIGURE, MORE, RUN, Project, copied

from ops import files
from ops.files import RUNS

PLAN = """
import sys
from ops import plan
with plan.scratch(sys.argv[2:]) as top:
    planner = plan.Planner(live=False, top=top)
    print(*[name for project in sys.argv[1].split(",") for name in planner.stale(project)])
"""
QUICK = {"code", "params", CHECK}  # are run to plan what follows
METRICS = f"{RUNS}:metrics@{RUN}"


def plan(project: Project, *overrides: str, projects: str = "") -> set[str]:
    """Return the stages that would run at most with these values of params.yaml, by the plan."""
    return set(project.do(sys.executable, "-c", PLAN, projects, *overrides).split("\n")[-2].split())


@pytest.fixture(scope="module")
def project(made_project, tmp_path_factory) -> Project:
    return copied(made_project, tmp_path_factory.mktemp("pipeline"))


@pytest.fixture
def restored(project: Project):
    """Yield the project, and restore it afterwards."""
    yield project
    project.do("git", "reset", "--quiet", "--hard")
    project.dvc("checkout", "--quiet", "--allow-missing")


def test_a_parameter_reruns_what_rests_on_it_and_no_more(restored):
    restored.set("lr", "0.002")
    trained_again = EVERY - {*QUICK, f"{RUNS}:split@{RUN}"}
    assert plan(restored) | {"forward"} == trained_again  # no cache keeps forward
    restored.do("git", "restore", "params.yaml")
    restored.set("variance", "0.9")
    ran = {METRICS, "collect", "tables", "seeds", "metrics-figures"}
    assert plan(restored) - {"forward"} == ran
    assert restored.dvc("repro") - {*QUICK, "forward"} == ran


@pytest.mark.slow
def test_a_remark_reruns_the_keys_alone_and_a_number_those_stages_alone_that_reach_it(restored):
    restored.dvc("repro", "forward")  # no cache keeps it, so no checkout brings it back
    for path in (restored.folder / "src").rglob("*.py"):
        path.write_text("# a remark\n" + path.read_text() + "\n\n# another\n")
    assert restored.dvc("repro") == {"code"}
    path = restored.folder / "src" / "strata" / "measure" / "variance.py"
    text = path.read_text()
    path.write_text(text.replace("\n    return ", "\n    assert 1 < 2\n    return "))
    assert path.read_text() != text
    assert restored.dvc("repro", METRICS) == {METRICS, "code"}


@pytest.mark.slow
def test_an_experiment_trains_its_own_model_alone(restored):
    overrides = ("variant=quick-", "variants.quick.epochs=20")
    at_most = plan(restored, *overrides)
    words = [word for value in overrides for word in ("--set-param", value)]
    ran = restored.dvc("exp", "run", *words, "tables")
    assert ran <= at_most | QUICK
    for stages in (ran, at_most):
        assert {x for x in stages if "train@" in x} == {f"{RUNS}:train@quick-{RUN}"}


def test_bad_input_gets_one_line_and_loses_nothing(restored):
    before, fault = restored.outputs(), "n = '../x': Input should be a valid integer"
    restored.set("n", "../x")
    repro = restored.run(sys.executable, "-m", "dvc", "repro")
    assert repro.returncode != 0
    lines = [line for line in repro.stdout.splitlines() if line.startswith("params: params.yaml: ")]
    assert len(lines) == 1 and fault in lines[0]
    refusal = restored.run(sys.executable, "-m", "ops.plan")
    [line] = refusal.stdout.splitlines()
    assert refusal.returncode == 1 and fault in line
    after = restored.outputs()
    assert {k: v for k, v in before.items() if k != "data/params.json"} == after


def test_what_dvc_would_refuse_is_refused_in_one_line_that_names_the_keys(project):
    output = project.run("env", "SET=nonsense=3", sys.executable, "-m", "ops.plan").stdout
    assert output.startswith("plan: SET = nonsense=3: ")
    assert "keys are those of params.yaml" in output
    assert len(output.splitlines()) == 1


@pytest.mark.slow
def test_a_key_that_no_stage_reads_is_refused_in_one_line_that_names_what_may_be(restored):
    # This is what Hydra proposes where a name after -S is wrong.
    words = ("exp", "run", "--set-param", "+figures.fig01_hierachy.star=1", FIGURE)
    process = restored.run(sys.executable, "-m", "dvc", *words)
    lines = [
        line for line in process.stdout.splitlines() if line.startswith("params: params.yaml: ")
    ]
    assert process.returncode and len(lines) == 1
    assert "figures.fig01_hierachy" in lines[0] and "stability" in lines[0]
    restored.do(sys.executable, "-m", "ops.back")
    restored.do("git", "stash", "drop", "--quiet")


@pytest.mark.slow
def test_a_figure_that_is_drawn_alone_is_refused_with_other_packages_than_the_locks(restored):
    path = restored.folder / "requirements.lock"
    path.write_text(re.sub(r"(?m)^matplotlib==\S+", "matplotlib==0.1", path.read_text()))
    before = files.locked_stages(restored.folder)
    words = ("-m", "dvc", "repro", "--force", "--single-item", FIGURE)
    process = restored.run(sys.executable, *words)
    assert process.returncode and files.locked_stages(restored.folder) == before
    assert re.search(r"(?m)^packages: matplotlib is .*, not 0\.1,", process.stdout)


@pytest.mark.slow
def test_a_preview_is_the_figure_that_its_stage_draws_and_changes_no_stage(project):
    project.do(sys.executable, "-m", "ops.preview", "fig03")
    for end in ("png", "svg", "pdf"):
        name = f"fig03-attn-scores.{end}"
        drawn, preview = (project.folder / x / name for x in ("figures", "preview"))
        assert drawn.read_bytes() == preview.read_bytes()
    assert plan(project) == set()
    refusal = project.run(sys.executable, "-m", "ops.preview", "fig99")
    [line] = refusal.stdout.splitlines()
    assert refusal.returncode == 1 and "F = fig99" in line and "fig03-attn-scores" in line


@pytest.mark.slow
def test_studies_follow_the_paper_and_train_nothing(both, tmp_path):
    project = copied(both, tmp_path)
    assert plan(project, projects=",studies") == set()
    project.set("key_threshold", 0.9)
    at_most = plan(project, projects=",studies")
    ran = project.dvc("repro") | project.dvc("repro", "--all-pipelines", project="studies")
    measured = {f"interventions@{run}" for run in (RUN, MORE)}
    assert measured <= {x.rpartition(":")[2] for x in ran}
    assert not {x for x in (*at_most, *ran) if "train@" in x or "activations@" in x}
    named = {x.replace("studies/dvc.yaml:", "").replace("studies/", "") for x in at_most}
    assert {x for x in ran if not x.endswith(("code", "params", "check", CHECK))} <= named
