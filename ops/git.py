"""What git says."""

import os
import subprocess

from strata.run import InputError

# What somebody has set for git, and would get in the way here: hooks, signatures, colours.
SET = ("core.hooksPath=/dev/null", "commit.gpgSign=false", "color.ui=false")
SET += ("status.showUntrackedFiles=normal",)
PLAIN = [word for setting in SET for word in ("-c", setting)]
ANYBODY = ("-c", "user.name=strata", "-c", "user.email=")  # where git asks for an author


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
