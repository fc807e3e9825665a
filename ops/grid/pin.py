"""The revision that workers clone: git's last commit, with what is not committed yet."""

import os
import shutil
import tempfile
from pathlib import Path

from ops.git import ANYBODY, git

KEPT = "refs/strata/grid"  # keeps the revision while workers need it
# Where a file that git does not track yet is carried too.
NEEDED = ("dvc.yaml", "dvc.lock", "params.yaml", "notebooks", "ops", "src", "stages", "studies")


def revision() -> tuple[str, list[str]]:
    """The commit to clone, and the files in it that are not as in git's last commit."""
    with tempfile.TemporaryDirectory() as folder:
        index = str(Path(folder, "index"))
        shutil.copy(git("rev-parse", "--git-path", "index"), index)
        git("add", "--update", "--", ".", ":!remote", index=index)
        git("add", "--all", "--", *filter(os.path.exists, NEEDED), index=index)
        tree = git("write-tree", index=index)
    names = git("diff", "--name-only", "HEAD", tree).splitlines()
    made = git("rev-parse", "HEAD")
    if names:
        made = git(*ANYBODY, "commit-tree", tree, "-p", "HEAD", "-m", "make grid")
    git("update-ref", KEPT, made)
    return made, names
