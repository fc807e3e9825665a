"""Ask git, and copy what it has."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from ops.files import ARTIFACTS
from ops.shipped import REMOTE, SETTINGS
from strata.inputs import InputError

# What somebody has set for git, and would get in the way here: hooks, signatures, colours; and by
# default git writes paths that are not ASCII in octal numbers.
SET = ("core.hooksPath=/dev/null", "commit.gpgSign=false", "color.ui=false", "core.quotePath=false")
SET += ("status.showUntrackedFiles=normal", "core.attributesFile=/dev/null")
SET += ("core.safecrlf=false", "log.showSignature=false")
PLAIN = [word for setting in SET for word in ("-c", setting)]
ANYBODY = ("-c", "user.name=strata", "-c", "user.email=")  # where git asks for an author
# Where a file that git does not track yet counts as what is here.
NEEDED = ("dvc.yaml", "dvc.lock", "params.yaml")
NEEDED += ("notebooks", "ops", "runs", "src", "stages", "studies")
PACKS = f":(exclude,glob)**/{ARTIFACTS}/*"  # caches hold what is in them

# For each experiment DVC writes every tracked file anew into git's folder, packs of artifacts too.
HOOK = """\
#!/bin/sh
# DVC's experiments write files into git's folder that it has already: away with them (strata).
exec git prune-packed --quiet
"""


def git(*words: str, index: str | None = None) -> str:
    """Return what ``git`` with these words prints, with another file as its index if one is named.
    Raises InputError with git's reason where it fails."""
    environment = os.environ | ({"GIT_INDEX_FILE": index} if index else {})
    command = ["git", *PLAIN, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise InputError(f"git {' '.join(words)}: {' '.join(done.stderr.split())}")
    return done.stdout.strip()


def worktree_tree() -> str:
    """Return the tree of what is here, committed or not; git's own index stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        index = str(Path(folder, "index"))
        # With its time, by which git knows a file that changed as its index was written.
        shutil.copy2(git("rev-parse", "--git-path", "index"), index)
        git("add", "--update", "--", ".", PACKS, index=index)
        git("add", "--all", "--", *filter(os.path.exists, NEEDED), PACKS, index=index)
        return git("write-tree", index=index)


def list_tree(tree: str) -> dict[str, tuple[str, str]]:
    """Return the mode and the hash of each path of a tree or commit."""
    lines = (x.partition("\t") for x in git("ls-tree", "-rz", "--full-tree", tree).split("\0") if x)
    return {path: (entry.split()[0], entry.split()[2]) for entry, _, path in lines}


def lay_out(tree: str, folder: Path, caches: Mapping[str, Path]) -> None:
    """Write the files of a tree or commit but the packs into a folder. DVC works there without git,
    each project with that cache and with the remote of this folder. Each file has the bytes that
    git has, whatever attributes ask; links, and what Python compiled, are left out."""
    blobs = {
        path: (mode, name)
        for path, (mode, name) in list_tree(tree).items()
        if mode.startswith("100") and not {ARTIFACTS, "__pycache__"} & {*Path(path).parts}
    }
    names = "".join(f"{name}\n" for _, name in blobs.values()).encode()
    batch = ["git", "cat-file", "--batch"]
    data = BytesIO(subprocess.run(batch, input=names, stdout=subprocess.PIPE, check=True).stdout)
    for path, (mode, _) in blobs.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.read(int(data.readline().split()[2])))
        target.chmod(0o755 if mode == "100755" else 0o644)
        data.read(1)
    for project, cache in caches.items():
        site = folder.resolve() / project / ".dvc" / "tmp" / "site"
        local = f"[core]\n    no_scm = true\n    site_cache_dir = {site}\n"
        local += f"[cache]\n    dir = {cache}\n"
        local += SETTINGS.format(Path(project, REMOTE).resolve())
        Path(folder, project, ".dvc", "config.local").write_text(local)


def install_hook() -> None:
    """Keep git's folder small however many experiments there are: what DVC writes into it costs no
    time, and is deleted by a hook where the user has none."""
    hook = Path(git("rev-parse", "--git-dir"), "hooks", "post-commit")
    if not hook.exists():
        git("config", "core.looseCompression", "0")
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK)
        hook.chmod(0o755)


def why_files_lack() -> str:
    """Return what to do in a clone for the paper alone, which has no packs of the studies; nothing
    where all files are here."""
    if git("config", "--default", "", "core.sparseCheckout") != "true":
        return ""
    return "this clone lacks files: git sparse-checkout disable fetches them"


def why_experiments_fail() -> str:
    """Return why DVC cannot run or record an experiment here; nothing where it can."""
    if why := why_files_lack():
        return f"`dvc exp run` needs all files, and {why}"
    names = ("user.name", "user.email")
    lacking = [x for x in names if not git("config", "--default", "", "--get", x)]
    if not lacking:
        return ""
    remedy = " and ".join(f"git config --global {x} …" for x in lacking)
    return f"git has no {' and no '.join(lacking)}, which `dvc exp run` needs: {remedy}"


def why_queue_fails(folder: str = ".") -> str:
    """Return why experiments that leave this clone, or run in a folder of their own, are lost or
    broken; nothing where they are not. DVC copies the history of the last commit there, and says
    nothing where it cannot."""
    listed = ("-C", folder, "rev-list", "--ignore-missing", "HEAD")  # nothing before a first commit
    first = git(*listed, "--max-parents=0").split()
    cut = Path(folder, git("-C", folder, "rev-parse", "--git-path", "shallow"))
    if cut.is_file() and {*first} & {*cut.read_text().split()}:
        kind, remedy = "shallow", "git fetch --unshallow, which fetches 0.8 GB,"
    elif first == git(*listed, "--max-count=1").split():
        return ""
    elif ".promisor=true" in git("-C", folder, "config", "--list"):
        kind, remedy = "partial", "clone it without --filter"
    else:
        return ""
    lost = "it would lose experiments of --queue and --temp, and push none whole"
    return f"this clone is {kind}: {lost}: {remedy} first, or work on a branch with one commit"


def advice() -> list[str]:
    """Return what DVC would stumble over here with git, a line each."""
    return [x for x in (why_experiments_fail(), why_queue_fails()) if x]
