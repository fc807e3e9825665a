"""What packs, remotes and caches hold comes back whole, and no command of any project loses it."""

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tiny import DVC, MORE, PACKS, RUN, Project, add, cloned, commands, copied

from ops import files

TRAIN = f"{files.RUNS}:train@{RUN}"


@pytest.fixture
def clone(both, tmp_path) -> Project:
    """Return a fresh clone, in which nothing is unpacked."""
    return cloned(both, tmp_path / "clone")


def objects(project: Project) -> dict[str, bytes]:
    """Read the objects of all remotes, by their paths."""
    paths = project.folder.glob("**/remote/files/md5/*/*")
    return {str(x.relative_to(project.folder)): x.read_bytes() for x in paths}


def test_what_is_packed_is_unpacked_and_packed_again_with_the_same_bytes(both, clone):
    clone.do(*PACKS)
    assert objects(clone) == objects(both)
    before = {x: x.read_bytes() for x in clone.folder.glob("**/artifacts/*.tar.xz")}
    assert len(before) > 8
    for path in before:
        path.unlink()
    clone.do(*PACKS, "write")
    assert {x: x.read_bytes() for x in clone.folder.glob("**/artifacts/*.tar.xz")} == before
    assert clone.do("git", "status", "--porcelain") == ""
    plan = clone.do(sys.executable, "-m", "ops.plan")
    assert plan.splitlines()[-1] == "run at most 1 stage: forward"


def test_an_unpacking_that_was_killed_or_is_done_twice_at_once_is_whole_in_the_end(both, clone):
    for process in [clone.start(*PACKS) for _ in range(2)]:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
    assert objects(clone) == objects(both)
    for path in sorted(clone.folder.glob("**/remote/files/md5/*/*"))[::2]:  # as of one killed
        path.unlink()
    (clone.folder / "remote" / ".ab.part").write_bytes(b"half")
    clone.do(*PACKS)
    assert objects(clone) == objects(both)
    assert not [*clone.folder.glob("**/remote/.*.part")]


def test_a_damaged_pack_is_refused_by_name(clone):
    pack = clone.folder / f"runs/artifacts/{RUN}.tar.xz"
    content = bytearray(pack.read_bytes())
    content[len(content) // 2] ^= 1
    pack.write_bytes(content)
    process = clone.run(*PACKS)
    message = f"packs: runs/artifacts/{RUN}.tar.xz: is damaged ("
    assert process.returncode == 1 and len(process.stdout.splitlines()) == 1
    assert process.stdout.startswith(message) and "git checkout runs/artifacts" in process.stdout


def test_in_a_fresh_clone_pull_names_a_command_and_repro_makes_everything_and_trains_nothing(
    both, clone
):
    assert "remote 'make-paper-unpacks-it' doesn't exist" in clone.run(*DVC, "pull").stdout
    for project in ("", "studies"):
        ran = clone.dvc("repro", "--all-pipelines", project=project)
        assert "code" in ran and not [x for x in ran if files.kind(x) == "train"]
    assert clone.published() == both.published()
    clone.dvc("pull")


def test_a_clone_for_the_paper_alone_has_it_and_gets_the_rest_before_a_command_needs_it(
    both, tmp_path
):
    serve = ("-u", "git -c uploadpack.allowFilter=true upload-pack")
    options = ("--depth", "1", "--filter=blob:none", "--sparse", *serve)
    clone = cloned(both, tmp_path / "clone", *options)
    _, leave_out, _ = commands("operating.md", "paper")
    clone.do(*shlex.split(leave_out))
    checks, lacks = ("sh", "ops/scripts/here"), "git sparse-checkout disable fetches them"
    clone.do(*checks, "paper")
    assert not Path(clone.folder, "studies/artifacts").exists()
    ran = clone.dvc("repro", "--all-pipelines")
    assert not [x for x in ran if files.kind(x) == "train"]
    assert clone.published() == {k: v for k, v in both.published().items() if "studies" not in k}
    assert f"`dvc exp run` needs all files, and this clone lacks files: {lacks}" in clone.do(
        sys.executable, "-m", "ops.plan"
    )
    process = clone.run(*DVC, "--cd", "studies", "repro", f"train@{MORE}")
    assert process.returncode and f"{MORE}: is trained already; this clone" in process.stdout
    clone.do(*checks, "studies")
    clone.do(*PACKS)
    assert objects(clone) == objects(both)
    clone.dvc("exp", "run", "-S", "n=5", f"{files.RUNS}:split@n5-s1")


def test_a_model_that_is_kept_is_trained_again_only_where_that_is_asked_for(clone):
    stage, again = f"train@{MORE}", ("repro", "--force", "--single-item")
    for project, address, run in (("", TRAIN, RUN), ("studies", stage, MORE)):
        options = ("--cd", project) if project else ()
        assert address not in clone.dvc("repro", address, project=project)
        process = clone.run(*DVC, *options, *again, address)
        pull = " ".join(("dvc", *options, "pull"))
        assert process.returncode
        assert f"{run}: is trained already: {pull} brings it; GO=1 trains again" in process.stdout
    clone.environment["GO"] = "1"
    assert clone.dvc(*again, stage, project="studies") == {stage}


SCOPES = (("-w",), ("--rev", "HEAD", "-n", "3"))
PAGE = "html/page.md"  # what a report of one stage makes
REPORT = {"cmd": f"mkdir -p html && cp ../tables/claims.md {PAGE}", "outs": [PAGE]}
REPORT |= {"deps": ["../tables/claims.md"]}


def test_gc_loses_nothing_that_a_project_needs_and_no_run_of_ones_own(both, tmp_path):
    project, mine = copied(both, tmp_path), "data/split/n5-s1.parquet"
    add(project, {"report/dvc.yaml": {"stages": {"page": REPORT}}})
    project.dvc("repro", project="report")
    project.do(*PACKS, "write")
    project.commit("report")
    page, projects = project.folder / "report" / PAGE, ("", "studies", "report")
    project.dvc("exp", "run", "-S", "n=5", f"{files.RUNS}:split@n5-s1")
    content, before = (project.folder / mine).read_bytes(), objects(project)
    for project_name in projects:
        for scope in SCOPES:
            project.dvc("gc", "--force", "--quiet", "-c", *scope, project=project_name)
    (project.folder / mine).unlink()
    project.dvc("checkout", "--quiet", mine)
    assert (project.folder / mine).read_bytes() == content
    project.do(sys.executable, "-m", "ops.back")
    project.do(*PACKS)
    for name in ("data", "figures", "tables", "studies/data", "report/html"):
        shutil.rmtree(project.folder / name, ignore_errors=True)
    assert objects(project) == before
    for project_name in projects:
        shutil.rmtree(project.folder / project_name / ".dvc" / "cache")
    for project_name in projects:
        project.dvc("pull", "--quiet", project=project_name)  # what was published, of the packs
    assert page.read_bytes() == (project.folder / "tables" / "claims.md").read_bytes()
    assert both.published().items() <= project.outputs().items()


def test_an_experiment_adds_little_to_gits_folder_however_large_what_git_has(both, tmp_path):
    project = copied(both, tmp_path)
    (project.folder / "large.tar.xz").write_bytes(os.urandom(20 << 20))
    project.commit("large")
    project.do("git", "gc", "--quiet")

    def size() -> int:
        return sum(x.stat().st_size for x in (project.folder / ".git").rglob("*") if x.is_file())

    before = size()
    project.dvc("exp", "run", "-S", "n=5", f"{files.RUNS}:split@n5-s1")
    assert size() - before < 5 << 20
