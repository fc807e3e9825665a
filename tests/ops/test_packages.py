"""Nothing is recorded with other packages than the locks name."""

import re
import shutil

import numpy
import pytest
from tiny import ROOT

from ops import packages
from strata.inputs import InputError


def test_a_package_of_another_version_is_named_before_anything_runs(tmp_path, monkeypatch):
    for name in ("pyproject.toml", *packages.LOCKS):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    packages.refuse()
    lock = tmp_path / "requirements.lock"
    other = lock.read_text().replace(f"\nnumpy=={numpy.__version__} ", "\nnumpy==1.0 ")
    lock.write_text(re.sub(r"(?m)^ruff==\S+", "ruff==1.0", other))  # decides no result
    with pytest.raises(InputError, match=rf"^numpy is {numpy.__version__}, not 1\.0, as the locks"):
        packages.refuse()
