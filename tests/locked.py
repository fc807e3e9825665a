"""A repository of three tiny runs, whose locks and remote fit whatever lies in it."""

import shutil
import subprocess
import sys
from pathlib import Path

import tiny
from ruamel.yaml import YAML

from ops import copied, files
from strata import store
from strata.params import load
from strata.run import Run, read_yaml

ROOT = Path(__file__).parents[1]
EPOCHS = 60
RUNS = ["n6-s1", "n6-s2", "n6-s3"]
# split → train → measure → collect → table; in studies interventions, dynamics. The measures are a
# sum, the table a copy; splits and trainings are real.
PIPELINES = """\
dvc.yaml:
  stages:
    collect:
      cmd: python sum.py data/collected.json data/metrics/*
      deps: [data/metrics, sum.py]
      outs: [data/collected.json]
    tables:
      cmd: python sum.py tables/sums.md data/collected.json
      deps: [data/collected.json]
      outs: [tables]
runs/dvc.yaml:
  vars: [../stages/exact.yaml, {runs: &runs [n6-s1, n6-s2, n6-s3]}]
  stages:
    split:
      wdir: ..
      matrix: {run: *runs}
      cmd: ${run} stages/split.py ${item.run} config/split.json data/split/${item.run}.parquet
      deps: [config/split.json]
      outs: ["data/split/${item.run}.parquet"]
    train:
      wdir: ..
      matrix: {run: *runs}
      cmd: >-
        ${run} stages/train.py ${item.run} config/train.json data/split/${item.run}.parquet
        data/train/${item.run}
      deps: [config/train.json, "data/split/${item.run}.parquet"]
      outs:
        - data/train/${item.run}/weights.safetensors
        - data/train/${item.run}/history.parquet
        - data/train/${item.run}/history.csv
        - data/train/${item.run}/environment.json
    metrics:
      wdir: ..
      matrix: {run: *runs}
      cmd: python sum.py data/metrics/${item.run}.json data/train/${item.run}/weights.safetensors
      params: [n]
      deps: ["data/train/${item.run}/weights.safetensors", sum.py]
      outs: ["data/metrics/${item.run}.json"]
studies/dvc.yaml:
  vars: [../stages/exact.yaml]
  stages:
    figure:
      cmd: cd .. && python sum.py studies/figures/figure.png data/collected.json
      deps: [../data/collected.json]
      outs: [figures]
studies/interventions/dvc.yaml:
  stages:
    interventions:
      foreach: [n6-s1, n6-s2, n6-s3]
      do:
        cmd: >-
          cd ../.. && python sum.py studies/interventions/${item}.json
          data/train/${item}/weights.safetensors
        deps: ["../../data/train/${item}/weights.safetensors"]
        outs: ["${item}.json"]
report/dvc.yaml:
  stages:
    runs:
      cmd: cd .. && python sum.py report/runs.json data/collected.json
      deps: [../data/collected.json]
      outs: [runs.json]
    front:
      cmd: cd .. && python sum.py report/front.json report/runs.json
      deps: [runs.json]
      outs: [front.json: {cache: false}]
studies/dynamics/dvc.yaml:
  stages:
    dynamics:
      matrix: {run: [n6-s1]}
      frozen: true
      cmd: cd ../.. && python sum.py studies/dynamics/${item.run}.md data/collected.json
      deps: [../../data/collected.json]
      outs: ["${item.run}.md"]
"""
SUM = """\
import hashlib, pathlib, sys
out, *paths = map(pathlib.Path, sys.argv[1:])
out.parent.mkdir(parents=True, exist_ok=True)
out.write_text(" ".join(hashlib.md5(x.read_bytes()).hexdigest() for x in sorted(paths)) + "\\n")
"""
PAGE, PICTURE, FIGURE = "docs/page.md", "docs/figure.png", "studies/figures/figure.png"
FROZEN_PAGE = "docs/frozen.md"  # shows what a frozen stage wrote
COPIED = ("src", "ops", "stages", "paper", "pyproject.toml")
COPIED += ("requirements.lock", "requirements-cpu.lock")


class Project(tiny.Project):
    """A repository of three tiny runs."""

    @classmethod
    def copy(cls, base: Path, folder: Path) -> "Project":
        """Copy the project, for a test that changes it. In the base it is made once for all."""
        original = tiny.once(base / "locked", lambda top: cls(top).begin())
        shutil.copytree(original, folder / "project", symlinks=True)
        return cls(folder / "project")

    def begin(self) -> None:
        """Copy the code and settings that the stages need, and run every stage."""
        self.folder.mkdir()
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, self.folder / name)
        params = read_yaml(ROOT / "params.yaml")
        params["train"] |= {"d_model": 16, "d_mlp": 32, "epochs": EPOCHS, "validate_every": 20}
        YAML().dump(params | {"n": 6}, self.folder / "params.yaml")
        settings = load(self.folder / "params.yaml").settings(Run.parse(RUNS[0]))
        store.write_json(self.folder / "config/train.json", settings.model_dump())
        store.write_json(self.folder / "config/split.json", settings.split.model_dump())
        store.write_text(self.folder / "data/code/train.txt", "")  # a snapshot's key is made of it
        (self.folder / "sum.py").write_text(SUM)
        (self.folder / ".dvcignore").write_text("__pycache__/\n")
        (self.folder / ".gitignore").write_text(
            "__pycache__/\nremote/\n/data/\n/tables/\n*.json\n!/config/*\n!/paper/**\n/studies/figures/\n"
            "/studies/dynamics/*.md\n"
        )
        self.run("git", "init", "--quiet")
        tiny.add(self, YAML(typ="safe").load(PIPELINES))
        self.do(*tiny.PACKS)  # which names the remotes
        stages = copied.resolve_stages(self.folder, ("", *files.PROJECTS))
        for name in sorted(stages, key=lambda x: not x.startswith(files.RUNS)):
            stage = stages[name]
            done = subprocess.run(
                stage.cmd, shell=True, cwd=self.folder / stage.at, env=self.environment
            )
            assert done.returncode == 0
        self.lock()
        image = f"![a figure]({Path(PICTURE).name})\n"
        store.write_text(self.folder / PAGE, f"{image}\n<!-- tables/sums.md -->\n<!-- end -->\n")
        table = f"studies/dynamics/{RUNS[0]}.md"
        store.write_text(self.folder / FROZEN_PAGE, f"<!-- {table} -->\n<!-- end -->\n")
        self.run("git", "add", "--all")
        self.run(sys.executable, "-m", "ops.readme")
        self.run("git", "add", "--all")

    def lock(self) -> None:
        """Write locks and remotes that fit the files as they are, and add everything to git."""
        for name in ("", *files.PROJECTS):
            self.dvc("commit", "--force", "--quiet", project=name)
            self.dvc("push", "--quiet", project=name)
        self.do("git", "add", "--all")
