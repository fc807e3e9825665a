"""What a quick stage writes: its command is run in a folder of its own."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ruamel.yaml import YAML

from ops import contents
from ops.contents import Files
from strata.run import InputError


def outputs(cmd: str, outs: Iterable[str], params: Mapping[str, Any]) -> Files:
    """The md5 of each output, and of each file in those that are folders, with these values of
    params.yaml. Raises InputError where the stage refuses them."""
    with TemporaryDirectory() as scratch:
        for path in Path().resolve().iterdir():
            if path.name not in {"data", "params.yaml"}:
                Path(scratch, path.name).symlink_to(path)
        YAML().dump(dict(params), Path(scratch, "params.yaml"))
        own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        end = subprocess.run(
            cmd, shell=True, cwd=scratch, env=os.environ | {"PATH": own},
            text=True, capture_output=True, check=False,
        )  # fmt: skip
        if end.returncode:
            said = end.stderr.strip().splitlines() or [f"exit code {end.returncode}"]
            raise InputError(said[-1].partition(": ")[2] or said[-1])
        disk = contents.Disk(scratch)
        files = {name: md5 for out in outs for name, md5 in disk.files(out).items()}
        return files | {out: disk.md5(out) or "" for out in outs}
