"""`make verify` passes on what was really made, and names what was forged, damaged or not checked:
on a tiny project whose locks and remote fit whatever lies in it, as a forger would see to it."""

import hashlib
import io
import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from locked import EPOCHS, FIGURE, PAGE, PICTURE, ROOT, RUNS, Project
from PIL import Image
from ruamel.yaml import YAML
from safetensors.numpy import save

from ops import compare, files, shipped, trainings, verify
from ops.shipped import Out, Outs
from strata import store
from strata.inputs import InputError
from strata.params import load
from strata.run import Run
from strata.train import machine
from strata.train.trainer import Trainer

EPOCHS_AGAIN = trainings.EPOCHS
TRAINED = f"data/train/{RUNS[0]}"


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("honest") / "project")
    project.begin()
    return project


@pytest.fixture
def project(honest, tmp_path) -> Project:
    """A copy to do anything with."""
    shutil.copytree(honest.folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


def verified(project: Project, share: int) -> tuple[int, list[str]]:
    """Exit code and lines."""
    done = project.run("env", f"SAMPLE={share}", sys.executable, "-m", "ops.verify")
    return done.returncode, done.stdout.splitlines()


def test_what_was_made_passes_and_each_outcome_is_counted(project):
    def contents() -> dict[Path, bytes]:
        files = (x for x in project.folder.rglob("*") if x.is_file())
        return {x: x.read_bytes() for x in files if not {".git", "__pycache__"} & {*x.parts}}

    before = contents()
    code, lines = verified(project, 60)
    assert code == 0, lines
    # 3 splits, 3 metrics, collected, table, figure, 2 interventions, the report's, two pages, a
    # picture; 3 trainings; an intervention not drawn, dynamics, two middles, two sources outside.
    assert lines[-1] == "verify: 15 made again, 3 tried in part, 6 not checked, none failed"
    assert sum(f"first {EPOCHS_AGAIN} epochs the same bytes" in line for line in lines) == 2
    assert any(line.startswith("not checked") and "dynamics@n6-s1" in line for line in lines)
    after = contents()
    assert after == before
    assert "on-controls: 2 of 3: a forged one is found with 67%" in "\n".join(lines)


def test_of_each_kind_a_tenth_is_drawn_and_each_of_its_runs_as_likely():
    """By the names in the shipped locks: so a forged record of a run is found with 10 % or more."""
    names, calls = files.locked(ROOT), 400
    random.seed(0)
    counts = Counter(x for _ in range(calls) for x in verify.drawn(names, verify.SAMPLE))
    for kinds in (verify.TRAINED, *verify.SAMPLED):
        pool = [x for x in names if verify.base(x) in kinds]
        found = np.array([counts[x] / calls for x in pool])
        assert not pool or found.mean() >= 0.1
        assert (abs(found - found.mean()) < 5 * (0.1 * 0.9 / calls) ** 0.5).all()


POSING = ("sitecustomize.py", "src/antigravity.py", "ops/times/__init__.py", "ops/a.pyc")
POSING += ("src/ops/verify.py", "any.dist-info/entry_points.txt", "ops/grid.py", "stages.py")
PAGES = {
    ".github/README.md": "What a host shows.\n",
    "docs/typed.md": "it is 7.\n",
    "docs/parts.md": "it is &frac12;\n",
    "docs/coded.md": "it is `7 %`\n",
    "docs/chart.md": "```mermaid\npie 8\n```\n",
    "docs/comment.md": "it is<!--> 9\n",
    "docs/signed.md": "minus <!-- params.yaml[n] -->6<!-- end -->\n",
    "docs/exchanged.md": "it is <!-- params.yaml[n]: the modulus -->6<!-- end -->, the seed\n",
    "docs/gone.md": "it is <!-- studies/gone/tables/x.md[a | b] -->5<!-- end -->\n",
    "docs/hand.md": "it is <!-- docs/typed.md[a | b] -->5<!-- end -->\n",
    "docs/drawn.md": "![another](other.svg)\n\n<iframe src=other.svg></iframe>\n",
    "docs/other.svg": "<svg/>\n",
}


def test_each_forgery_is_named_though_every_md5_fits(project, tmp_path):
    """And so is what git, locks or remote have that no stage accounts for."""
    folder = project.folder
    for path in ("data/metrics/n6-s1.json", "data/collected.json", "tables/sums.md",
                 FIGURE, "studies/interventions/n6-s3.json", "report/runs.json", "studies/odd.json",
                 "data/split/n6-s3.parquet"):  # fmt: skip
        (folder / path).write_text("forged\n")
    record = store.read_json(folder / TRAINED / "environment.json")
    store.write_json(folder / TRAINED / "environment.json", record | {"torch": "2.0.0"})
    text = (folder / "dvc.yaml").read_text()
    (folder / "dvc.yaml").write_text(text.replace("  collect:\n", "  collect:\n    frozen: true\n"))
    (folder / "paper/published/logits.json").write_text("{}")
    printed = folder / "paper/printed_values.json"
    printed.write_text(printed.read_text().replace("95", "96"))
    (folder / PICTURE).write_text("another\n")
    for path in POSING:
        store.write_text(folder / path, "")
    (folder / "ops/link.py").symlink_to("/etc/passwd")
    for path, text in PAGES.items():
        store.write_text(folder / path, text)
    store.write_text(folder / ".gitattributes", "docs/typed.md export-ignore\n")
    notebook = {"cells": [{"cell_type": "code", "source": [], "outputs": [{"text": "forged"}]}]}
    store.write_json(folder / "docs/shown.ipynb", notebook)
    store.write_text(folder / "studies/Data/sums.csv", "")
    studies = folder / "studies/dvc.yaml"
    more = YAML(typ="safe").load(studies)
    call = "cd .. && python sum.py"
    hidden = f"{call} studies/hidden.json docs/typed.md"
    odd = f"{call} studies/odd.json; touch {tmp_path}/ran"
    more["stages"]["hidden"] = {"cmd": hidden, "outs": ["hidden.json"]}
    more["stages"]["odd"] = {"cmd": odd, "outs": ["odd.json"]}
    YAML().dump(more, studies)
    project.run("sh", "-c", f"cd studies && {hidden}")
    dynamics = folder / "studies/dynamics/dvc.yaml"
    dynamics.write_text(dynamics.read_text().replace("&& python", "&& env PYTHONPATH=. python"))
    project.lock()
    store.write_text(folder / "data/collected.csv", "")
    project.run("git", "add", "--force", "data/collected.csv")
    lock = folder / "studies/interventions/dvc.lock"
    lock.write_text(lock.read_text().replace("sum.py studies/interventions/n6-s1", "sum.py a"))
    lock = folder / "runs/dvc.lock"
    gone = YAML(typ="safe").load(lock)
    gone["stages"]["old"] = {"cmd": "true", "outs": []}
    del gone["stages"]["split@n6-s2"]
    gone["stages"]["metrics@n6-s2"]["params"] = {"params.yaml": {"n": 7}}
    YAML().dump(gone, lock)
    for path, remote in (
        ("data/metrics/n6-s3.json", "remote"),
        ("studies/odd.json", "studies/remote"),
    ):
        md5 = hashlib.md5((folder / path).read_bytes()).hexdigest()
        shipped.at(md5, folder / remote).write_text("damaged")
    project.run("git", "add", "--all")
    store.write_text(folder / "sum.py", "# not staged\n")
    killed = tmp_path / "strata-verify-killed" / "lock"
    store.write_text(killed, "")
    project.environment["TMPDIR"] = str(tmp_path)
    code, lines = verified(project, 100)
    failed = lines[lines.index("") :]
    assert code == 1
    assert not killed.exists() and not (tmp_path / "ran").exists()
    assert "Not staged, so not what is compared: sum.py." in lines
    for page in ("docs/gone.md", "docs/hand.md"):
        assert any(x.startswith(f"not checked    {page}: no stage here wrote") for x in lines)
    for what, named in (
        ("runs/dvc.yaml:metrics@n6-s1", "other bytes: data/metrics/n6-s1.json"),
        ("collect", "other bytes: data/collected.json"),
        ("tables", "other bytes: tables/sums.md"),
        ("studies/dvc.yaml:figure", f"other bytes: {FIGURE}"),
        ("studies/interventions/dvc.yaml:interventions@n6-s3", "other bytes: "),
        ("runs/dvc.yaml:split@n6-s3", "other bytes: data/split/n6-s3.parquet"),
        ("runs/dvc.yaml:train@n6-s3", "n6-s3.parquet"),
        ("runs/dvc.yaml:train@n6-s1", "environment.json: trained with torch 2.0.0"),
        ("runs/dvc.yaml:old", "in no pipeline file"),
        ("runs/dvc.yaml:split@n6-s2", "it is in no lock"),
        ("runs/dvc.yaml:train@n6-s2", "reads data/split/n6-s2.parquet, which is not there"),
        ("runs/dvc.yaml:metrics@n6-s2", "other parameters"),
        ("runs/dvc.yaml:metrics@n6-s3", "is damaged"),
        ("studies/interventions/dvc.yaml:interventions@n6-s1", "other command"),
        ("paper/published/logits.json", "receipt.json"),
        ("paper/printed_values.json", "receipt.json"),
        (PAGE, "not as its files have it"),
        (PICTURE, "no stage of its study drew it"),
        *((path, "in the place of other code") for path in POSING),
        ("ops/link.py", "as a link"),
        (".github/README.md", "in the place of a page"),
        ("data/collected.csv", "in a folder that stages fill"),
        ("studies/dynamics/dvc.yaml:dynamics@n6-s1", "is unusual: env PYTHONPATH=."),
        ("docs/typed.md", "is not known: it is 7."),
        ("docs/parts.md", "is not known: it is ½"),
        ("report/dvc.yaml:runs", "other bytes: report/runs.json"),
        ("studies/dvc.yaml:hidden", "reads docs/typed.md, which is none of its inputs"),
        ("studies/dvc.yaml:odd", "is unusual: python sum.py"),
        ("docs/shown.ipynb", "what no stage drew"),
        ("studies/Data/sums.csv", "in a folder that stages fill"),
        ("docs/coded.md", "is not known: it is `7"),
        ("docs/chart.md", "is not known: "),
        ("docs/comment.md", "is not known: it is<!--> 9"),
        ("docs/signed.md", "is not known: minus [n]"),
        ("docs/exchanged.md", "is not known: it is [n]"),
        ("docs/other.svg", "drawn.md shows it"),
        ("docs/<iframe>", "drawn.md shows it"),
    ):
        assert any(f"  {what}: " in line and named in line for line in failed), (what, lines)
    assert lines[-1].endswith(f"{sum(x.startswith('FAIL') for x in failed)} failed")


def test_the_page_says_all_that_may_stay_unchecked_and_within_what_the_rest_is_compared():
    page = (ROOT / "docs/verification.md").read_text("utf-8")
    said = page.partition("(`ops/verify.py`, `ops/trainings.py`):\n\n```\n")[2].partition("```")[0]
    kinds = [", ".join(sorted({*map(files.kind, x)})) for x in (verify.TRAINED, *verify.SAMPLED)]
    first = f"{trainings.FIRST}, of a run that is drawn {trainings.EPOCHS}"
    limits = ", ".join(f"{limit} {'epochs ' * (i == 0)}up to epoch {end}"
                       for i, (end, limit) in enumerate(trainings.LIMITS))  # fmt: skip
    shares = f"{trainings.TRAINED} in training, {trainings.VALIDATED} else"
    assert said.splitlines() == [
        f"never made again: {', '.join(sorted(map(files.kind, verify.UNCHECKED)))}",
        *(f"drawn, {verify.SAMPLE} % of: {kind}" for kind in kinds),
        f"epochs trained again: {first}, of one that diverged by then {trainings.DIVERGES}",
        f"losses apart: {limits}",
        f"loss of the weights over that of the last row: {trainings.LOSS}; accuracies: {shares}",
    ]


@pytest.fixture
def trained(honest, tmp_path) -> Path:
    """What train wrote for a run, to do anything with."""
    shutil.copytree(honest.folder / TRAINED, tmp_path / "train")
    return tmp_path / "train"


def faults(honest: Project, trained: Path, run: str = RUNS[0]) -> str:
    table = honest.folder / f"data/split/{run}.parquet"
    return trainings.faults(trained, table, Run.parse(run), honest.folder)


def begun(honest: Project, trained: Path) -> tuple[str, str]:
    return trainings.begun(trained, Run.parse(RUNS[0]), honest.folder, trainings.EPOCHS)


def rewritten(trained: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Another history, with its thinned copy."""
    history = change(store.read_history(trained / "history.parquet"))
    columns = {name: history[name].to_numpy() for name in history}
    store.write_history(trained / "history.parquet", columns)
    store.write_thinned(trained / "history.csv", columns)


def last(name: str, value: float) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """A history with another end."""
    return lambda h: h.assign(**{name: [*h[name][:-1], value]}).astype(h.dtypes)


def test_an_early_end_is_where_the_settings_have_it(honest, trained, tmp_path):
    text = (honest.folder / "params.yaml").read_text()
    asked = "variants:\n  early: {epochs: 200, stop_after: 20, stop_at: 1.0e-9}\n"
    (tmp_path / "params.yaml").write_text(text.replace("variants:\n", asked, 1))
    table, run = honest.folder / f"data/split/{RUNS[0]}.parquet", Run.parse(f"early-{RUNS[0]}")
    settings = load(tmp_path / "params.yaml").settings(run)
    split = store.read_split(table, run.n)["split"]

    def told(trainer: Trainer) -> str:
        trainer.advance(trainer.params.epochs)
        content = store.tensors_bytes(trainer.weights(), settings.record(run))
        store.write_bytes(trained / "weights.safetensors", content)
        rewritten(trained, lambda _: pd.DataFrame(trainer.history()))
        return trainings.faults(trained, table, run, tmp_path)

    early = Trainer(run, settings.train, split, early=settings.early)
    assert told(early) == "" and early.epoch < 200
    for epochs, must in ((early.epoch - 20, 200), (early.epoch + 20, early.epoch)):
        own = settings.train.model_copy(update={"epochs": epochs})
        said = f"its history has {epochs} epochs, must have {must}"
        assert told(Trainer(run, own, split)) == said


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (last("loss", np.nan), "its history ends with nan"),
        (lambda h: last("loss", np.nan)(h.head(50)), "its history ends with nan"),
        (lambda h: h.head(50), "has 50 epochs, must have 60"),
        (lambda h: h.assign(loss=h["loss"].where(h["epoch"] <= 45)), "has 60 epochs, must have 46"),
        (lambda h: h.assign(loss=h["loss"] / 1.5), "its weights have loss "),
        (lambda h: h.assign(loss=-h["loss"]), "loss must be"),
        (lambda h: h.assign(loss=h["loss"].where(h["epoch"] != 9)), "loss must be"),
        (lambda h: h.assign(train_accuracy=2.0), "train_accuracy must be from 0 to 1"),
        (
            lambda h: h.assign(train_accuracy=h["train_accuracy"] * 0.999 + 0.001),
            "is no share of 10 pairs",
        ),
        (lambda h: h.assign(validation_accuracy=0.5), "lacks it, at epoch 1"),
        (
            lambda h: h.assign(mirror_free_accuracy=h["mirror_free_accuracy"].where(h.epoch != 20)),
            "lacks it, at epoch 20",
        ),
        (last("train_accuracy", 1.0), "its weights have train_accuracy "),
        (last("validation_accuracy", 1.0), "its weights have validation_accuracy "),
        (last("mirror_free_accuracy", 1.0), "its weights have mirror_free_accuracy "),
    ],
)
def test_weights_are_held_to_the_end_of_their_history(honest, trained, change, named):
    assert faults(honest, trained) == ""
    rewritten(trained, change)
    assert named in faults(honest, trained)


@pytest.mark.parametrize(("rise", "named"), [(4, ""), (2, "its weights have loss ")])
def test_a_loss_that_leaps_may_leap_on_by_the_square_of_its_last_step(rise, named, honest, trained):
    def leaping(history):
        loss = history["loss"].copy()
        loss.iloc[-1] /= 9
        loss.iloc[-2] = loss.iloc[-1] / rise
        return history.assign(loss=loss)

    rewritten(trained, leaping)
    said = faults(honest, trained)
    assert named in said and bool(said) == bool(named)


def test_weights_splits_and_thinned_histories_are_those_of_their_run(honest, trained, tmp_path):
    weights, config = store.read_tensors(trained / "weights.safetensors")
    content = store.tensors_bytes(weights, config | {"lr": 1})
    store.write_bytes(trained / "weights.safetensors", content)
    assert "other settings" in faults(honest, trained)
    other = honest.folder / "data/train" / RUNS[1]
    shutil.copy(other / "weights.safetensors", trained)
    assert RUNS[1] in faults(honest, trained) or "other settings" in faults(honest, trained)
    table = honest.folder / f"data/split/{RUNS[1]}.parquet"
    run = Run.parse(RUNS[0])
    assert "split" in trainings.faults(honest.folder / TRAINED, table, run, honest.folder)
    shutil.copy(honest.folder / TRAINED / "weights.safetensors", trained)
    (trained / "history.csv").write_text("epoch\n")
    assert "thinned" in faults(honest, trained)


def not_finite(trained: Path, *names: str) -> None:
    """Weights without a finite one, or with such tensors alone."""
    weights, config = store.read_tensors(trained / "weights.safetensors")
    weights |= {name: np.full_like(weights[name], np.nan) for name in names or weights}
    store.write_bytes(trained / "weights.safetensors", store.tensors_bytes(weights, config))


def test_a_run_diverged_where_all_its_weights_did_or_a_training_here_does(
    honest, trained, monkeypatch
):
    run = Run.parse(RUNS[0])
    assert trainings.divergence(trained, run)[0] == 0
    rewritten(trained, lambda h: last("loss", np.nan)(h.head(50)))
    not_finite(trained, "b_U")
    assert faults(honest, trained) == ""
    assert trainings.divergence(trained, run) == (50, True)  # as it is short enough to be tried:
    assert "other bytes from epoch 50 on" in begun(honest, trained)[0]
    strange(trained)
    assert "diverged at epoch 50, a training here does not" in begun(honest, trained)[0]
    monkeypatch.setattr(trainings, "DIVERGES", 40)
    assert trainings.divergence(trained, run) == (50, False)
    not_finite(trained)
    assert trainings.divergence(trained, run) == (50, True)


def strange(trained: Path) -> None:
    """Make the record one of a machine that is not this one."""
    old = store.read_json(trained / "environment.json")
    store.write_json(trained / "environment.json", old | {"vendor": "another", "threads": 3})


def test_a_history_that_is_not_that_of_the_first_epochs_is_named(honest, trained):
    rewritten(trained, lambda h: h.assign(loss=h["loss"].shift(-1).ffill()))  # of the epoch after
    assert "other bytes from epoch 1 " in begun(honest, trained)[0]
    strange(trained)
    assert "at epoch 1: loss " in begun(honest, trained)[0]


def test_the_yardstick_of_another_machine_is_not_the_file_under_test(honest, trained):
    strange(trained)
    rewritten(trained, lambda h: h.assign(loss=h["loss"] + np.float32(1e-6)))
    assert begun(honest, trained)[0] == ""
    rewritten(trained, lambda h: h.assign(train_accuracy=0.99))
    assert "at epoch 1: train_accuracy 0.99" in begun(honest, trained)[0]
    jumps = np.float32(10) * (np.arange(EPOCHS) % 2 == 0)  # a rate of change that excuses anything
    rewritten(trained, lambda h: h.assign(loss=(h["loss"] + jumps).astype(np.float32)))
    assert "at epoch 1: loss " in begun(honest, trained)[0]


def history(*losses: float) -> pd.DataFrame:
    columns = {name: np.full(len(losses), np.nan) for name in store.HISTORY.names}
    columns |= {"epoch": np.arange(1, len(losses) + 1), "loss": np.array(losses, np.float32)}
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("epoch", "by", "allowed"),
    [(1, 0.019, True), (20, 0.021, False), (21, 0.099, True), (40, 0.11, False),
     (40, np.nan, False), (1, 1, False), (40, 1, False)],
)  # fmt: skip
def test_histories_of_two_machines_may_be_apart_by_a_share_of_an_epoch(epoch, by, allowed):
    rate = 0.01
    losses = 5 - rate * np.arange(EPOCHS_AGAIN + trainings.AROUND)
    other = losses[:EPOCHS_AGAIN].copy()
    other[epoch - 1] += by * rate
    said = trainings.parting(history(*other), history(*losses))
    assert (said == "") == allowed
    assert allowed or said.startswith(f"at epoch {epoch}: ")


def test_a_history_moved_by_one_epoch_is_one_epoch_apart_at_every_epoch():
    losses = 5 * np.exp(-np.arange(100) / 40)
    found = trainings.apart(history(*losses[1:41]), history(*losses[:60]))
    np.testing.assert_allclose(found, 1, atol=0.15)
    shorter = history(*losses[: 40 + trainings.AROUND // 2])  # no later epoch counts
    assert (found == trainings.apart(history(*losses[1:41]), shorter)).all()
    assert not trainings.apart(history(3, np.nan), history(3, np.nan)).any()
    assert np.isinf(trainings.apart(history(3, np.nan), history(3, 2))[1])


def test_a_training_repeats_where_all_that_decides_its_bits_is_known_and_the_same():
    here = machine.describe(torch.device("cpu"))
    assert here.repeats(here.model_copy(update={"seconds": 5.0, "cores": 99}))
    for update in ({"vendor": None}, {"threads": 99}, {"mkl": "2025"}, {"instructions": ()}):
        other = here.model_copy(update=update)
        assert not here.repeats(other)
        assert other.repeats(other) == ("vendor" not in update)


def test_analyses_may_differ_where_the_machine_does():
    here = machine.describe(torch.device("cpu")).model_copy(
        update={"platform": "Linux x86_64", "instructions": ("avx2", "fma3")}
    )
    assert compare.reasons(here) == []
    old = here.model_copy(update={"instructions": ("avx",)})
    assert compare.reasons(old) == ["the processor lacks AVX2", "the processor lacks FMA3"]
    arm = here.model_copy(update={"platform": "Linux aarch64"})
    assert "Linux aarch64" in compare.reasons(arm)[0]


@pytest.mark.parametrize("path", ["../x", "/etc/x", "data/../../x"])
def test_a_path_that_leaves_the_project_is_refused(path, tmp_path):
    with pytest.raises(InputError, match="must lie inside the project"):
        Outs({"a": {"outs": [{"path": path, "md5": "1" * 32}]}})
    listing = json.dumps([{"md5": "f" * 32, "relpath": path}]).encode()
    md5 = hashlib.md5(listing).hexdigest() + shipped.DIR
    store.write_bytes(shipped.at(md5, tmp_path), listing)
    with pytest.raises(InputError, match="must lie inside the project"):
        shipped.parts(Out("report", "report", md5), [tmp_path])
    with pytest.raises(InputError, match="must be an md5"):
        shipped.at(path, tmp_path)


def test_outputs_are_found_at_above_and_below_a_path():
    outs = Outs({"a": {"outs": [{"path": "x/y", "md5": "1"}, {"path": "x/z/w", "md5": "2"}]}})
    found = {path: [x.path for x in outs.at(path)] for path in ("x", "x/y", "x/y/v", "x/z", "q")}
    assert found == {"x": ["x/y", "x/z/w"], "x/y": ["x/y"], "x/y/v": ["x/y"], "x/z": ["x/z/w"],
                     "q": []}  # fmt: skip


def png(colour: int, size: int = 20) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (size, size), (colour, 0, 0)).save(file, "PNG")
    return file.getvalue()


def parquet(**columns: object) -> bytes:
    return pd.DataFrame(columns).to_parquet()


W = np.ones((2, 2), np.float32)


@pytest.mark.parametrize(
    ("name", "one", "two", "said"),
    [
        ("a.json", b'{"x": 0.123456, "n": 6}', b'{"x": 0.123457, "n": 6}', ""),
        ("a.json", b'{"x": 0.123456, "n": 6}', b'{"x": 0.124456, "n": 6}', "0.124456, shipped"),
        ("a.json", b'{"x": 1.5}', b'{"y": 1.5}', "other words"),
        ("a.json", b'{"x": 1e-9}', b'{"x": 3e-9}', ""),
        ("a.csv", b"J3,96.4\n", b"J3,96.5\n", ""),
        ("a.csv", b"J3,96.4\n", b"J3,97.0\n", "97.0, shipped 96.4"),
        ("a.md", "| −3 | 1,000.0 |".encode(), "| −3 |  999.9 |".encode(), ""),
        ("a.png", png(100), png(101), ""),
        ("a.png", png(100), png(200), "another picture"),
        ("a.png", png(100), png(100, 21), "21 × 21 pixels"),
        ("a.png", png(100), b"nonsense", "not to be compared"),
        ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, 2.0001]), ""),
        ("a.parquet", parquet(x=[1.0, 2.0]), parquet(x=[1.0, 2.5]), "x differs in 1 of 2 values"),
        ("a.parquet", parquet(x=[1, 2]), parquet(x=[1, 3]), "x differs in 1 of 2 values"),
        ("a.parquet", parquet(x=[1, 2]), parquet(y=[1, 2]), "other columns"),
        ("a.parquet", parquet(x=[[1.0, 2.0]]), parquet(x=[[1.0, 2.5]]), "x differs in 1 of 2"),
        ("a.safetensors", save({"W": W}), save({"W": W * 1.0001}), ""),
        ("a.safetensors", save({"W": W}), save({"W": W * 1.1}), "W differs in 4 of 4 values"),
    ],
)
def test_files_of_another_kind_of_machine_are_alike_within_a_tolerance(name, one, two, said):
    found = compare.difference(one, two, name)
    assert found.startswith(said) if said else found == ""
