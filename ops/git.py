"""What git says, and copies of what it has."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ops.files import PROJECTS
from ops.shipped import REMOTE
from strata.inputs import InputError

# What somebody has set for git, and would get in the way here: hooks, signatures, colours.
SET = ("core.hooksPath=/dev/null", "commit.gpgSign=false", "color.ui=false")
SET += ("status.showUntrackedFiles=normal",)
PLAIN = [word for setting in SET for word in ("-c", setting)]
ANYBODY = ("-c", "user.name=strata", "-c", "user.email=")  # where git asks for an author
# Where a file that git does not track yet counts as what is here.
NEEDED = ("dvc.yaml", "dvc.lock", "params.yaml", "notebooks", "ops", "src", "stages", "studies")


def git(*words: str, index: str | None = None) -> str:
    """What ``git`` with these words prints, with another file as its index if one is named. Raises
    InputError with its reason where it fails."""
    own = os.environ | ({"GIT_INDEX_FILE": index} if index else {})
    command = ["git", *PLAIN, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise InputError(f"git {' '.join(words)}: {said[-1]}")
    return done.stdout.strip()


def nameless() -> str:
    """What to do where git has no name of somebody, without which DVC keeps no second experiment;
    empty where it has."""
    try:
        git("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
    except InputError:
        return (
            "git has no name of yours, which experiments need: "
            "git config --global user.name …; git config --global user.email …"
        )
    return ""


def here() -> str:
    """The tree of what is here, committed or not; git's own index stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        index = str(Path(folder, "index"))
        # With its time, by which git knows a file that changed as its index was written.
        shutil.copy2(git("rev-parse", "--git-path", "index"), index)
        git("add", "--update", "--", ".", f":!{REMOTE}", index=index)
        git("add", "--all", "--", *filter(os.path.exists, NEEDED), index=index)
        return git("write-tree", index=index)


def laid_out(tree: str, folder: Path, cache: str = "") -> None:
    """Put the files of a tree or commit into a folder, where DVC works without git, with a cache if
    one is named; not the remote, as the cache holds what is in there."""
    archive = ["git", "archive", tree, "--", ".", f":(exclude){REMOTE}"]
    packed = subprocess.run(archive, stdout=subprocess.PIPE, check=True).stdout
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    local = "[core]\n    no_scm = true\n" + (f"[cache]\n    dir = {cache}\n" if cache else "")
    for project in (x for x in ("", *PROJECTS) if Path(folder, x, ".dvc").is_dir()):
        Path(folder, project, ".dvc", "config.local").write_text(local)
