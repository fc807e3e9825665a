"""Notebooks as figure makers: execute a template, drop what differs between runs, make a page.

A template is a papermill notebook without outputs. It runs in the kernel of this interpreter, on
one thread and without the user's own IPython settings. The page needs nothing but itself.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import papermill
from jupyter_core.utils import ensure_event_loop
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from strata.run import InputError

QUIET = {
    "JUPYTER_PREFER_ENV_PATH": "1",  # the kernel of this environment, not one installed elsewhere
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "0",
}
TEMP = 80  # bytes of a path that leave room for the name of a socket, on macOS 103 in all
CSS = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem }
pre { font-size: 13px; line-height: 1.35; overflow-x: auto }
div.highlight pre { background: #f6f6f6; padding: .6rem .8rem }
img { max-width: 100%; height: auto }
div.output_html { overflow-x: auto }
table { border: 0; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums }
th, td { border: 0; border-bottom: 1px solid #ddd }
th, td { padding: .25rem .7rem .25rem 0; text-align: left }
"""


def parameters(template: Path) -> set[str]:
    """The names that the cell tagged `parameters` assigns."""
    return set(papermill.inspect_notebook(str(template)))


def executed(work: Sequence[tuple[Path, Mapping[str, Any]]]) -> Iterator[NotebookNode]:
    """Each template with its parameters, executed; as many at once as there are processors.

    Raises InputError where a cell fails, or the folder for temporary files has too long a path.
    """
    if len(os.fsencode(gettempdir())) > TEMP:
        said = f"must be at most {TEMP} bytes long, as the sockets of notebooks are there"
        raise InputError(f"TMPDIR = {gettempdir()!r}: {said}")
    with TemporaryDirectory() as scratch:
        own = {"IPYTHONDIR": scratch, "JUPYTER_RUNTIME_DIR": scratch}
        with environment(QUIET | own), ThreadPoolExecutor(os.cpu_count()) as pool:
            sockets = [f"{scratch}/{i}" for i in range(len(work))]
            yield from pool.map(_executed, *zip(*work, strict=True), sockets)


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables for this process and the kernels that it starts; as they were afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _executed(template: Path, values: Mapping[str, Any], sockets: str) -> NotebookNode:
    # Files, as another process may take a port between its choice and the kernel's start.
    config = Config(KernelManager={"transport": "ipc", "ip": sockets})
    try:
        with closing(ensure_event_loop()):  # this thread's, which papermill leaves open
            return papermill.execute_notebook(
                str(template),
                None,
                dict(values),
                kernel_name="python3",
                progress_bar=False,
                extra_arguments=["--log-level=CRITICAL"],
                config=config,
                shutdown_kernel="immediate",  # half a second sooner; it has nothing to clean up
            )
    except RuntimeError as error:  # the kernel did not start, or died
        raise InputError(f"{template.name}: {error}") from None
    except PapermillExecutionError as error:
        reason = (error.evalue or f"in cell {error.exec_count}").strip().splitlines()[0]
        raise InputError(f"{template.name}: {error.ename}: {reason}") from None


def clean(notebook: NotebookNode) -> NotebookNode:
    """Without what differs between runs: ids, addresses, split streams; warnings go to stderr.

    The defaults that papermill has overridden are left out too.
    """
    cells = [c for c in notebook.cells if "parameters" not in c.metadata.get("tags", ())]
    for i, cell in enumerate(cells):
        cell.id, cell.metadata = str(i), NotebookNode()
        if cell.cell_type == "code":
            cell.outputs = [_plain(x) for x in cell.outputs if not _warned(x)]
            streams = [x for x in cell.outputs if x.output_type == "stream"]
            for x in streams[1:]:
                streams[0].text += x.text
                cell.outputs.remove(x)
    return NotebookNode(notebook, cells=cells)


def _warned(output: NotebookNode) -> bool:
    stderr = output.get("name") == "stderr"
    if stderr:
        sys.stderr.write(output.text)
    return stderr


def _plain(output: NotebookNode) -> NotebookNode:
    for holder, key in ((output, "text"), (output.get("data", {}), "text/plain")):
        if key in holder:
            holder[key] = re.sub(r" at 0x[0-9a-f]+", "", holder[key])
    return output


def page(notebook: NotebookNode) -> str:
    """The notebook as one HTML page that loads nothing; its first line is the title, and describes
    an image that does not say what is seen."""
    title = notebook.cells[0].source.splitlines()[0].lstrip("# ")
    for output in (x for cell in notebook.cells for x in cell.get("outputs", ())):
        output.get("metadata", {}).setdefault("image/png", {}).setdefault("alt", title)
    exporter = HTMLExporter(template_name="basic", exclude_anchor_links=True)
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    body, _ = exporter.from_notebook_node(notebook)
    colors = HtmlFormatter(style="default").get_style_defs(".highlight")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}{colors}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
