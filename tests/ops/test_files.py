"""Commands run at the top of the repository, in any locale."""

import os
import subprocess
from pathlib import Path

import pytest

from ops import files
from strata.run import InputError

ROOT = Path(__file__).parents[2]


def test_a_folder_below_the_top_is_refused_by_name(monkeypatch):
    monkeypatch.chdir(ROOT)
    files.at_top()
    monkeypatch.chdir(ROOT / "notebooks")
    with pytest.raises(InputError, match=f"^{ROOT / 'notebooks'} is not the top"):
        files.at_top()


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({}, "C.UTF-8"),
        ({"LC_ALL": "C"}, "C.UTF-8"),
        ({"LANG": "POSIX"}, "C.UTF-8"),
        ({"LC_ALL": "de_DE.UTF-8", "LANG": "C"}, "de_DE.UTF-8"),
        ({"LANG": "en_US.UTF-8"}, ""),
    ],
)
def test_make_reads_a_path_that_is_not_ascii_in_the_locale_without_characters(given, used):
    kept = {k: v for k, v in os.environ.items() if k not in {"LC_ALL", "LC_CTYPE", "LANG"}}
    told = subprocess.run(
        ["make", "--no-print-directory", "--eval", "told:; @echo $$LC_ALL", "told"],
        cwd=ROOT, env=kept | given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == used
