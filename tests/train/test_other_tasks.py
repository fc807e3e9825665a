"""Runs of other tasks go where all runs go: splits, training, measures, and back as models."""

from pathlib import Path

import pytest
from over_seeds import ALL, PRINTED

from strata import params, store, task
from strata.api.analysis import Analysis
from strata.api.model import model_of
from strata.inputs import InputError
from strata.measure import all_pairs, metrics, stored
from strata.params import Params
from strata.run import Run, Settings
from strata.tables import format, headline
from strata.train import network
from strata.train.trainer import Trainer

CLIFFORD = ["0 1 2", "1 1 2", "2,2,1"]
TASKS = {
    "units-n15-s1": "units",
    "some-n30-s1": {"zeros": ["p2", 5]},
    "one-n12-s2": {"zeros": [3]},
    "pieces-n30-s1": "Z3 x C5 x chain2",
    "twisted-n6-s1": "Z3 x C2",
    "table-n3-s1": {"table": CLIFFORD},
}


def settings_of(name: str, architecture: str) -> Settings:
    """By way of params.yaml and of a file, as the pipeline does it."""
    run = Run.parse(name)
    small = {"d_model": 16, "n_heads": 2, "d_mlp": 24, "epochs": 30, "lr": 0.01}
    own = small | {"task": TASKS[name], "architecture": architecture, "train_fraction": 0.6}
    of = Params.model_validate(ALL.model_dump() | {"variants": {run.variant: own}})
    settings = of.settings(run)
    return Settings.model_validate_json(settings.model_dump_json())


@pytest.mark.parametrize("architecture", ["transformer", "mlp"])
@pytest.mark.parametrize("name", TASKS)
def test_a_run_of_another_task_is_trained_measured_and_loaded(name, architecture, tmp_path):
    run, settings = Run.parse(name), settings_of(name, architecture)
    of = settings.task(run)
    split = task.split(of.order, run.seed, 0.6, 0.3)
    more = {"split": split, "mirror_in_train": task.mirrored(split, of.order)}
    store.write_table(tmp_path / "split", task.pair_table(of) | more, store.SPLIT)
    trainer = Trainer(run, settings.train, store.read_split(tmp_path / "split", of)["split"],
                      task=of)  # fmt: skip
    for rows in trainer.batches:
        assert (of.table[rows.a, rows.b] == rows.c[:, 0].numpy()).all()
    trainer.advance(30)
    weights, path = trainer.weights(), tmp_path / "weights"
    store.write_bytes(path, store.tensors_bytes(weights, settings.record(run)))
    store.write_history(tmp_path / "history", trainer.history())
    assert len(weights["b_U"]) == of.order
    assert len(weights["W_E"]) == of.order + (architecture == "transformer")
    again, weights = store.read_task(path, run), store.read_weights(path, run)
    assert (again.table == of.table).all() and again.name == of.name
    forward = all_pairs.over_all_pairs(weights, again)
    stored.write_all_pairs(tmp_path / "pairs", forward, again)
    stored.write_forward(tmp_path / "forward", weights, again)
    found = metrics.run_metrics(
        run, weights, store.read_split(tmp_path / "split", again),
        store.read_history(tmp_path / "history"),
        stored.read_all_pairs(tmp_path / "pairs", again, weights),
        ALL.metrics.model_copy(update={"random_subsets": 5, "shuffles": 3}), again,
    )  # fmt: skip
    store.write_json(tmp_path / "metrics", found)
    assert store.read_model(tmp_path / "metrics", metrics.Metrics) == found
    assert found.task == of.name and sum(c.size for c in found.classes) == of.order
    of_run = {x.name: x for x in headline.tables(found, PRINTED, ALL)}
    assert sum(of_run["jclasses"].frame["size"].tolist()) == of.order
    assert "paper_fve" not in of_run["key-freqs"].frame
    format.write(of_run.values(), tmp_path)
    assert (tmp_path / "jclasses.tex").read_text("utf-8").isascii()
    assert headline.summary(found)
    model = model_of(run, weights, task=again)
    right = model.answers() == of.table
    assert model.accuracy() == pytest.approx(found.accuracy.all) == right.mean()
    last = trainer.history()["validation_accuracy"][-1]
    assert found.accuracy.validation == pytest.approx(last)
    for q, shown in of.factors.items():
        assert model.accuracy(q) == (shown[model.answers()] == shown[of.table]).mean()
    assert found.neurons and {*found.neurons.modulo} == {*of.factors}
    frames = Analysis(model, None, ".").frames
    assert frames["classes"]["size"].tolist() == [len(J) for J in of.classes]
    by = "modulo" if of.modulus else "factor"
    assert {*frames["changes"]} - {"change", "all", "note"} == {f"{by} {q}" for q in of.factors}
    assert len(model.spectrum(1)) == len(of.jclass(1)) if len(of.jclass(1)) > 1 else True


def test_a_residue_with_a_part_of_another_acts_as_the_residue_with_that_part():
    """Among the units, whose tokens are not their residues."""
    of = task.named("units", 35)
    assert isinstance(of, task.Residues)
    small = settings_of("units-n15-s1", "transformer").train
    weights = network.initial(Run(35, 1, "units"), small, of.order)
    model = model_of(None, {name: x.numpy() for name, x in weights.items()}, task=of)
    for a, other in ((3, 20), (0, 7), (23, 1)):
        acts_as = of.residues[model.swapped(a, other, 5)[1]]
        assert (acts_as % 5, acts_as % 7) == (of.residues[other] % 5, of.residues[a] % 7)


def test_what_multiplication_is_trained_with_names_no_task():
    """So that settings and weights have the bytes that they had."""
    settings = ALL.settings(Run(12, 1))
    assert "task" not in settings.split.model_dump()
    assert "task" not in str(settings.record(Run(12, 1)))
    assert settings.task(Run(12, 1)) is task.task_of(12)


def test_a_variant_takes_its_table_from_a_file_beside_params_yaml(tmp_path):
    text = Path("params.yaml").read_text("utf-8")
    own = text.replace("variants:\n", "variants:\n  mine: {task: {table: my/table.csv}}\n")
    (tmp_path / "params.yaml").write_text(own)
    with pytest.raises(InputError, match=r"task.table = my/table.csv: .*No such file"):
        params.load(tmp_path / "params.yaml")
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "table.csv").write_text("\n".join(CLIFFORD) + "\n")
    found = params.load(tmp_path / "params.yaml")
    run = Run.parse("mine-n3-s1")
    assert found.settings(run).task(run).table.tolist() == [[0, 1, 2], [1, 1, 2], [2, 2, 1]]
    (tmp_path / "my" / "table.csv").write_text("0,1,2\n1,2,1\n2,1,1\n")
    with pytest.raises(InputError) as refused:
        params.load(tmp_path / "params.yaml")
    assert "variants.mine.task" in str(refused.value)
    assert "must be associative" in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"run mine-n4-s1: task: its table has 3 elements"):
        found.settings(Run.parse("mine-n4-s1")).task(Run.parse("mine-n4-s1"))
