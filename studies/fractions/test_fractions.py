"""What is said of the fraction of pairs trained on, from runs in which it is planted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_runs import CHOICE, studied

from strata import params
from strata.run import Run
from strata.tables import format
from studies.fractions.code import fractions
from studies.seeds.code.beside_seeds import Studied

ROOT = Path(__file__).parents[2]
EPOCHS = {0.2: 9000, 0.3: 7000, 0.4: 5000, 0.5: 4000}
FAILED = {"epoch": None, "validation": 0.5}
Planted = Callable[[float, int], dict[str, Any]]


def runs(planted: Planted) -> list[Studied]:
    """The eight runs; a later epoch for the smaller fraction, unless that is planted."""
    return [
        studied((143, s, "transformer"), **{"variant": v, "epoch": EPOCHS[x] + s} | planted(x, s))
        for x, v in fractions.VARIANTS.items()
        for s in fractions.SEEDS
    ]


def said(own: list[Studied]) -> list[tuple[int, str, str]]:
    """Of the epoch and of mixing: over how many runs, what was counted, what is said."""
    frame = fractions.tables(own, CHOICE)[1].frame.astype(object).fillna("")
    return [(x["runs"], x["counted"], x["said"]) for x in frame.to_dict("records")]


def test_a_step_up_in_one_seed_or_none_is_no_way_down():
    down, _ = said(runs(lambda x, s: {}))
    assert down == (8, "down at 6 of 6 steps", "goes down with the fraction")
    for epoch in (5002, 6000):  # that of the step before, or a later one
        up, _ = said(runs(lambda x, s, at=epoch: {"epoch": at} if (x, s) == (0.5, 2) else {}))
        assert up == (8, "down at 5 of 6 steps", "does not go down at every step")


@pytest.mark.parametrize(
    ("mixing", "words"),
    [({(0.2, 1), (0.2, 2), (0.3, 1)}, "depends on data"),
     ({(0.5, 1), (0.5, 2), (0.4, 1), (0.3, 2), (0.2, 2)}, "not said to depend on data"),
     ({(0.2, 1), (0.3, 2)}, "not said to depend on data"),
     (set(), "not said to depend on data")],
)  # fmt: skip
def test_mixing_depends_on_data_if_both_seeds_mix_at_one_fraction_and_neither_at_another(
    mixing, words
):
    _, found = said(runs(lambda x, s: {"mixes": (x, s) in mixing}))
    counts = [f"{x}: {sum((x, s) in mixing for s in (1, 2))} of 2" for x in EPOCHS]
    assert found == (8, ", ".join(counts), words)


def test_a_run_that_does_not_generalise_is_later_and_in_no_count_of_mixing():
    own = runs(lambda x, s: FAILED if (x, s) == (0.2, 1) else {"mixes": x == 0.2})
    down, mixing = said(own)
    assert down == (8, "down at 6 of 6 steps", "goes down with the fraction")
    counted = "0.2: 1 of 1, 0.3: 0 of 2, 0.4: 0 of 2, 0.5: 0 of 2"
    assert mixing == (7, counted, "not said to depend on data")
    none, _ = said(runs(lambda x, s: FAILED if s == 1 and x < 0.4 else {}))
    assert none == (8, "down at 5 of 6 steps", "does not go down at every step")


def test_while_a_run_is_missing_nothing_is_said_and_its_row_says_so(tmp_path):
    own = runs(lambda x, s: FAILED if (x, s) == (0.2, 1) else {})[:-1]
    others = studied((143, 3, "transformer"), variant="half"), studied((143, 2, "mlp"))
    words = "not called: 7 of 8 runs"
    assert said([*own, *others]) == [(7, "", words), (6, "", words)] == said(own)
    format.write([*fractions.tables(own, CHOICE), *fractions.tables([], CHOICE)[1:]], tmp_path)
    lines = (tmp_path / "fractions.md").read_text().splitlines()
    assert "never" in lines[4] and "not trained" not in lines[4]
    assert "not trained" in lines[-1] and "never" not in lines[-1]
    texts = [path.read_text() for path in tmp_path.iterdir()]
    assert len(texts) == 6 and not any("nan" in x.lower() for x in texts)
    assert "not called: 0 of 8 runs" in (tmp_path / "fractions-said.md").read_text()


def test_variants_train_on_the_fraction_that_stands_beside_them():
    found = params.load(ROOT / "params.yaml")
    base = found.settings(Run(143, 1))
    for fraction, variant in fractions.VARIANTS.items():
        split = base.split.model_copy(update={"train_fraction": fraction})
        assert found.settings(Run(143, 1, variant)) == base.model_copy(update={"split": split})
