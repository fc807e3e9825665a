"""What a clone brings: the objects that the locks name and no other, and pages that show them."""

import csv
import hashlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shipped import ROOT, STORES

from ops import files, packs
from ops.shipped import DIR, Outs, parts, place
from ops.trainings import deal_pairs
from strata import params, store
from strata.run import Run
from strata.train import snapshots

STAGES = {k: v for k, v in files.stages(ROOT).items() if files.project(k) != "report"}
LOCK = {k: v for k, v in files.locked_stages(ROOT).items() if files.project(k) != "report"}
# What no cache and no remote keeps.
UNCACHED = ("data/forward/", "summary.json")
# Of the report the list of runs, which strata.runs() reads, what README counts, the tutorials.
OF_REPORT = "report/data/runs.json", "report/data/verdicts.md", "report/html/tutorials/"
SHIPPED = {
    out.path: out
    for out in Outs(files.locked_stages(ROOT))
    if out.path.startswith(OF_REPORT) or (out.stage in LOCK and not out.path.startswith(UNCACHED))
}


def object_of(path: str) -> Path:
    return place(SHIPPED[path].md5, STORES)


def test_what_is_not_shipped_is_what_the_pipelines_keep_out_of_the_cache():
    outs = [x for s in STAGES.values() for x in (*s["outs"], *s["metrics"]) if isinstance(x, dict)]
    assert all(options == {"cache": False} for out in outs for options in out.values())
    paths = [path for out in outs for path in out]
    assert len(paths) == len(UNCACHED) and all(path.startswith(UNCACHED) for path in paths)


@pytest.mark.parametrize("project", ["", *files.PROJECTS])
def test_the_packs_have_the_objects_that_the_locks_name_and_no_other(project):
    stored = {
        f"{hashlib.md5(data).hexdigest()}{DIR if path.endswith(DIR) else ''}"
        for name in packs.packs(project, ROOT)
        for path, data in packs.inside((ROOT / name).read_bytes(), name)
    }
    outs = [out for path, out in SHIPPED.items() if files.project(path) == project]
    assert stored == {x.md5 for out in outs for x in (out, *parts(out, STORES))}


def test_the_locks_are_those_of_the_pipelines():
    imported = {"studies/dvc.yaml:import"}  # locked where a run from elsewhere is listed
    assert {name.split("@")[0] for name in LOCK} | imported == set(STAGES)


def test_snapshots_go_by_the_locks_that_record_trainings():
    assert {str(path) for path in snapshots.LOCKS} == {
        files.lock(name.partition(":")[0] if ":" in name else "dvc.yaml")
        for name in STAGES
        if files.kind(name) == "train"
    }


# Where the files of each run are, by its name.
RUNS = {
    name.partition("@")[2]: f"{files.project(name)}/data".lstrip("/")
    for name in LOCK
    if files.kind(name) == "train"
}


def test_every_run_is_the_one_that_its_path_names():
    parameters = params.load(ROOT / "params.yaml")
    for name, data in RUNS.items():
        run = Run.parse(name)
        settings = parameters.settings(run)
        store.read_weights(object_of(f"{data}/train/{name}/weights.safetensors"), run)
        split = store.read_split(object_of(f"{data}/split/{name}.parquet"), settings.task(run))
        assert (split["split"] == deal_pairs(run, settings.split)).all(), name


def test_no_two_runs_have_the_same_weights():
    weights = [f"{data}/train/{name}/weights.safetensors" for name, data in RUNS.items()]
    assert len({SHIPPED[path].md5 for path in weights}) == len(RUNS) > 80


@pytest.mark.slow
def test_a_clone_that_has_pulled_is_up_to_date(tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True)
    subprocess.run([sys.executable, "-m", "ops.packs"], cwd=clone, check=True)
    for project in ("", "studies"):
        dvc = [sys.executable, "-m", "dvc", "--cd", clone / project]
        subprocess.run([*dvc, "pull", "--quiet"], check=True)
        status = subprocess.run([*dvc, "status"], capture_output=True, text=True, check=True).stdout
        changed = [line for line in status.splitlines() if line.endswith(":") and line[0] != "\t"]
        # What no cache keeps, and what is drawn from it.
        assert {*changed} <= {"forward:", "metrics-figures:", "interventions/dvc.yaml:logits:"}


def test_a_csv_is_read_alike_by_every_program():
    # It is UTF-8 without a mark, and has no cell that a spreadsheet program takes for a formula.
    for path in (path for path in SHIPPED if path.endswith(".csv")):
        text = object_of(path).read_bytes().decode("utf-8")
        assert not re.search("[\r\ufeff]", text), path
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert [x for x in cells if re.match(r"[=+@\t].|-(?![\d.]|inf$|$)", x)] == [], path
