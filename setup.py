"""All else is in pyproject.toml. Without this a wheel has what earlier builds left, too."""

import shutil

from setuptools import setup

shutil.rmtree("build/lib", ignore_errors=True)
setup()
