"""Execute notebooks as figure makers, drop what differs between runs, and make a page of each.

A template is a papermill notebook without outputs. Each one runs in a process of its own, in the
Python that runs this, on one thread and without the user's own settings of IPython and Jupyter.
Such a process is forked from one that has imported what all of them need, because these imports
would take longer than a figure. The page needs nothing but itself.
"""

import ast
import json
import multiprocessing
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from strata.inputs import InputError

Node = Any  # of nbformat
# The processes share these imports; where forking is not safe, each imports them itself.
IMPORTED = ["strata.measure.metrics", "strata.plots.base", "matplotlib.backends.backend_pdf"]
IMPORTED += ["IPython", "nbconvert", "papermill"]
QUIET = {
    "JUPYTER_PATH": "",
    "JUPYTER_PREFER_ENV_PATH": "1",  # templates of this environment, none installed elsewhere
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "0",
}
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


def at_top() -> None:
    """Go to the top of the repository, from which paths are given, where a notebook was opened in
    its own folder, or else to the clone that STRATA_REPOSITORY names. Raises InputError where there
    is none."""
    start, repository = Path.cwd(), os.environ.get("STRATA_REPOSITORY")
    for top in (start, *start.parents, *([Path(repository)] if repository else [])):
        if (top / "params.yaml").is_file() and (top / "notebooks").is_dir():
            return os.chdir(top)
    raise InputError(f"{start}: in no clone of strata; set STRATA_REPOSITORY to the path of one")


def parameters(template: Path) -> set[str]:
    """Return the names that the cell tagged `parameters` assigns."""
    cells = json.loads(template.read_text("utf-8"))["cells"]
    tagged = ["".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", ())]
    nodes = [node for source in tagged for node in ast.walk(ast.parse(source))]
    return {x.id for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}


def single_run_notebooks(folder: Path | str = "notebooks") -> list[str]:
    """List the notebooks in a folder that draw a figure of one run: they have a parameter `run`."""
    return [x.stem for x in sorted(Path(folder).glob("*.ipynb")) if "run" in parameters(x)]


def pages(
    work: Sequence[tuple[Path, Mapping[str, Any]]], inches: Sequence[float] = ()
) -> Iterator[str]:
    """Yield the page of each template, executed with its parameters, as many at once as there are
    processors. ``inches`` are the widths of a column and of a page in its figures. Raises
    InputError where a cell fails."""
    # The server's socket lies among temporary files, and its path may have 107 bytes.
    forks = sys.platform == "linux" and len(os.fsencode(gettempdir())) < 75
    server, spawn = multiprocessing.get_context("forkserver"), multiprocessing.get_context("spawn")
    server.set_forkserver_preload(IMPORTED)
    context = server if forks else spawn

    def render(template: Path, values: Mapping[str, Any]) -> str:
        receiver, sender = context.Pipe(duplex=False)
        arguments = (sender, template, values, inches)
        process = context.Process(target=_page, args=arguments, daemon=True)
        process.start()
        sender.close()
        try:
            html, fault = receiver.recv()
        except EOFError:
            process.join()
            html, fault = "", f"its process ended with exit code {process.exitcode}"
        if fault:
            raise InputError(f"{template.name}: {fault}")
        return html

    with TemporaryDirectory() as scratch:
        variables = QUIET | {"IPYTHONDIR": scratch}
        with environment(variables), ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(render, *zip(*work, strict=True))


def _page(
    channel: Connection, template: Path, values: Mapping[str, Any], inches: Sequence[float]
) -> None:
    """Send the page, or why there is none. This process ends with the one that waits for it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if inches:
        from strata.plots import base  # matplotlib, for figures alone

        base.COLUMN, base.PAGE = inches
    try:
        channel.send((page(clean(execute(template, values))), ""))
    except InputError as error:
        channel.send(("", str(error)))


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for this process and the kernels that it starts, and restore them after."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def execute(template: Path, values: Mapping[str, Any]) -> Node:
    """Execute the template with its parameters in this process. Raises InputError where a cell
    fails."""
    import papermill
    from papermill.engines import papermill_engines

    from strata.cells import InProcess  # IPython takes a second to import, for figures alone

    papermill_engines.register("in-process", InProcess)
    notebook = papermill.execute_notebook(
        str(template), None, dict(values),
        kernel_name="python3", progress_bar=False, engine_name="in-process",
    )  # fmt: skip
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    return notebook


def clean(notebook: Node) -> Node:
    """Remove what differs between runs: ids, addresses and split streams. Warnings go to stderr.

    The defaults that papermill has overridden are left out too.
    """
    from nbformat import NotebookNode

    cells = [c for c in notebook.cells if "parameters" not in c.metadata.get("tags", ())]
    for i, cell in enumerate(cells):
        cell.id, cell.metadata = str(i), NotebookNode()
        if cell.cell_type == "code":
            cell.outputs = [_plain(x) for x in cell.outputs if not _forward_warning(x)]
            streams = [x for x in cell.outputs if x.output_type == "stream"]
            for x in streams[1:]:
                streams[0].text += x.text
                cell.outputs.remove(x)
    return NotebookNode(notebook, cells=cells)


def _forward_warning(output: Node) -> bool:
    stderr = output.get("name") == "stderr"
    if stderr:
        sys.stderr.write(output.text)
    return stderr


def _plain(output: Node) -> Node:
    for holder, key in ((output, "text"), (output.get("data", {}), "text/plain")):
        if key in holder:
            holder[key] = re.sub(r" at 0x[0-9a-f]+", "", holder[key])
    return output


def page(notebook: Node) -> str:
    """Return the notebook as one HTML page that loads nothing. Its first line is the title, and
    describes an image that does not say what is seen."""
    from nbconvert import HTMLExporter
    from pygments.formatters import HtmlFormatter

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
