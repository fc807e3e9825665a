"""What a clone brings: every object that dvc.lock names, and pages that show what stages wrote."""

import hashlib
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from markupsafe import escape

from ops import files, provenance
from report.code import page as report
from strata import params, store, task
from strata.run import Run, read_yaml
from strata.train import snapshots

ROOT = Path(__file__).parents[2]
STAGES, LOCK = files.stages(ROOT), files.locked(ROOT)


# What no cache and no remote keeps: dvc.yaml says `cache: false`.
UNCACHED = ("data/forward/", "summary.json")
OUTS = {out["path"]: out["md5"] for stage in LOCK.values() for out in stage["outs"]}
SHIPPED = {path: md5 for path, md5 in OUTS.items() if not path.startswith(UNCACHED)}


def shipped(md5: str) -> Path:
    return ROOT / "remote" / "files" / "md5" / md5[:2] / md5[2:]


def test_what_is_not_shipped_is_what_dvc_yaml_keeps_out_of_the_cache():
    outs = [x for s in STAGES.values() for x in (*s.get("outs", ()), *s.get("metrics", ()))]
    marked = {path for out in outs if isinstance(out, dict) for path in out}
    assert all(
        out[path] == {"cache": False} for out in outs if isinstance(out, dict) for path in out
    )
    assert len(marked) == len(UNCACHED)
    assert all(path.startswith(UNCACHED) for path in marked)


@pytest.mark.parametrize("path", sorted(SHIPPED))
def test_every_object_of_the_lock_is_in_the_remote_with_its_md5(path):
    content = shipped(SHIPPED[path]).read_bytes()
    md5, folder = SHIPPED[path].removesuffix(".dir"), SHIPPED[path].endswith(".dir")
    assert hashlib.md5(content).hexdigest() == md5
    for inside in json.loads(content) if folder else ():
        assert hashlib.md5(shipped(inside["md5"]).read_bytes()).hexdigest() == inside["md5"]


def test_the_lock_is_that_of_the_pipeline():
    assert {name.split("@")[0] for name in LOCK} == set(STAGES)


def test_snapshots_go_by_the_lock_that_records_trainings():
    stages = read_yaml(ROOT / snapshots.LOCK)["stages"]
    assert {name for name in LOCK if name.startswith("train@")} <= set(stages)


def test_the_report_quotes_dvc_yaml_as_it_is():
    appendix = json.loads(shipped(SHIPPED["report/appendix"]).read_bytes())
    page = "".join(shipped(file["md5"]).read_text("utf-8") for file in appendix)
    found = provenance.stages(STAGES, files.variables(ROOT))
    makers = {
        k for k, stage in found.items() if any(x.startswith(report.SHOWN) for x in stage.outs)
    }
    for name in makers:
        assert f"<code>{escape(found[name].command)}</code>" in page
        assert f"<code>dvc repro {files.address(name, ROOT)}</code>" in page


def test_the_pages_show_the_tables_and_figures_that_stages_wrote():
    done = subprocess.run(
        [sys.executable, "ops/scripts/readme.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    figures = sorted((ROOT / "docs").glob("*.png"))
    assert figures
    for copy in figures:
        assert copy.read_bytes() == shipped(SHIPPED[f"figures/{copy.name}"]).read_bytes()


def test_a_table_without_an_end_takes_no_prose_with_it():
    block = runpy.run_path(str(ROOT / "ops/scripts/readme.py"))["BLOCK"]
    page = "<!-- a.md -->\nx\nprose\n<!-- b.md -->\ny\n<!-- end -->\n"
    assert [found[2] for found in block.finditer(page)] == ["b.md"]


def test_a_page_takes_columns_of_a_table_by_their_headings():
    chosen = runpy.run_path(str(ROOT / "ops/scripts/readme.py"))["chosen"]
    table = "All.\n\n| n | a, b | c |\n|--:|:--|:--|\n| 4 | x y | 1.0 |"
    assert chosen(table, ["c", "a, b"]) == "All.\n\n| c | a, b |\n|:--|:--|\n| 1.0 | x y |"
    with pytest.raises(SystemExit, match="no column 'a': it has n, a, b, c"):
        chosen(table, ["a"])


def test_the_shipped_run_multiplies_without_a_mistake():
    metrics = json.loads(shipped(SHIPPED["data/metrics/n165-s1.json"]).read_bytes())
    assert (metrics["n"], metrics["seed"], metrics["epochs"]) == (165, 1, 25000)
    assert metrics["accuracy"]["all"] == 1


RUNS = sorted(name.partition("@")[2] for name in LOCK if name.startswith("train@"))


@pytest.mark.parametrize("name", RUNS)
def test_every_run_is_the_one_that_its_path_names(name):
    run = Run.parse(name)
    shares = params.load(ROOT / "params.yaml").settings(run).split
    store.read_weights(shipped(SHIPPED[f"data/train/{name}/weights.safetensors"]), run)
    found = store.read_table(shipped(SHIPPED[f"data/split/{name}.parquet"]), store.SPLIT, ["split"])
    dealt = task.split(run.n, run.seed, shares.train_fraction, shares.validation_fraction)
    assert (found["split"] == dealt).all()
    metrics = json.loads(shipped(SHIPPED[f"data/metrics/{name}.json"]).read_bytes())
    assert metrics["run"] == name


def test_no_two_runs_have_the_same_weights():
    assert len({SHIPPED[f"data/train/{name}/weights.safetensors"] for name in RUNS}) == len(RUNS)
