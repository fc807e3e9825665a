"""The whole pipeline, tiny, through DVC itself: what runs is what was planned, what is left alone,
what is refused."""

import sys

import anywhere
import pytest
from tiny import CHECK, EVERY, MORE, PACKS, RUN, Project, copied

from ops.files import RUNS

PLAN = """
import sys
from ops import plan
with plan.scratch(sys.argv[2:]) as top:
    ahead = plan.Ahead(pulled=False, top=top)
    for project in sys.argv[1].split(","):
        print(*ahead.stages(project))
"""
QUICK = {"code", "params", CHECK}  # are run to plan what follows
METRICS = f"{RUNS}:metrics@{RUN}"


def planned(project: Project, *overrides: str, projects: str = "") -> set[str]:
    """The stages that the plan says run at most, with these values of params.yaml."""
    return set(project.do(sys.executable, "-c", PLAN, projects, *overrides).split())


@pytest.fixture(scope="module")
def project(made, tmp_path_factory) -> Project:
    return copied(made, tmp_path_factory.mktemp("pipeline"))


@pytest.fixture
def restored(project: Project):
    """The project, and afterwards the project as it was."""
    yield project
    project.do("git", "reset", "--quiet", "--hard")
    project.dvc("checkout", "--quiet", "--allow-missing")


@pytest.mark.parametrize(
    ("key", "value", "ran"),
    [
        ("star", "0.3", {"fig01-hierarchy"}),
        ("variance", "0.9", {METRICS, "collect", "tables", "seeds", "metrics-figures"}),
        ("lr", "0.002", EVERY - {*QUICK, f"{RUNS}:split@{RUN}"}),
    ],
)
def test_a_parameter_reruns_what_rests_on_it_and_no_more(key, value, ran, restored):
    restored.set(key, value)
    assert planned(restored) - {"forward"} == ran - {"forward"}  # no cache keeps it
    assert restored.dvc("repro") - {*QUICK, "forward"} == ran - {"forward"}


def test_a_remark_or_another_layout_in_any_module_reruns_the_keys_alone(restored):
    restored.dvc("repro", "forward")  # no cache keeps it, so no checkout brings it back
    for path in (restored.folder / "src").rglob("*.py"):
        path.write_text("# a remark\n" + path.read_text() + "\n\n# another\n")
    assert restored.dvc("repro") == {"code"}


def test_a_changed_number_reruns_those_stages_alone_that_reach_it(restored):
    path = restored.folder / "src" / "strata" / "measure" / "variance.py"
    text = path.read_text()
    path.write_text(text.replace("\n    return ", "\n    assert 1 < 2\n    return "))
    assert path.read_text() != text
    restored.dvc("repro", "forward")
    ran = restored.dvc("repro", METRICS)
    assert ran <= {METRICS, "code"} and METRICS in ran


@pytest.mark.parametrize(
    ("overrides", "trained"),
    [
        (["n=7"], "n7-s1"),
        (["n=6"], None),
        (["variant=quick-", "variants.quick.epochs=20"], f"quick-{RUN}"),
    ],
)
def test_an_experiment_trains_its_own_model_alone(overrides, trained, restored):
    at_most = planned(restored, *overrides)
    words = [word for value in overrides for word in ("--set-param", value)]
    ran = restored.dvc("exp", "run", *words, "tables")
    assert ran <= at_most | QUICK
    expected = {f"{RUNS}:train@{trained}"} if trained else set()
    assert {x for x in ran if "train@" in x} == expected
    assert {x for x in at_most if "train@" in x} == expected


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("n", "1.5", "n = 1.5: Input should be a valid integer"),
        ("n", "../x", "n = '../x': Input should be a valid integer"),
        ("n_heads", "3", "must be divisible by n_heads = 3"),
        ("epochs", "0", "train.epochs = 0: Input should be greater than or equal to 1"),
    ],
)
def test_bad_input_gets_one_line_and_loses_nothing(key, value, named, restored):
    before = restored.outputs()
    restored.set(key, value)
    done = restored.run(sys.executable, "-m", "dvc", "repro")
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("params: params.yaml: ")]
    assert len(lines) == 1 and named in lines[0]
    said = restored.run(sys.executable, "-m", "ops.plan")
    assert said.returncode == 1 and len(said.stdout.splitlines()) == 1 and named in said.stdout
    after = restored.outputs()
    assert {k: v for k, v in before.items() if k != "data/params.json"} == after


@pytest.mark.parametrize("wrong", ["nonsense=3", "n=[3", "variants.none.lr=0.002"])
def test_what_dvc_would_refuse_is_refused_in_one_line_that_names_the_keys(wrong, project):
    project.environment["SET"] = wrong
    said = project.run(sys.executable, "-m", "ops.plan").stdout
    del project.environment["SET"]
    assert said.startswith(f"plan: {wrong}: ") and "keys are those of params.yaml" in said
    assert len(said.splitlines()) == 1


def test_a_clone_pulls_everything_and_makes_the_activations_alone(project, tmp_path):
    clone = anywhere.cloned(project, tmp_path / "clone")
    said = clone.do(sys.executable, "-m", "ops.plan")
    assert "restore " in said and "train" not in said and "at most 1 stage: forward" in said
    clone.do(*PACKS)
    clone.dvc("pull", "--quiet")
    assert clone.dvc("repro") == {"forward"}
    clone.do(sys.executable, "-m", "dvc", "status", "--quiet")
    assert clone.published() == project.published() != clone.outputs()
    assert clone.do("git", "status", "--porcelain") == ""


def test_studies_follow_the_paper_and_train_nothing(both, tmp_path):
    project = copied(both, tmp_path)
    assert planned(project, projects=",studies") == set()
    project.set("key_threshold", 0.9)
    at_most = planned(project, projects=",studies")
    ran = project.dvc("repro") | project.dvc("repro", "--all-pipelines", project="studies")
    measured = {f"interventions@{run}" for run in (RUN, MORE)}
    assert measured <= {x.rpartition(":")[2] for x in ran}
    assert not {x for x in (*at_most, *ran) if "train@" in x or "activations@" in x}
    named = {x.replace("studies/dvc.yaml:", "").replace("studies/", "") for x in at_most}
    assert {x for x in ran if not x.endswith(("code", "params", "check", CHECK))} <= named
