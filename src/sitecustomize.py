"""End the programs of this repository in one line where Ctrl-C comes, not in a traceback.

Python imports a module of this name as it starts, from where PYTHONPATH or an editable installation
points. So it also holds while a program is still importing, and it is in the key of no stage.
"""

import sys
from pathlib import Path
from types import TracebackType

TOP = Path(__file__).resolve().parents[1]
NO_FILE = {"", "-c", "-m"}  # a prompt, a helper of multiprocessing, a module that is looked for


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an error as Python does, but an interrupt of a program of ours in one line. Python
    then ends by the signal, which shells have as exit code 130."""
    program = Path(sys.argv[0])
    ours = program.resolve().is_relative_to(TOP)
    if not (issubclass(kind, KeyboardInterrupt) and ours and sys.argv[0]):
        sys.__excepthook__(kind, error, trace)
    elif sys.argv[0] not in NO_FILE:
        print(f"{program.stem}: interrupted", file=sys.stderr)


sys.excepthook = report
