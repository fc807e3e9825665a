"""Input: what is valid comes back typed and frozen, a fault gets one line with what is allowed."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from strata import params
from strata.architecture import architecture
from strata.run import (
    InputError,
    Run,
    SplitParams,
    TrainParams,
    command,
    read_yaml,
    section,
)

ROOT = Path(__file__).parents[2]
VALID = (ROOT / "params.yaml").read_text(encoding="utf-8")


def with_value(key: str, value: str) -> str:
    """params.yaml with the first line of that key changed."""
    text, count = re.subn(rf"(?m)^( *){key}: .*$", rf"\g<1>{key}: {value}", VALID, count=1)
    assert count == 1
    return text


def line_of(path: Path, content: str | bytes) -> str:
    """The one line with which this content is refused; it names the file."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as fault:
        params.load(path)
    line = str(fault.value)
    assert "\n" not in line
    assert len(line) < 1000
    assert line.startswith(f"{path}: ")
    return line


def test_the_shipped_parameters_are_those_of_the_paper():
    found = params.load(ROOT / "params.yaml")
    assert (found.n, found.seed) == (165, 1)
    assert (found.split.train_fraction, found.split.validation_fraction) == (0.3, 0.3)
    train = {
        "d_model": 128, "n_heads": 4, "d_mlp": 512, "epochs": 25000, "lr": 0.001,
        "weight_decay": 1.0, "beta1": 0.9, "beta2": 0.98, "eps": 1e-8, "validate_every": 100,
    }  # fmt: skip
    assert found.train.model_dump(exclude={"architecture"}) == train
    assert found.train.architecture == "transformer"
    with pytest.raises(ValidationError, match="frozen"):
        found.train.lr = 1  # type: ignore[misc]
    assert section(ROOT / "params.yaml", "train", TrainParams) == found.train


FAULTS = [
    *[("n", x, "integer") for x in ("1.5", "165.0", "abc", "null", "", "true", "'165'", "[1]")],
    *[("n", x, "2") for x in ("1", "0", "-5", "abc", "1.5")],
    ("n", "1000000000", "4096"),
    *[("seed", x, "0") for x in ("-1", "-99999999999999999999")],
    *[("seed", x, "integer") for x in ("1.0", "x")],
    ("seed", str(2**63), ""),
    *[("train_fraction", x, "0") for x in ("0", "-0.1")],
    *[("train_fraction", x, "1") for x in ("1", "1.5")],
    *[("validation_fraction", x, "") for x in (".nan", ".inf", "-.inf", "half", "true", "null")],
    *[("epochs", x, "1") for x in ("0", "-3")],
    *[("epochs", x, "integer") for x in ("2.5", "many")],
    *[(x, "0", "1") for x in ("n_heads", "d_mlp", "d_model", "validate_every", "shuffles")],
    *[("lr", x, "0") for x in ("0", "-1")],
    *[("lr", x, "") for x in (".nan", ".inf", "fast")],
    ("weight_decay", "-1.0", "0"),
    *[(x, y, z) for x in ("beta1", "beta2") for y, z in (("-0.1", "0"), ("1.0", "1"))],
    ("eps", "0", "0"),
    ("key_threshold", "0", "0"),
    ("aligned_cosine", "1.1", "1"),
    ("variance", "1.0", "1"),
    ("square_free_up_to", "0", "1"),
]


# What YAML makes of these, as Python shows it.
SHOWN = {"null": "None", "": "None", "true": "True", ".nan": "nan", ".inf": "inf", "-.inf": "-inf"}


@pytest.mark.parametrize(("key", "value", "allowed"), FAULTS)
def test_a_value_out_of_range_or_of_another_type_is_named_with_what_is_allowed(
    key, value, allowed, tmp_path
):
    line = line_of(tmp_path / "p.yaml", with_value(key, value))
    named, _, rest = line.removeprefix(f"{tmp_path / 'p.yaml'}: ").partition(": ")
    assert key in named
    assert (SHOWN.get(value) or value) in line
    assert allowed in rest


@pytest.mark.parametrize("value", ["0.71", "0.9"])
def test_fractions_that_together_exceed_one_are_refused_with_both_values(value, tmp_path):
    line = line_of(tmp_path / "p.yaml", with_value("train_fraction", value))
    for word in ("train_fraction", "validation_fraction", value, "0.3", "1"):
        assert word in line


def test_fractions_that_together_are_one_are_allowed(tmp_path):
    (tmp_path / "p.yaml").write_text(with_value("train_fraction", "0.7"), encoding="utf-8")
    found = section(tmp_path / "p.yaml", "split", SplitParams)
    assert found.train_fraction == 0.7


