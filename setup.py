"""All else is in pyproject.toml. Without this a wheel has what earlier builds left, too, and lacks
what analyses need of a clone: levels, and the study that measures the mechanism."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ANALYSES = "params.yaml", "studies/params.py", "studies/params.yaml", "studies/mechanism/code/*.py"


class Build(build_py):
    """Build the package with these files in its folder ``clone``."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        for path in (x for pattern in ANALYSES for x in Path().glob(pattern)):
            target = Path(self.build_lib, "strata", "clone", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


shutil.rmtree("build/lib", ignore_errors=True)
setup(cmdclass={"build_py": Build})
