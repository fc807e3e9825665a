"""The whole pipeline, tiny, through DVC itself: what runs, what is left alone, what is refused."""

import sys

import pytest
from tiny import EVERY, RUN, Project, copied


@pytest.fixture(scope="module")
def project(made, tmp_path_factory) -> Project:
    return copied(made, tmp_path_factory.mktemp("pipeline"))


@pytest.fixture
def restored(project: Project):
    """The project, and afterwards the project as it was."""
    yield project
    project.do("git", "reset", "--quiet", "--hard")
    project.dvc("checkout", "--quiet", "--allow-missing")


def test_nothing_runs_when_nothing_changed(project):
    assert project.planned() == set()
    assert project.dvc("repro") == set()


def test_a_figure_parameter_reruns_one_notebook(restored):
    restored.set("star", 0.3)
    assert restored.planned() == {"check@runs", "fig01-hierarchy", "report"}
    assert restored.dvc("repro") == {"check@runs", "fig01-hierarchy", "report"}


def test_a_metrics_parameter_reruns_metrics_tables_and_the_figures_that_read_them(restored):
    restored.set("variance", 0.9)
    ran = {"check@runs", f"metrics@{RUN}", "collect@metrics", "tables", "grid"}
    ran |= {"metrics-figures", f"page@{RUN}", "report", "cards", "accounts", "interventions-runs"}
    assert restored.planned() == ran
    assert restored.dvc("repro") == ran


def test_a_threshold_that_interventions_use_trains_nothing(restored):
    planned = restored.planned("metrics.key_threshold=0.9")
    restored.set("key_threshold", 0.9)
    assert restored.dvc("repro") <= planned
    assert not {stage for stage in planned if stage.startswith(("train", "split", "activations"))}
    assert {f"interventions@{RUN}", "interventions-runs", "grid", "report"} <= planned


def test_a_learning_rate_reruns_the_training_and_all_that_rests_on_it(restored):
    assert restored.planned("train.lr=0.002") == EVERY - {"code", f"split@{RUN}"}
    restored.set("lr", 0.002)
    assert restored.dvc("repro") == EVERY - {"code", f"split@{RUN}"}


def test_a_remark_or_another_layout_in_any_module_reruns_the_keys_alone(restored):
    restored.dvc("repro", "forward")  # no cache keeps it, so no checkout brings it back
    for path in (restored.folder / "src").rglob("*.py"):
        path.write_text("# a remark\n" + path.read_text() + "\n\n# another\n")
    assert restored.planned() == {"code"}
    assert restored.dvc("repro") == {"code"}


def test_a_changed_number_reruns_those_stages_alone_that_reach_it(restored):
    path = restored.folder / "studies" / "interventions" / "code" / "suite.py"
    path.write_text(path.read_text().replace("def intervene(", "ANY = 1\n\n\ndef intervene(", 1))
    assert restored.dvc("repro", f"interventions@{RUN}", f"metrics@{RUN}") == {"code"}
    text = path.read_text()
    path.write_text(text.replace("\n    return ", "\n    assert 1 < 2\n    return "))
    assert path.read_text() != text
    ran = restored.dvc("repro", f"interventions@{RUN}", f"metrics@{RUN}")
    assert ran == {"code", f"interventions@{RUN}"}


def trained(stages: set[str]) -> set[str]:
    return {stage for stage in stages if stage.startswith("train@")}


def test_another_modulus_trains_one_model_and_leaves_the_tables_over_seeds(restored):
    planned = restored.planned("n=7")
    ran = restored.dvc("exp", "run", "--set-param", "n=7", "tables", "grid")
    assert trained(ran) == trained(planned) == {"train@n7-s1"}
    assert "grid" not in ran | planned
    assert ran <= planned
    planned = restored.planned("n=6")
    ran = restored.dvc("exp", "run", "--set-param", "n=6", "tables")
    assert not trained(ran | planned)
    assert ran <= planned


def test_a_variant_trains_one_model_with_a_value_of_its_own_too(restored):
    own = ("variant=quick-", "variants.quick.epochs=20")
    planned = restored.planned(*own)
    words = [word for value in own for word in ("--set-param", value)]
    ran = restored.dvc("exp", "run", *words, f"train@quick-{RUN}")
    assert trained(ran) == trained(planned) == {f"train@quick-{RUN}"}
    assert not {"grid", "interventions-runs"} & planned
    assert ran <= planned


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("n", "1.5", "n = 1.5: must be an integer from 2 to 4096"),
        ("n", "../x", "n = '../x': must be an integer"),
        ("seed", "-1", "seed = -1: must be an integer from 0"),
        ("train_fraction", "0.9", "must be at most 1"),
        ("n_heads", "3", "must be divisible by n_heads = 3"),
        ("epochs", "0", "train.epochs = 0: must be an integer of at least 1"),
    ],
)
def test_bad_input_gets_one_line_and_loses_nothing(key, value, named, restored):
    before = restored.outputs()
    restored.set(key, value)
    done = restored.run(sys.executable, "-m", "dvc", "repro")
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("check: params.yaml: ")]
    assert len(lines) == 1
    assert named in lines[0]
    after = restored.outputs()
    assert {k: v for k, v in before.items() if not k.startswith("data/config/")} == after


def test_a_clone_pulls_everything_and_makes_the_activations_alone(project, tmp_path):
    clone = Project(tmp_path / "clone")
    project.do("git", "clone", "--quiet", str(project.folder), str(clone.folder))
    clone.dvc("pull", "--quiet")
    assert clone.dvc("repro") == {"forward"}
    clone.do(sys.executable, "-m", "dvc", "status", "--quiet")
    uncached = {name for name in clone.outputs() if name.startswith("data/forward/")}
    assert len(uncached) == 1
    assert {k: v for k, v in clone.outputs().items() if k not in uncached} == {
        k: v for k, v in project.outputs().items() if not k.startswith("data/forward/")
    }
    assert clone.do("git", "status", "--porcelain") == ""


def test_forced_figures_and_tables_have_the_same_bytes(project):
    project.dvc("repro", "forward")  # no cache keeps them, so no checkout brings them back
    before = project.outputs()
    project.dvc(
        "repro", "--force", "--single-item", "tables", "fig01-hierarchy", f"page@{RUN}", "report"
    )
    assert project.outputs() == before


def test_numbers_and_curves_can_be_shown(project):
    assert "fve" in project.do(sys.executable, "-m", "dvc", "metrics", "show")
    shown = project.do(sys.executable, "-m", "dvc", "plots", "show", "--json", "accuracy")
    assert "validation_accuracy" in shown
