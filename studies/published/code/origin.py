"""Where the results in paper/published/ come from, as its receipt.json says it."""

from typing import Any

from strata.result import Result


class Step(Result):
    """What made one kind of result."""

    cmd: str
    code: str
    """md5 of the stage's file in data/code."""
    params: dict[str, Any]
    """The settings that it read, by key."""


class Origin(Result):
    """The file of weights, and how its results were made."""

    file: str
    source: str
    bytes: int
    sha256: str
    run: str
    command: str
    steps: dict[str, Step]
    """By stage of published/dvc.yaml."""
    results: dict[str, str]
    """SHA-256 of each file beside the receipt."""
