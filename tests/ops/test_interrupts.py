"""Ctrl-C ends a program of this repository in one line, and leaves others as Python has them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small import ROOT

# In place of a package that all programs import, where most of their first seconds go.
WAITS = "import time; print(flush=True); time.sleep(600)"


def interrupt(folder: Path, *words: str) -> tuple[int, str]:
    """Interrupt a program while it imports, and return its exit code and what it then printed."""
    (folder / "pydantic.py").write_text(WAITS)
    paths = os.pathsep.join(map(str, (folder, ROOT, ROOT / "src")))
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, env=os.environ | {"PYTHONPATH": paths},
        text=True, stdout=-1, stderr=-2,
        # It may be ignored where the tests run in background, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:  # fmt: skip
        assert process.stdout and process.stdout.readline() == "\n"
        process.send_signal(signal.SIGINT)
        return process.wait(), process.stdout.read()


@pytest.mark.parametrize(
    "words",
    [
        ["stages/train.py"],
        ["studies/mechanism/stages/clocks.py"],
        ["-m", "ops.plan"],
    ],
    ids=lambda words: words[-1],
)
def test_an_interrupted_program_ends_by_the_signal_with_one_line(words, tmp_path):
    code, output = interrupt(tmp_path, *words)
    assert code == -signal.SIGINT and output.count("\n") == 1


def test_an_interrupted_program_of_a_reader_says_where_it_was(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("import pydantic")
    code, output = interrupt(tmp_path, str(script))
    assert code == -signal.SIGINT and "Traceback" in output and str(script) in output
