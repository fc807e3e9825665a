"""The same network in the hands of TransformerLens, of both major versions, and of nnsight.

Each is another program's environment: Python executables that have it are named, with colons
between, by STRATA_LENS. `ops/scripts/lens FOLDER` makes them.
"""

import os
import subprocess
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from small import weights_of

from strata.api import lens
from strata.api.model import model_of
from strata.inputs import InputError
from strata.run import Run

PYTHONS = [x for x in os.environ.get("STRATA_LENS", "").split(":") if x]
SCRIPT = Path(__file__).parents[1] / "hooked.py"
PYTHONPATH = os.pathsep.join(str(SCRIPT.parents[1] / x) for x in ("", "tests", "src"))


def run_script(executable: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [executable, str(SCRIPT)], env=os.environ | {"PYTHONPATH": PYTHONPATH}, text=True,
        check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.parametrize("python", PYTHONS or [None])
def test_a_hooked_model_answers_as_ours_with_its_activations_in_reach(python):
    if python is None:
        pytest.skip("STRATA_LENS names no Python with TransformerLens")
    process = run_script(python)
    output = process.stdout
    assert process.returncode == 0 and output.splitlines()[-1].startswith("checked"), output


@pytest.mark.parametrize(
    ("installed", "line"),
    [
        (PackageNotFoundError(), r"TransformerLens is not installed; it must be 3\.9 or 4: pip"),
        ("5.0.0", r"TransformerLens 5\.0\.0: must be 3\.9 or 4"),
    ],
)
def test_a_transformerlens_that_is_not_there_or_another_is_said_in_one_line(
    installed, line, monkeypatch
):
    def version(name: str) -> str:
        if isinstance(installed, Exception):
            raise installed
        return installed

    monkeypatch.setattr(lens, "version", version)
    with pytest.raises(InputError, match=line):
        model_of(Run(6, 1), weights_of(Run(6, 1))).hooked()
