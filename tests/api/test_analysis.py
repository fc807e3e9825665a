"""Any model through the analysis: its numbers are the pipeline's, and a split has to fit."""

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from small import exact_mlp, exact_transformer, split_of, weights_of

import strata
from strata import commutative, params, results, store, task
from strata.api import console, operations, page, published
from strata.api.analysis import Analysis
from strata.api.model import model_of
from strata.inputs import InputError
from strata.measure import all_pairs, metrics
from strata.measure.metrics import Metrics
from strata.run import Run

ROOT = Path(__file__).parents[2]
LEVELS = params.load(ROOT / "params.yaml").metrics
N = 6


def exact(**recorded: object) -> strata.Transformer:
    """A model that is right on every pair, as from a file that records these."""
    state = {name: torch.from_numpy(x) for name, x in exact_transformer(N).items()}
    found = strata.from_weights({"state_dict": state, **recorded})
    assert isinstance(found, strata.Transformer)
    return found


def halves() -> dict[str, np.ndarray]:
    pairs = np.stack(np.divmod(np.arange(N * N), N), axis=1)
    return {"train": pairs[::2], "validation": pairs[1::2]}


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 2), Run(12, 1, "mlp")], ids=str)
def test_numbers_are_those_of_the_pipeline_but_what_needs_a_split(run):
    weights, split = weights_of(run), split_of(run.n)
    forward = all_pairs.over_all_pairs(weights, run.n)
    history = store.no_history().reindex([0]).assign(epoch=1, loss=0.5).astype({"epoch": "int32"})
    theirs = metrics.run_metrics(run, weights, split, history, forward, LEVELS)
    model = model_of(run, weights)
    dealt = {x: np.stack([split["a"], split["b"]], axis=1)[split["split"] == x]
             for x in (task.TRAIN, task.VALIDATION)}  # fmt: skip
    alone, with_split = (strata.analyse(model, x, repository=ROOT) for x in (None, dealt))
    unknown = {"epochs", "final_loss", "first_099", "epoch_099"}
    assert with_split.metrics.model_dump(exclude=unknown) == theirs.model_dump(exclude=unknown)
    unknown |= {"accuracy", "pairs", "generalised"}
    assert alone.metrics.model_dump(exclude=unknown) == theirs.model_dump(exclude=unknown)
    assert alone.metrics.accuracy.by_target == theirs.accuracy.by_target
    told = alone.metrics
    absent = (told.accuracy.train, told.accuracy.validation, told.pairs, told.generalised)
    assert absent == (None,) * 4 and told.epochs is None
    assert not alone.accuracy["pairs"].str.contains("training").any()
    for _, of_class in alone.spectra.groupby("d"):
        np.testing.assert_allclose(of_class["share"].to_numpy().sum(), 1)
    assert Metrics.model_validate_json(told.model_dump_json()) == told


@pytest.mark.parametrize("made", [exact_transformer, exact_mlp])
def test_a_model_that_is_right_is_right_everywhere_until_it_is_changed(made):
    found = strata.analyse(strata.from_weights(
        {name: torch.from_numpy(x) for name, x in made(N).items()}), repository=ROOT)  # fmt: skip
    assert {*found.accuracy["right"]} == {1} and found.accuracy["count"].tolist()[0] == N * N
    changes = found.changes.set_index("change")
    assert (changes.drop(columns="note").loc["none"] == 1).all()
    assert len(found.heads) == (made is exact_transformer)
    assert ("without head 0" in changes.index) == (made is exact_transformer)
    assert found.frames["training"].set_index("of").loc["learning rate", "stated"] == "not stated"


def test_what_the_network_computes_is_said_and_measured_as_that():
    weights = exact_transformer(task.named(f"C{N}", N))
    state = {name: torch.from_numpy(x) for name, x in weights.items()}
    found = strata.analyse(strata.from_weights(state), repository=ROOT)
    said = page.text(found)
    assert "answers are a + b mod 6 in 100.0 %, ab mod 6 in" in said.splitlines()[0]
    assert "--task C6" in said and "J₁" not in said
    right = strata.analyse(strata.from_weights(state, task="C6"), repository=ROOT)
    said = page.text(right)
    assert said.startswith("# dict: answers are a + b mod 6 in 100.0 %") and "prime" not in said
    assert not right.elsewhere and "factor 2" in said and "gcd" not in said and "J₁" in said


