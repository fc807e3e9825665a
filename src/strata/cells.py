"""Run the cells of a notebook for papermill by IPython in this process, without a kernel beside
it."""

from base64 import b64encode
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import TextIOBase
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat import v4
from papermill.engines import Engine

from strata.inputs import InputError

OUTPUTS: list[Any] = []  # of the cell that runs


def keep(kind: str, data: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> None:
    """Keep what is shown as an output of the cell that runs."""
    texts = {k: b64encode(v).decode() if isinstance(v, bytes) else v for k, v in data.items()}
    OUTPUTS.append(v4.new_output(kind, texts, metadata=metadata or {}))


class Stream(TextIOBase):
    """A ``Stream`` keeps what a cell prints."""

    def __init__(self, name: str):
        self.name = name

    def write(self, text: str) -> int:
        OUTPUTS.append(v4.new_output("stream", name=self.name, text=text))
        return len(text)


class Hook(DisplayHook):
    """A ``Hook`` keeps the value of a cell's last line."""

    def __call__(self, result: Any = None) -> None:
        if result is not None:
            keep("execute_result", *self.compute_format_data(result))


class Publisher(DisplayPublisher):
    """A ``Publisher`` keeps what a cell displays."""

    def publish(self, data: Any, metadata: Any = None, **_: Any) -> None:
        keep("display_data", data, metadata)


class Compiler(CachingCompiler):
    """A ``Compiler`` keeps assertions, which PYTHONOPTIMIZE would drop."""

    def __call__(self, source: Any, filename: str, symbol: str, flags: int = 0, **_: Any) -> Any:
        return compile(source, filename, symbol, flags | self.flags, True, optimize=0)


class Shell(InteractiveShell):
    """A ``Shell`` is IPython with this hook, this publisher and this compiler."""

    displayhook_class, display_pub_class, compiler_class = Hook, Publisher, Compiler


class InProcess(Engine):
    """This engine executes cell after cell in this process. Raises InputError where a cell
    fails."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **_: Any) -> None:
        shell = Shell.instance()
        for cell in (x for x in nb_man.nb.cells if x.cell_type == "code"):
            with redirect_stdout(Stream("stdout")), redirect_stderr(Stream("stderr")):
                execution = shell.run_cell(cell.source)
            if fault := execution.error_before_exec or execution.error_in_exec:
                reason = (str(fault) or "no reason given").strip().splitlines()[0]
                raise InputError(f"{type(fault).__name__}: {reason}")
            cell.outputs = OUTPUTS[:]
            OUTPUTS.clear()