def test_a_width_that_the_heads_do_not_divide_is_refused_with_both_values(tmp_path):
    line = line_of(tmp_path / "p.yaml", with_value("d_model", "130"))
    for word in ("d_model = 130", "n_heads = 4", "divisible"):
        assert word in line


@pytest.mark.parametrize(
    ("section_name", "key", "value", "said"),
    [("fig04_cosine_align", "head", 4,
      "figures.fig04_cosine_align.head = 4: must be below n_heads = 4"),
     ("stability", "head", 4, "figures.stability.head = 4: must be below n_heads = 4"),
     ("stability", "head", -1, "figures.stability.head = -1: must be an integer of at least 0"),
     ("stability", "neurons", 0, "figures.stability.neurons = 0: must be an integer of at least 1"),
     ("stability", "draw_seed", -1, "figures.stability.draw_seed = -1: must be an integer from 0"),
     ("stability", "elevation", "up", "figures.stability.elevation = 'up': must be a number")],
)  # fmt: skip
def test_what_no_figure_can_show_is_refused(section_name, key, value, said, tmp_path):
    values = read_yaml(ROOT / "params.yaml")
    values["figures"][section_name][key] = value
    stream = io.StringIO()
    YAML().dump(values, stream)
    assert said in line_of(tmp_path / "p.yaml", stream.getvalue())


@pytest.mark.parametrize(
    ("variants", "said"),
    [("{d64: {width: 64}}", "variants.d64.width: unknown key, must be one of train_fraction, "),
     ("{d64: {d_model: wide}}", "variants.d64.d_model = 'wide': must be an integer of at least 1"),
     ("{d64: {d_model: 66}}", "variants.d64: d_model = 66: must be divisible by n_heads = 4"),
     ("{half: {train_fraction: 0.8}}", "variants.half: train_fraction + validation_fraction = 0.8"),
     ("{D64: {d_model: 64}}", "variants: 'D64': must be of lower-case letters and digits"),
     ("{d64: 64}", "variants.d64 = 64: must be a mapping of names to the values")],
)  # fmt: skip
def test_a_variant_that_no_run_can_have_is_refused(variants, said, tmp_path):
    text = re.sub(r"(?m)^variants:\n(^ .*\n)*", f"variants: {variants}\n", VALID)
    assert said in line_of(tmp_path / "p.yaml", text)


def test_a_run_of_no_variant_is_refused_with_those_that_there_are():
    found = params.load(ROOT / "params.yaml")
    known = ", ".join(found.variants)
    with pytest.raises(InputError, match=f"wide-n6-s1: variant = 'wide': must be one of {known}$"):
        found.settings(Run(6, 1, "wide"))
    none = found.model_copy(update={"variants": {}})
    with pytest.raises(InputError, match=r"must be one of none, as params\.yaml has no variants$"):
        none.settings(Run(6, 1, "wide"))


def test_a_variant_differs_in_the_values_that_it_names_alone():
    found = params.load(ROOT / "params.yaml")
    base, half = found.settings(Run(6, 1)), found.settings(Run(6, 1, "half"))
    assert half.train == base.train
    assert half.split == base.split.model_copy(update=found.variants["half"])


@pytest.mark.parametrize(
    ("section_name", "key", "misspelt"),
    [("train", "d_mlp", "d_mpl"), ("split", "train_fraction", "train_share"), ("", "n", "N"),
     ("", "seed", "sede"), ("metrics", "variance", "varianze"), ("", "split", "splt")],
)  # fmt: skip
def test_a_misspelt_key_is_named_with_the_keys_there_are(section_name, key, misspelt, tmp_path):
    text = re.sub(rf"(?m)^( *){key}:", rf"\g<1>{misspelt}:", VALID, count=1)
    line = line_of(tmp_path / "p.yaml", text)
    assert f"{section_name}.{misspelt}".strip(".") in line
    assert re.search(rf"\b{key}\b", line)


@pytest.mark.parametrize("key", ["foo", "epoch", '"two\\nlines"', "5", "null", "? [1, 2]\n"])
def test_an_unknown_key_is_refused(key, tmp_path):
    line_of(tmp_path / "p.yaml", f"{VALID}{key}: 1\n")
    line_of(tmp_path / "p.yaml", VALID.replace("  d_model: 128\n", f"  d_model: 128\n  {key}: 1\n"))


@pytest.mark.parametrize("key", ["n", "seed", "split", "train", "metrics", "tables"])
def test_a_missing_or_empty_section_is_named(key, tmp_path):
    path = tmp_path / "p.yaml"
    without = re.sub(rf"(?m)^{key}:.*\n(^ .*\n)*", "", VALID)
    for text in (without, f"{without}{key}:\n", f"{without}{key}: text\n"):
        assert key in line_of(path, text)
    path.write_text(without, encoding="utf-8")
    with pytest.raises(InputError, match=f"{key}: this section is missing"):
        section(path, key, TrainParams)


