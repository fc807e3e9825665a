"""Notebooks drawn in this process, from a run that has just been born."""

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
import numpy as np
import pytest
from IPython import display
from matplotlib.figure import Figure
from small import measured, split_of

from strata import notebook, params, store
from strata.architecture import architecture
from strata.measure import stored
from strata.plots import base
from strata.run import Run, Settings

ROOT = Path(__file__).parents[1]
PARAMS = params.load(ROOT / "params.yaml")
TRAIN = PARAMS.train.model_copy(update={"d_model": 12, "n_heads": 3, "d_mlp": 5, "epochs": 1})
TASKS = {"units": "units", "one": {"zeros": ["p1"]}, "pieces": "Z3 x C5 x chain2"}
RUNS = [Run(2, 1), Run(12, 1), Run(12, 1, "mlp")]
OF_TASKS = [Run(15, 1, "units"), Run(30, 1, "one"), Run(30, 1, "pieces")]


def code(template: Path) -> list[nbformat.NotebookNode]:
    return [c for c in nbformat.read(template, as_version=4).cells if c.cell_type == "code"]


def declared(template: Path) -> dict[str, object]:
    """The parameters of a template and their defaults."""
    scope: dict[str, object] = {}
    [cell] = [c for c in code(template) if "parameters" in c.metadata.get("tags", ())]
    exec(cell.source, scope)
    return {name: scope[name] for name in notebook.parameters(template)}


def paths(template: Path) -> set[str]:
    """The parameters that name an input file."""
    return {k for k, v in declared(template).items() if isinstance(v, str)} - {"run", "stem"}


def born(run: Run, path: Path) -> dict[str, np.ndarray]:
    """Random weights for the run, which are written there."""
    rng = np.random.default_rng([run.n, run.seed])
    own = {"task": TASKS[run.variant]} if run.variant in TASKS else {}
    settings = Settings(split=PARAMS.split, train=TRAIN).varied(run.variant, own)
    weights = {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in architecture(TRAIN).shapes(settings.task(run).order, TRAIN).items()
    }
    store.write_bytes(path, store.tensors_bytes(weights, settings.record(run)))
    return weights


def untrained(run: Run, folder: Path) -> dict[str, Path]:
    """A run that has just been born, with what the paper's stages make of it."""
    names = ("weights", "history", "metrics", "activations")
    made = {name: folder / name for name in names}
    weights = born(run, made["weights"])
    history = {name: np.array([0.5]) for name in store.HISTORY.names}
    history |= {"epoch": np.array([1], np.int32), "loss": np.array([5.0], np.float32)}
    store.write_history(made["history"], history)
    task = store.read_task(made["weights"], run)
    numbers = measured(run, weights, split_of(task), store.read_history(made["history"]), task)
    store.write_json(made["metrics"], numbers)
    stored.write_forward(made["activations"], weights, task)
    return made


def coarse(fig: Figure, stem: str) -> Path:
    """plots.save in a hurry."""
    fig.savefig(f"{stem}.png", dpi=40)
    return Path(f"{stem}.png")


def drawn(template: Path, given: Mapping[str, object], out: Path) -> Path:
    """The figure that the template draws with these parameters."""
    scope: dict[str, object] = {}
    for cell in code(template):
        exec(cell.source, scope)
        if "parameters" in cell.metadata.get("tags", ()):
            scope |= {**given} | {"stem": str(out / "x")}
    return out / "x.png"


def check(
    template: Path, given: Mapping[str, object], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The template draws one figure, and says what is seen in it."""
    monkeypatch.setattr(base, "save", coarse)
    said: list[str] = []
    monkeypatch.setattr(display, "Image", lambda path, *, retina, alt: said.append(alt))
    assert drawn(template, given, out).stat().st_size > 500
    assert len(said) == 1 and re.fullmatch(r"[A-Z0-9].{40,400}\.", said[0]), "what is seen"
    assert "nan" not in said[0] and not re.search(r"[$_{}]", said[0])