def test_what_the_page_says_of_a_part_of_the_residues_can_be_done():
    units = task.named("units", 18)
    state = {name: torch.from_numpy(x) for name, x in exact_transformer(units).items()}
    assert "units --n 18" in [x.task for x in operations.known_tasks(units.table)]
    found = strata.analyse(strata.from_weights(state, 18, task="units"), repository=ROOT)
    assert found.metrics.accuracy.all == 1 and found.run.n == 18 and found.task.order == N


EVERY = np.arange(N)
SWAPPED = np.array([0, 2, 1, 3, 4, 5])
ANSWERS = {
    "b − a mod 6": (EVERY - EVERY[:, None]) % N,
    "max(a, b)": np.maximum.outer(EVERY, EVERY),
    "3 for every pair": np.full((N, N), 3),
    "ab mod 6, where a token t stands for t + 2": (np.outer(EVERY + 2, EVERY + 2) - 2) % N,
    "ab in (Z_7, ·) without zeros": (np.outer(EVERY + 1, EVERY + 1) % 7 - 1),
    "ab in C2 x chain3": commutative.named("C2 x chain3"),
    "ab in Z2 x C2 x sums3": commutative.named("Z2 x C2 x sums3"),
    "ab in U15^0": commutative.named("U15^0"),
    "the task with tokens 1 and 2 exchanged": SWAPPED[np.outer(SWAPPED, SWAPPED) % N],
    "the task with operands 1 and 2 exchanged": np.outer(SWAPPED, SWAPPED) % N,
    "the task with its answers exchanged (0 for 1, 1 for 0 …)": np.array([1, 0, 2, 3, 4, 5])[
        np.outer(EVERY, EVERY) % N
    ],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_operations_are_told_by_their_answers(name):
    found = operations.compared(ANSWERS[name], task.task_of(len(ANSWERS[name])), 0.99)
    best = operations.known(found)
    assert best and best.answers == name and best.right == 1


@pytest.mark.parametrize("run", [Run(12, 1), Run(15, 2, "mlp")], ids=str)
def test_embedding_and_logits_say_what_the_model_says(run):
    model, n = model_of(run, weights_of(run)), run.n
    a, b = np.divmod(np.arange(n * n), n)
    logits, W_E = model(a, b), torch.cat([model.W_E[:n], torch.ones(2, model.W_E.shape[1])])
    beyond = torch.cat([logits, torch.full((n * n, 1), 1e9)], dim=1)
    whole = strata.analyse(model, repository=ROOT)
    of_model = {"run", "seed", "architecture", "heads", "neurons"}
    for given, own_n in ((logits.numpy(), None), (beyond, n), (model, n)):
        found = strata.analyse(embedding=W_E, logits=given, n=own_n, repository=ROOT)
        left, right = (x.metrics.model_dump(exclude=of_model) for x in (found, whole))
        assert left["accuracy"] == right["accuracy"] and left["pca"] == right["pca"]
        for mine, theirs in zip(found.metrics.classes, whole.metrics.classes, strict=True):
            assert mine.key_frequencies == theirs.key_frequencies and mine.pca == theirs.pca
            if theirs.character_fit:
                assert mine.character_fit and mine.fve == theirs.fve
                assert mine.character_fit.r2 == pytest.approx(theirs.character_fit.r2, abs=1e-4)
        assert found.changes.empty and "Not measured" in page.text(found)


def test_the_mechanism_of_embedding_and_logits_is_that_of_the_weights():
    model = model_of(Run(15, 1), exact_transformer(15))
    a, b = np.divmod(np.arange(15 * 15), 15)
    whole = strata.analyse(model, repository=ROOT).mechanism
    found = strata.analyse(embedding=model.W_E, logits=model(a, b), repository=ROOT).mechanism
    both = found.merge(whole, on=["id", "measure", "unit"])
    assert {"votes-share", "votes-classes", "code-right", "code-count"} <= {*both["id"]}
    assert {"accounts", "bias"} <= {*found["id"]}
    alike = both.query("unit != 'truth' and not value_x.isna()")
    np.testing.assert_allclose(alike["value_x"], alike["value_y"], atol=1e-3)


def test_where_every_character_is_key_the_rows_say_so():
    found = strata.analyse(exact(), repository=ROOT)
    changes = dict(found.changes[["change", "note"]].to_numpy().tolist())
    assert changes["key characters alone"] == "every character is key: nothing is removed"
    assert changes["none"] == "" and "every character is key" in page.text(found)
    notes = dict(found.classes[["d", "note"]].to_numpy().tolist())
    assert notes[6] == "" and notes[3] == "" and notes[1].startswith("two elements")
    assert "" not in {*found.spectra["note"], *found.character_fit["note"]}


FILES = {
    "split.csv": lambda path, frame: frame.to_csv(path, index=False),
    "split.parquet": lambda path, frame: frame.to_parquet(path),
    "split.npz": lambda path, frame: np.savez(path, allow_pickle=False, **halves()),
    "split.json": lambda path, frame: store.write_json(
        path, {k: x.tolist() for k, x in halves().items()}
    ),
    "split.pt": lambda path, frame: torch.save(
        {k: torch.from_numpy(x) for k, x in halves().items()}, path
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_split_is_the_same_in_every_form(name, tmp_path):
    frame = pd.concat(
        [pd.DataFrame(x, columns=["a", "b"]).assign(split=k) for k, x in halves().items()]
    )
    FILES[name](tmp_path / name, frame)
    found = [strata.analyse(exact(), x, repository=ROOT) for x in (halves(), tmp_path / name)]
    assert found[0].metrics == found[1].metrics and found[0].metrics.pairs
    assert found[0].metrics.pairs.train == N * N / 2


SPLITS: dict[str, dict[str, object]] = {
    r"train: \(0, 0\) is there more than once": {"train": [[0, 0], [1, 1], [0, 0]]},
    r"\(1, 2\) is in train and in validation": {"train": [[1, 2]], "test": [[1, 2]]},
    r"train: \(0, 6\): must be from 0 to 5": {"train": [[0, 6]]},
    r"train: must be integers of shape \(pairs, 2\)": {"train": [[0.5, 1.0]]},
    r"val: must be integers of shape": {"val": [1, 2]},
    "must have the pairs of train, of validation": {"other": [[0, 0]]},
}
ARRAYS: dict[str, dict[str, object]] = {
    "analyse: give a model, as from_weights makes one of a file": {},
    "of a file, or both embedding and logits": {"model": exact()},
    r"logits: \(8, 3\), 3 columns: must have 4 rows": {"logits": np.ones((8, 3))},
    r"embedding is \(3, 3\): must be \(4 or more": {"logits": np.ones((16, 4))},
    "embedding: a str, must be an array of numbers": {"embedding": "x", "logits": np.ones((9, 3))},
    r"logits\(a, b\) is \(2, 3\): must be \(1, n\)": {"logits": lambda a, b: np.ones((2, 3))},
}


@pytest.mark.parametrize("line", [*SPLITS, *ARRAYS])
def test_splits_and_arrays_that_cannot_be_are_refused_in_one_line(line):
    given: dict[str, Any] = {"embedding": np.eye(3)} | ARRAYS.get(line, {})
    if line in SPLITS:
        given = {"model": exact(), "split": SPLITS[line]}
    with pytest.raises(InputError, match=line):
        strata.analyse(**given, repository=ROOT)


WIDE = np.zeros((10**6, 2), np.int64)
LARGE = {
    "x.pt": lambda path: torch.save({"train": torch.zeros(1, 2).long().expand(2**28, 2)}, path),
    "x.npz": lambda path: np.savez_compressed(path, allow_pickle=False, train=WIDE),
    "x.parquet": lambda path: pd.DataFrame(WIDE, columns=["a", "b"]).to_parquet(path),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_small_file_of_more_pairs_than_there_are_is_refused_before_they_are_copied(
    name, tmp_path
):
    LARGE[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2**15
    tracemalloc.start()
    with pytest.raises(InputError, match=f"{name}.+ must be at most "):
        strata.analyse(exact(), tmp_path / name, repository=ROOT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("name", ["x.csv", "x.npz", "x.json", "x.pt", "x.parquet", "x.txt"])
def test_a_file_that_is_no_split_is_refused_by_its_name(name, tmp_path):
    (tmp_path / name).write_text("nothing")
    with pytest.raises(InputError, match=name):
        strata.analyse(exact(), tmp_path / name, repository=ROOT)


def test_a_split_is_held_against_what_the_file_records():
    told = {"losses": [1.0, 0.5], "train_accs": [0.5, 1.0], "eval_epochs": [2]}
    right, wrong = exact(**told, eval_accs=[1.0]), exact(**told, eval_accs=[0.714])
    assert strata.analyse(right, halves(), repository=ROOT).metrics.accuracy.validation == 1
    with pytest.raises(InputError, match=r"100\.0% .+ validation .+ records 71\.4%"):
        strata.analyse(wrong, halves(), repository=ROOT)
    stated = dict(strata.analyse(wrong, repository=ROOT).training.to_numpy().tolist())
    assert stated["validation accuracy, as recorded"] == "0.714" and stated["epochs"] == "2"


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """Weights in the published format, in a working directory with nothing else."""
    monkeypatch.chdir(tmp_path)
    run = Run(N, 1)
    metadata = {"run": str(run), "train": {"d_model": 12, "n_heads": 3, "d_mlp": 20}}
    history = store.no_history().reindex([0]).assign(epoch=1, loss=0.5, train_accuracy=0.2)
    Path("mine.pt").write_bytes(published.export(metadata, weights_of(run), history))
    return Path("mine.pt")


def call(monkeypatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["strata", "analyse", *words, "--repository", str(ROOT)])
    console.main()


def test_the_command_prints_the_page_of_a_file(file, monkeypatch, capsys):
    call(monkeypatch, str(file), "--n", "6")
    said = capsys.readouterr().out
    assert said.startswith("# mine.pt: answers are ") and "not stated" in said
    assert "nothing is said of training" in said and list(Path().iterdir()) == [file]


def test_the_command_writes_a_folder_whole(file, monkeypatch, capsys):
    drawn = dict.fromkeys(("fig05-training", "fig07-token-fft", "fig11-neurons"), "a figure")
    monkeypatch.setattr(page, "FIGURES", drawn)
    monkeypatch.setattr(Analysis, "mechanism", results.read_rows())
    call(monkeypatch, str(file), "--out", "out")
    said = "mine.pt, taken for the published format: wrote out/index.html"
    assert said in capsys.readouterr().out
    text = Path("out/index.html").read_text()
    assert r"\label{tab:mine-n6-s1-accuracy}" in Path("out/tables/accuracy.tex").read_text()
    assert r"\usepackage{amssymb,booktabs}" in text
    assert "<title>mine.pt</title>" in text and all(f"figures/{x}.png" in text for x in drawn)
    assert all(Path(f"out/figures/{x}.png").is_file() for x in drawn)
    again = strata.from_weights("out/weights.safetensors")
    np.testing.assert_array_equal(again.weights()["W_in"], weights_of(Run(N, 1))["W_in"])
    assert store.read_weights("out/weights.safetensors").keys() == again.weights().keys()
    with pytest.raises(SystemExit, match="out: is there already"):
        call(monkeypatch, str(file), "--out", "out")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["mine.pt", "--n", "7"], r"must be \(8, 12\)"),
        (["gone.pt"], r"gone\.pt: No such file"),
        (["mine.pt", "--split", "gone.csv"], r"gone\.csv: No such file"),
        (["mine.pt", "--out", "no/where"], "there is no folder"),
    ],
)
def test_the_command_refuses_in_one_line_and_writes_nothing(words, line, file, monkeypatch):
    with pytest.raises(SystemExit, match=line) as stop:
        call(monkeypatch, *words)
    assert "\n" not in str(stop.value.code) and list(Path().iterdir()) == [file]
