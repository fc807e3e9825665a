"""Input: what is valid comes back typed and frozen, a fault gets one line with what is allowed."""

import re
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError
from small import PRINTED, ROOT

from strata import params
from strata.inputs import InputError
from strata.run import Run, SplitParams, TrainParams, command, section

VALID = (ROOT / "params.yaml").read_text(encoding="utf-8")


def with_value(key: str, value: str) -> str:
    """Return params.yaml with the first line of that key changed."""
    text, count = re.subn(rf"(?m)^( *){key}: .*$", rf"\g<1>{key}: {value}", VALID, count=1)
    assert count == 1
    return text


def line_of(path: Path, content: str | bytes) -> str:
    """Return the one line with which this content is refused; the line names the file."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=rf"\A{path}: .{{,900}}\Z") as fault:
        params.load(path)
    return str(fault.value)


def test_the_shipped_parameters_are_those_of_the_paper():
    shipped, printed = params.load(ROOT / "params.yaml"), PRINTED.training
    assert (shipped.n, shipped.seed) == (PRINTED.n, PRINTED.seed)
    fractions = (shipped.split.train_fraction, shipped.split.validation_fraction)
    assert fractions == (printed.train_fraction, printed.validation_fraction)
    beta1, beta2 = printed.betas
    assert shipped.train.model_dump() == {
        "architecture": "transformer", "d_model": printed.d_model, "n_heads": printed.heads,
        "d_mlp": printed.d_hidden, "epochs": printed.epochs, "lr": printed.learning_rate,
        "weight_decay": printed.weight_decay, "beta1": beta1, "beta2": beta2, "eps": 1e-8,
        "validate_every": printed.validate_every,
    }  # fmt: skip
    with pytest.raises(ValidationError, match="frozen"):
        shipped.train.lr = 1  # type: ignore[misc]
    assert section(ROOT / "params.yaml", "train", TrainParams) == shipped.train


# The line of params.yaml with that key as another line, and what is said of it.
FAULTS = [
    ("n", "n: 165.0", "n = 165.0: Input should be a valid integer"),
    ("n", "n: true", "n = True: Input should be a valid integer"),
    ("n", "n: 5000", "n = 5000: Input should be less than or equal to 4096"),
    ("n", "N: 165", "N = 165: Extra inputs are not permitted (and 1 more)"),
    ("seed", "seed: -1", "seed = -1: Input should be greater than or equal to 0"),
    ("train_fraction", "  train_fraction: 1", "split.train_fraction = 1"),
    ("validation_fraction", "  validation_fraction: .nan", "split.validation_fraction = nan"),
    ("train_fraction", "  train_fraction: 0.71",
     "split: train_fraction + validation_fraction = 0.71 + 0.3: must be at most 1"),
    ("lr", "  lr: fast", "train.lr = 'fast': Input should be a valid number"),
    ("epochs", "", "train.epochs: Field required"),
    ("d_model", "  d_model: 130", "train: d_model = 130: must be divisible by n_heads = 4"),
    ("aligned_cosine", "  aligned_cosine: 1.1", "metrics.aligned_cosine = 1.1"),
    ("head", "    head: 4", "figures.fig04_cosine_align.head: must be from 0 to 3"),
    ("moduli", "  moduli: [15, 15]", "grid.moduli: 15: must be named once"),
    ("moduli", "  moduli: []", "grid.moduli = []: List should have at least 1 item"),
    ("half", "  half: {width: 64}", "variants.half.width: unknown key, must be one of"),
    ("half", "  half: {d_model: wide}", "variants.half.d_model = 'wide'"),
    ("half", "  Half: {d_model: 64}", "variants: 'Half': must be of lower-case letters"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "line", "message"), FAULTS)
def test_a_fault_is_one_line_that_names_the_key_and_its_value(key, line, message, tmp_path):
    text, count = re.subn(rf"(?m)^ *{key}:.*\n", f"{line}\n", VALID, count=1)
    assert count == 1 and message in line_of(tmp_path / "p.yaml", text)


def test_a_run_of_no_variant_is_refused_with_those_that_there_are():
    shipped = params.load(ROOT / "params.yaml")
    with pytest.raises(InputError, match=f"must be one of {', '.join(shipped.variants)}$"):
        shipped.settings(Run(6, 1, "nosuch"))


def test_fractions_that_together_are_one_are_allowed(tmp_path):
    (tmp_path / "p.yaml").write_text(with_value("train_fraction", "0.7"), encoding="utf-8")
    split = section(tmp_path / "p.yaml", "split", SplitParams)
    assert split.train_fraction == 0.7


def test_a_variant_differs_in_the_values_that_it_names_alone():
    shipped = params.load(ROOT / "params.yaml")
    base, half = shipped.settings(Run(6, 1)), shipped.settings(Run(6, 1, "half"))
    assert half.train == base.train
    assert half.split == base.split.model_copy(update=shipped.variants["half"])


def test_a_variant_has_the_values_of_the_one_that_it_is_like_and_its_own():
    values = {"a": {"d_model": 64, "lr": 0.5}, "b": {"like": "a", "lr": 0.25}, "c": {"like": "b"}}
    changed = params.load(ROOT / "params.yaml").model_copy(update={"variants": values})
    b = changed.settings(Run(6, 1, "b")).train
    assert (b.d_model, b.lr) == (64, 0.25)
    with pytest.raises(InputError, match=r"variants.c.like = 'b': must be one of a$"):
        changed.settings(Run(6, 1, "c"))


def test_an_early_end_is_at_the_level_of_the_metrics_or_its_own():
    values = {"a": {"stop_after": 7}, "b": {"stop_after": 7, "stop_at": 0.5}, "c": {}}
    parameters = params.load(ROOT / "params.yaml").model_copy(update={"variants": values})
    a, b, c = (parameters.settings(Run(6, 1, name)) for name in "abc")
    assert (a.early.stop_after, a.early.stop_at) == (7, parameters.metrics.accuracy)
    assert b.early.stop_at == 0.5 and "early" in b.record(Run(6, 1))
    assert {*c.model_dump()} == {"split", "train"}  # as files of before


@pytest.mark.parametrize("key", ["n: 7\n", "train:\n  lr: 1.0\n"])
def test_a_duplicate_key_is_refused(key, tmp_path):
    assert "duplicate" in line_of(tmp_path / "p.yaml", VALID + key)


BROKEN = [
    "", "# nothing\n", "- 1\n- 2\n", "n: [1\n", "n: *nowhere\n", f"{VALID}---\nn: 3\n",
    f"{VALID}\0", b"\xff\xfe\x00", with_value("n", "!!python/object/apply:os.getpid []"),
]  # fmt: skip


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_valid_yaml_gets_one_line(content, tmp_path):
    line_of(tmp_path / "p.yaml", content)


@pytest.mark.parametrize(
    "run", [Run(165, 1), Run(2, 0), Run(113, 10, "mlp"), Run(4096, 2**63 - 1), Run(6, 1, "d64", 2)]
)
def test_a_name_and_its_run_are_one(run):
    assert Run.parse(str(run)) == run


def test_names_are_unique_and_sort_by_modulus():
    assert str(Run(165, 1, "mlp")) == "mlp-n165-s1"
    assert sorted([Run(165, 1), Run(13, 2), Run(13, 1)]) == [Run(13, 1), Run(13, 2), Run(165, 1)]


NAMES = [
    "", "x", "../x", "n165", "n165-s1/", "N165-s1", "n-s", "nabc-s1", "n1.5-s1", "n-5-s1", "n1-s1",
    "n5000-s1", "n0165-s1", "n165-s-1", "n165-s1-s2", "n165-s1-w1", "n165-w2", "n 165-s1",
    "n165-s1\n", "n165-s1;id", "n１６５-s1", f"n165-s{2**63}", "mlp-mlp-n165-s1", "MLP-n165-s1",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_no_run_gets_one_line(name):
    with pytest.raises(InputError, match=r"\Arun.*\Z"):
        Run.parse(name)


def test_a_file_that_cannot_be_written_ends_a_stage_with_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["stages/some.py"])
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "below"

    def overflow() -> None:
        with open("/dev/full", "wb", buffering=0) as full:
            full.write(b"x")

    for fault in (below.mkdir, overflow):
        with pytest.raises(SystemExit) as end:
            command(fault)
        line = str(end.value.code)
        assert re.fullmatch(r"some: (\S+: )?(Not a directory|No space left on device)", line)
        assert (str(below) in line) == (fault == below.mkdir)
