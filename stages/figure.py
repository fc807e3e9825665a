"""Figures: execute the notebook of each label and keep what it draws.

In: the notebooks, LABEL.ipynb in --notebooks or that of --template, which serves several figures;
inputs by parameter name; the notebook's section of figures in params.yaml; and the run where a
figure is about one: the headline's, or --run; over seeds --moduli, and keys of figures.stability.
Out: LABEL.pdf, LABEL.svg, LABEL.png, and LABEL.html, the executed notebook, which shows the PNG.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from strata import notebook, store
from strata.inputs import InputError
from strata.params import Params, load
from strata.run import Run, command


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="+", metavar="LABEL")
    parser.add_argument("--template", help="such as fig14-attn-seeds, where it is not LABEL")
    parser.add_argument("--notebooks", default="notebooks", metavar="FOLDER")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--run", type=Run.parse, help="such as n165-s1")
    parser.add_argument("--moduli", type=int, nargs="+", default=[])
    parser.add_argument("--out", default="figures", metavar="FOLDER")
    return parser.parse_args()


def values(args: argparse.Namespace, params: Params, template: Path) -> dict[str, Any]:
    """Return the values for the parameters cell; of those that several figures share, the ones that
    the notebook declares.

    Raises InputError where a parameter has no value, or a value has no parameter.
    """
    declared = notebook.parameters(template)
    section = params.figures.get(template.stem.replace("-", "_"), {})
    shared: dict[str, Any] = {"run": str(args.run or params.headline())}
    shared |= {"moduli": args.moduli} if args.moduli else {}
    shared |= inputs(args) | ({} if section else params.figures["stability"])
    shared |= params.metrics.model_dump(exclude={"seed"})
    arguments = {k: v for k, v in shared.items() if k in declared} | section
    for name in sorted(declared ^ {*arguments, "stem"}):
        raise InputError(f"{template}: {name}: must be both given and a parameter of the notebook")
    return arguments


def inputs(args: argparse.Namespace) -> dict[str, str]:
    """Return the input files by parameter name."""
    return {name: path for name, _, path in (pair.partition("=") for pair in args.input)}


def work(args: argparse.Namespace, params: Params) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Return the notebook and parameters of each label. Raises InputError for an unused input."""
    figures = {}
    for label in args.labels:
        template = Path(args.notebooks, f"{args.template or label}.ipynb")
        if not template.is_file():
            raise InputError(f"{template}: no such notebook")
        figures[label] = template, values(args, params, template)
    used = {name for _, arguments in figures.values() for name in arguments}
    for name in sorted({*inputs(args)} - used):
        templates = ", ".join(str(template) for template, _ in figures.values())
        raise InputError(f"--input {name}: no parameter of {templates}")
    return figures


def main() -> None:
    # In a process of its own: it decides no byte, so no change of it makes a figure stale.
    if subprocess.run([sys.executable, "-m", "ops.packages"], check=False).returncode:
        sys.exit(1)
    args, params = options(), load("params.yaml")
    figures, out = work(args, params), Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=".figures-") as folder:
        jobs = [(x, cell | {"stem": f"{folder}/{label}"}) for label, (x, cell) in figures.items()]
        pages = notebook.pages(jobs, (params.inches.column, params.inches.page))
        for label, html in zip(figures, pages, strict=True):
            linked = re.sub(r'src="data:image/png;base64,[^"]+"', f'src="{label}.png"', html)
            store.write_text(f"{folder}/{label}.html", linked.replace(folder, str(out)))
        for path in sorted(Path(folder).iterdir()):
            path.replace(out / path.name)


if __name__ == "__main__":
    command(main)
