"""Fit the formulas that can stand in the place of a network's parts: criteria-3.md, mechanism.

The study of the mechanism has them, in a clone or in what a wheel has of one.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from strata import store
from strata.api import clones
from strata.inputs import InputError
from strata.run import read_yaml
from strata.store import Arrays
from strata.task import Task, task_of

FORMULAS = Path("studies/mechanism/code/formula.py")


def parts(weights: Arrays, task: Task) -> Arrays:
    """Return what takes the place of the parts: scores (tokens, heads), preactivations (n, n,
    d_mlp), the constant stream (d_model,), W_out, and counts of the free numbers and of the weights
    that these replace. Raises InputError for a network of another task than (Z_n, ·), without
    attention, and where the study is not there."""
    if task is not task_of(task.order):
        raise InputError(f"by formula: the task must be multiplication modulo n, not {task}")
    top = clones.measures()
    if not (top / FORMULAS).is_file():
        raise InputError(f"by formula: {top} has no study of the mechanism")
    settings = read_yaml(top / "studies/params.yaml")["adding"]["measures"]
    with TemporaryDirectory() as scratch:
        paths = [str(Path(scratch, x)) for x in ("settings", "weights", "parts")]
        Path(paths[0]).write_text(json.dumps(settings))
        store.write_bytes(paths[1], store.tensors_bytes(weights, {}))
        clones.run_script(top, FORMULAS, *paths)
        return store.read_tensors(paths[2])[0]
