"""A script run by forks does what it does alone, and each run by itself."""

from ops import forks

SCRIPT = """\
import json, os, statistics, sys
from pathlib import Path

before = hasattr(statistics, "seen")
statistics.seen = True
out, fault = sys.argv[1:]
print(out)
if fault:
    raise ValueError(fault)
if __name__ == "__main__":
    Path(out).write_text(json.dumps([sys.argv[1:], os.environ["MINE"], before]))
"""


def test_runs_by_forks_share_imports_variables_and_nothing_else(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    words = ("env", "MINE=a b", "python", "script.py")
    assert forks.run_in_fork((*words, "one", ""), "statistics nowhere", tmp_path) == (0, "")
    code, errors = forks.run_in_fork((*words, "two", "of its own"), "statistics nowhere", tmp_path)
    assert code == 1 and errors.endswith("ValueError: of its own\n")
    assert forks.run_in_fork((*words, "three", ""), "statistics nowhere", tmp_path) == (0, "")
    assert (tmp_path / "one").read_text() == '[["one", ""], "a b", false]'
    assert (tmp_path / "three").read_text() == '[["three", ""], "a b", false]'
    assert not (tmp_path / "two").exists()
