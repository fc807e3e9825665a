"""Scripts run by forks of a process that has imported what they import: of most that take two
seconds that is more than one.

``python ops/forks.py MODULE…``, in the environment of the scripts. Each line of its input is a
script with its arguments in JSON; for each it prints the exit code and what it wrote on stderr.
"""

import atexit
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from threading import get_ident


def run_in_fork(words: Sequence[str], modules: str, folder: Path) -> tuple[int, str]:
    """Run a command in that folder, ``[env VARIABLE=… …] python SCRIPT …``, by a process for these
    variables, modules and this thread, which stays until this process ends. Returns the exit code
    and stderr."""
    at = words.index("python") + 1
    command = (*words[:at], str(Path(__file__).resolve()), *modules.split())
    process = _process(command, folder, get_ident())
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(words[at:]) + "\n")
    process.stdin.flush()
    code, errors = json.loads(process.stdout.readline())
    return code, errors


@cache
def _process(words: tuple[str, ...], folder: Path, _thread: int) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, cwd=folder, stdin=pipe, stdout=pipe, text=True)
    atexit.register(process.communicate)  # it ends with its input
    return process


def main(*modules: str) -> None:
    for name in modules:
        with suppress(Exception):  # which the script says that imports it
            import_module(name)
    for line in sys.stdin:
        with TemporaryFile() as errors:
            if not (child := os.fork()):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(errors.fileno(), 2)
                sys.argv = json.loads(line)
                runpy.run_path(sys.argv[0], run_name="__main__")
                os._exit(0)  # to take down what was imported lasts as long as many a script
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            errors.seek(0)
            print(json.dumps([code, errors.read().decode(errors="replace")]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
