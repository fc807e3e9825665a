"""What git says."""

import subprocess

from strata.run import InputError


def git(*words: str) -> str:
    """What ``git`` with these words prints. Raises InputError with its reason where it fails."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise InputError(f"git {' '.join(words)}: {said[-1]}")
    return done.stdout.strip()
