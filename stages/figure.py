"""Figures: execute the notebook of each label and keep what it draws.

In: the notebooks, LABEL.ipynb in --notebooks or that of --template, which serves several figures;
inputs by parameter name; the notebook's section of figures in params.yaml; and the run where a
figure is about one: the headline's, or --run; over seeds --moduli, and keys of figures.stability.
Out: LABEL.pdf, LABEL.svg, LABEL.png, and LABEL.html, the executed notebook, which shows the PNG.
"""

import argparse
import re
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
    """What the parameters cell gets; what several figures share where the notebook declares it.

    Raises InputError where a parameter lacks a value, or a value a parameter.
    """
    declared = notebook.parameters(template)
    own = params.figures.get(template.stem.replace("-", "_"), {})
    shared: dict[str, Any] = {"run": str(args.run or params.headline())}
    shared |= {"moduli": args.moduli} if args.moduli else {}
    shared |= inputs(args) | ({} if own else params.figures["stability"])
    shared |= params.metrics.model_dump(exclude={"seed"})
    given = {k: v for k, v in shared.items() if k in declared} | own
    for name in sorted(declared ^ {*given, "stem"}):
        raise InputError(f"{template}: {name}: must be both given and a parameter of the notebook")
    return given


def inputs(args: argparse.Namespace) -> dict[str, str]:
    """The files, by parameter name."""
    return {name: path for name, _, path in (pair.partition("=") for pair in args.input)}


def work(args: argparse.Namespace, params: Params) -> dict[str, tuple[Path, dict[str, Any]]]:
    """The notebook and the parameters of each label. Raises InputError where an input is unused."""
    found = {}
    for label in args.labels:
        template = Path(args.notebooks, f"{args.template or label}.ipynb")
        if not template.is_file():
            raise InputError(f"{template}: no such notebook")
        found[label] = template, values(args, params, template)
    used = {name for _, given in found.values() for name in given}
    for name in sorted({*inputs(args)} - used):
        every = ", ".join(str(template) for template, _ in found.values())
        raise InputError(f"--input {name}: no parameter of {every}")
    return found


def main() -> None:
    args, params = options(), load("params.yaml")
    figures, out = work(args, params), Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=".figures-") as folder:
        made = notebook.pages(
            [(x, given | {"stem": f"{folder}/{label}"}) for label, (x, given) in figures.items()],
            (params.inches.column, params.inches.page),
        )
        for label, html in zip(figures, made, strict=True):
            beside = re.sub(r'src="data:image/png;base64,[^"]+"', f'src="{label}.png"', html)
            store.write_text(f"{folder}/{label}.html", beside.replace(folder, str(out)))
        for path in sorted(Path(folder).iterdir()):
            path.replace(out / path.name)


if __name__ == "__main__":
    command(main)