@pytest.mark.parametrize("key", ["lr", "d_model", "validate_every", "train_fraction", "shuffles"])
def test_a_missing_key_is_named(key, tmp_path):
    assert key in line_of(tmp_path / "p.yaml", re.sub(rf"(?m)^ *{key}:.*\n", "", VALID))


@pytest.mark.parametrize("key", ["n: 7\n", "train:\n  lr: 1.0\n"])
def test_a_duplicate_key_is_refused(key, tmp_path):
    assert "duplicate" in line_of(tmp_path / "p.yaml", VALID + key)


BROKEN = [
    "", "\n", "# nothing\n", "5", "- 1\n- 2\n", "text", "null",
    "n: [1\n", "n: 1\n\tseed: 2\n", "n: 1\n  seed: 2\n", "{", "n: *nowhere\n", "%TAG ! x\nn: 1\n",
    f"{VALID}---\nn: 3\n", f"{VALID}\0", VALID.encode() + b"# \xe9\n", b"\xff\xfe\x00",
    with_value("n", "2001-99-99"), with_value("n", "!!int abc"), with_value("n", "!!bool maybe"),
    with_value("n", "!!python/object/apply:os.getpid []"), with_value("n", "9" * 5000),
    "[" * 1000, f"{VALID}? {{a: 1}}\n: 2\n", f"{VALID}<<: 5\n", with_value("n", "&x [*x]"),
]  # fmt: skip


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_valid_yaml_gets_one_line(content, tmp_path):
    line_of(tmp_path / "p.yaml", content)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(InputError, match=f"^{re.escape(str(path))}: ") as fault:
            read_yaml(path)
        assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    "run", [Run(165, 1), Run(2, 0), Run(113, 10, "mlp"), Run(4096, 2**63 - 1), Run(6, 1, "d64", 2)]
)
def test_a_name_and_its_run_are_one(run):
    assert Run.parse(str(run)) == run


def test_names_are_unique_and_sort_by_modulus():
    assert str(Run(165, 1, "mlp")) == "mlp-n165-s1"
    assert sorted([Run(165, 1), Run(13, 2), Run(13, 1)]) == [Run(13, 1), Run(13, 2), Run(165, 1)]


NAMES = [
    "", "x", "../x", "n165", "n165-s1/../x", "../n165-s1", "n165-s1/", "N165-s1", "n165-S1",
    "n-s", "nabc-s1", "n1.5-s1", "nNone-s1", "nnull-s1", "n-5-s1", "n0-s1", "n1-s1", "n5000-s1",
    "n0165-s1", "n+165-s1", "n165-s01", "n165-s-1", "n165-s1.0", "n165-s", "n165-s1-s2", "n1_6-s1",
    "n165-s1-w", "n165-s1-w1", "n165-s1-w02", "n165-w2", "n165-s1-w2-w3", "n165-s1-w-1",
    "n 165-s1", "n165-s1 ", " n165-s1", "n165-s1\n", "n\n165-s1", "n１６５-s1", "n165-s²",
    f"n165-s{2**63}", "n165-s" + "9" * 400, "mlp-mlp-n165-s1", "MLP-n165-s1", "mlpn165-s1",
    "nTrue-s1", "n[165]-s1", "n165-s1;rm -rf x", "n0x10-s1", "n1e2-s1",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_no_run_gets_one_line(name):
    with pytest.raises(InputError) as fault:
        Run.parse(name)
    line = str(fault.value)
    assert "\n" not in line
    assert line.startswith("run")


@pytest.mark.parametrize("run", [Run(165, 1), Run(165, 1, "mlp")], ids=str)
def test_shapes_add_up_to_the_papers_parameter_counts(run):
    train = params.load(ROOT / "params.yaml").settings(run).train
    count = 0
    for shape in architecture(train).shapes(run.n, train).values():
        size = 1
        for length in shape:
            size *= length
        count += size
    d, h, n = 128, 512, 165
    head = h * d + d + d * n + n
    attention = 4 * (d * d + d)
    expected = n * d + 2 * d * h + h if run.variant == "mlp" else (n + 1) * d + attention
    expected += head if run.variant == "mlp" else d * h + h + head
    assert count == expected


def test_a_stage_ends_with_one_line_and_exit_code_one(tmp_path, monkeypatch):
    (tmp_path / "params.yaml").write_text(with_value("epochs", "0"), encoding="utf-8")
    check = [sys.executable, str(ROOT / "stages" / "check.py"), "data/config", "--runs"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("check: params.yaml: train.epochs = 0: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]
    monkeypatch.setattr(sys, "argv", ["stages/split.py", "../x"])
    with pytest.raises(SystemExit, match=r"^split: run = '../x': "):
        command(lambda: print(Run.parse(sys.argv[1])))


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
