"""Runs of other tasks go where all runs go: splits, training, measures, and back as models."""

from pathlib import Path

import pytest
from small import ALL, PRINTED

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
    """Return the settings after a way through params.yaml and a file, as in the pipeline."""
    run = Run.parse(name)
    sizes = {"d_model": 16, "n_heads": 2, "d_mlp": 24, "epochs": 20, "lr": 0.01}
    changes = sizes | {"task": TASKS[name], "architecture": architecture, "train_fraction": 0.6}
    params = Params.model_validate(ALL.model_dump() | {"variants": {run.variant: changes}})
    settings = params.settings(run)
    return Settings.model_validate_json(settings.model_dump_json())


@pytest.mark.parametrize(
    ("name", "architecture"), [*zip(TASKS, ["transformer", "mlp"] * 3, strict=True)]
)
def test_a_run_of_another_task_is_trained_measured_and_loaded(name, architecture, tmp_path):
    run, settings = Run.parse(name), settings_of(name, architecture)
    other = settings.task(run)
    split = task.split(other.order, run.seed, 0.6, 0.3)
    columns = {"split": split, "mirror_in_train": task.mirrored(split, other.order)}
    store.write_table(tmp_path / "split", task.pair_table(other) | columns, store.SPLIT)
    trainer = Trainer(run, settings.train, store.read_split(tmp_path / "split", other)["split"],
                      task=other)  # fmt: skip
    for rows in trainer.batches:
        assert (other.table[rows.a, rows.b] == rows.c[:, 0].numpy()).all()
    trainer.advance(20)
    weights, path = trainer.weights(), tmp_path / "weights"
    store.write_bytes(path, store.tensors_bytes(weights, settings.record(run)))
    store.write_history(tmp_path / "history", trainer.history())
    assert len(weights["b_U"]) == other.order
    assert len(weights["W_E"]) == other.order + (architecture == "transformer")
    again, weights = store.read_task(path, run), store.read_weights(path, run)
    assert (again.table == other.table).all() and again.name == other.name
    forward = all_pairs.over_all_pairs(weights, again)
    stored.write_all_pairs(tmp_path / "pairs", forward, again)
    stored.write_forward(tmp_path / "forward", weights, again)
    measures = metrics.run_metrics(
        run, weights, store.read_split(tmp_path / "split", again),
        store.read_history(tmp_path / "history"),
        stored.read_all_pairs(tmp_path / "pairs", again, weights),
        ALL.metrics.model_copy(update={"random_subsets": 5, "shuffles": 3}), again,
    )  # fmt: skip
    store.write_json(tmp_path / "metrics", measures)
    assert store.read_model(tmp_path / "metrics", metrics.Metrics) == measures
    assert measures.task == other.name and sum(c.size for c in measures.classes) == other.order
    tables = {x.name: x for x in headline.tables(measures, PRINTED, ALL)}
    assert sum(tables["jclasses"].frame["size"].tolist()) == other.order
    assert "paper_fve" not in tables["key-freqs"].frame
    format.write(tables.values(), tmp_path)
    assert (tmp_path / "jclasses.tex").read_text("utf-8").isascii()
    assert headline.summary(measures)
    model = model_of(run, weights, task=again)
    right = model.answers() == other.table
    assert model.accuracy() == pytest.approx(measures.accuracy.all) == right.mean()
    last = trainer.history()["validation_accuracy"][-1]
    assert measures.accuracy.validation == pytest.approx(last)
    for q, residues in other.factors.items():
        assert model.accuracy(q) == (residues[model.answers()] == residues[other.table]).mean()
    assert measures.neurons and {*measures.neurons.modulo} == {*other.factors}
    frames = Analysis(model, None, ".").frames
    assert frames["classes"]["size"].tolist() == [len(J) for J in other.classes]
    by = "modulo" if other.modulus else "factor"
    assert {*frames["changes"]} - {"change", "all", "note"} == {f"{by} {q}" for q in other.factors}
    if len(other.jclass(1)) > 1:
        assert len(model.spectrum(1)) == len(other.jclass(1))


def test_a_residue_with_a_part_of_another_acts_as_the_residue_with_that_part():
    """Swap parts among the units, whose tokens are not their residues."""
    units = task.parse_task("units", 35)
    assert isinstance(units, task.Residues)
    sizes = settings_of("units-n15-s1", "transformer").train
    weights = network.initial(Run(35, 1, "units"), sizes, units.order)
    model = model_of(None, {name: x.numpy() for name, x in weights.items()}, task=units)
    for a, other in ((3, 20), (0, 7), (23, 1)):
        acts_as = units.residues[model.swapped(a, other, 5)[1]]
        assert (acts_as % 5, acts_as % 7) == (units.residues[other] % 5, units.residues[a] % 7)


def test_what_multiplication_is_trained_with_names_no_task():
    """Ensure that settings and weights keep the bytes that they had before there were tasks."""
    settings = ALL.settings(Run(12, 1))
    assert "task" not in settings.split.model_dump()
    assert "task" not in str(settings.record(Run(12, 1)))
    assert settings.task(Run(12, 1)) is task.task_of(12)


def test_a_variant_takes_its_table_from_a_file_beside_params_yaml(tmp_path):
    text = Path("params.yaml").read_text("utf-8")
    with_variant = text.replace("variants:\n", "variants:\n  mine: {task: {table: my/table.csv}}\n")
    (tmp_path / "params.yaml").write_text(with_variant)
    with pytest.raises(InputError, match=r"task.table = my/table.csv: .*No such file"):
        params.load(tmp_path / "params.yaml")
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "table.csv").write_text("\n".join(CLIFFORD) + "\n")
    loaded = params.load(tmp_path / "params.yaml")
    run = Run.parse("mine-n3-s1")
    assert loaded.settings(run).task(run).table.tolist() == [[0, 1, 2], [1, 1, 2], [2, 2, 1]]
    (tmp_path / "my" / "table.csv").write_text("0,1,2\n1,2,1\n2,1,1\n")
    with pytest.raises(InputError) as error:
        params.load(tmp_path / "params.yaml")
    assert "variants.mine.task" in str(error.value)
    assert "must be associative" in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(InputError, match=r"run mine-n4-s1: task: its table has 3 elements"):
        loaded.settings(Run.parse("mine-n4-s1")).task(Run.parse("mine-n4-s1"))
