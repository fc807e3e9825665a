"""Notebooks drawn in this process, from a run that has not been trained."""

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
import numpy as np
import pytest
from IPython import display
from matplotlib.figure import Figure
from small import ALL, measured, random_weights, split_of

from strata import notebook, store
from strata.measure import stored
from strata.plots import base
from strata.run import Run, Settings

TRAIN = ALL.train.model_copy(update={"d_model": 8, "n_heads": 2, "d_mlp": 12, "epochs": 1})
TASKS = {"one": {"zeros": ["p1"]}, "pieces": "Z3 x C5 x chain2"}
RUNS = [Run(2, 1), Run(12, 1)]
OF_TASKS = [Run(30, 1, "one"), Run(30, 1, "pieces")]


def code(template: Path) -> list[nbformat.NotebookNode]:
    return [c for c in nbformat.read(template, as_version=4).cells if c.cell_type == "code"]


def declared(template: Path) -> dict[str, object]:
    """Return the parameters of a template with their defaults."""
    scope: dict[str, object] = {}
    [cell] = [c for c in code(template) if "parameters" in c.metadata.get("tags", ())]
    exec(cell.source, scope)
    return {name: scope[name] for name in notebook.parameters(template)}


def paths(template: Path) -> set[str]:
    """Return the parameters that name an input file."""
    return {k for k, v in declared(template).items() if isinstance(v, str)} - {"run", "stem"}


def born(run: Run, path: Path) -> dict[str, np.ndarray]:
    """Write random weights for the run to a path, and return them."""
    fields = {"task": TASKS[run.variant]} if run.variant in TASKS else {}
    settings = Settings(split=ALL.split, train=TRAIN).varied(run.variant, fields)
    weights = random_weights(settings.task(run).order, seed=run.seed)
    store.write_bytes(path, store.tensors_bytes(weights, settings.record(run)))
    return weights


def untrained(run: Run, folder: Path) -> dict[str, Path]:
    """Write a run that has not been trained, with what the paper's stages make of it. Return the
    path of each file."""
    names = ("weights", "history", "metrics", "activations")
    outputs = {name: folder / name for name in names}
    weights = born(run, outputs["weights"])
    history = {name: np.array([0.5]) for name in store.HISTORY.names}
    history |= {"epoch": np.array([1], np.int32), "loss": np.array([5.0], np.float32)}
    store.write_history(outputs["history"], history)
    task = store.read_task(outputs["weights"], run)
    numbers = measured(run, weights, split_of(task), store.read_history(outputs["history"]), task)
    store.write_json(outputs["metrics"], numbers)
    stored.write_forward(outputs["activations"], weights, task)
    return outputs


def coarse(fig: Figure, stem: str) -> Path:
    """Save a figure like plots.save, at a low resolution that takes little time."""
    fig.savefig(f"{stem}.png", dpi=40)
    return Path(f"{stem}.png")


def drawn(template: Path, parameters: Mapping[str, object], out: Path) -> Path:
    """Draw the figure of a template with these parameters, and return its path."""
    scope: dict[str, object] = {}
    for cell in code(template):
        exec(cell.source, scope)
        if "parameters" in cell.metadata.get("tags", ()):
            scope |= {**parameters} | {"stem": str(out / "x")}
    return out / "x.png"


def check(
    template: Path, parameters: Mapping[str, object], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the template draws one figure, and describes it in a sentence."""
    monkeypatch.setattr(base, "save", coarse)
    alts: list[str] = []
    monkeypatch.setattr(display, "Image", lambda path, *, retina, alt: alts.append(alt))
    assert drawn(template, parameters, out).stat().st_size > 500
    assert len(alts) == 1 and re.fullmatch(r"[A-Z0-9].{40,400}\.", alts[0]), "what is seen"
    assert "nan" not in alts[0] and not re.search(r"[$_{}]", alts[0])
