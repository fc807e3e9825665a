"""One figure: execute notebooks/LABEL.ipynb and keep what it draws.

In: the notebook, its inputs by parameter name, figures.LABEL of params.yaml, and n and seed where
it is about one run: the headline's, or those of --run. One over --runs: keys of figures.stability.
Out: LABEL.pdf, LABEL.png and LABEL.html, the executed notebook as a page; all three or none.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from strata import notebook, store
from strata.params import load
from strata.run import InputError, Run, command


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("label")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--run", type=Run.parse, help="such as n165-s1")
    parser.add_argument("--runs", type=Run.parse, nargs="+", default=[])
    parser.add_argument("--out", default="figures", metavar="FOLDER")
    return parser.parse_args()


def values(args: argparse.Namespace, declared: set[str]) -> dict[str, Any]:
    """What the parameters cell gets; n, seed and shared keys where the notebook declares them."""
    params = load("params.yaml")
    section = getattr(params.figures, args.label.replace("-", "_"), None)
    own = section.model_dump() if section else params.figures.stability.model_dump(include=declared)
    shared = params.metrics.model_dump(exclude={"seed"}, include=declared)
    paths = {name: path for name, _, path in (pair.partition("=") for pair in args.input)}
    run = args.run or Run(params.n, params.seed)
    which = {"n": run.n, "seed": run.seed} | ({"runs": [*map(str, args.runs)]} if args.runs else {})
    return {**{k: v for k, v in which.items() if k in declared}, **paths, **own, **shared}


def main() -> None:
    args = options()
    template, out = Path("notebooks", f"{args.label}.ipynb"), Path(args.out)
    if not template.is_file():
        raise InputError(f"{template}: no such notebook")
    declared = notebook.parameters(template)
    given = values(args, declared)
    for name in sorted(declared ^ {*given, "stem"}):
        raise InputError(f"{template}: {name}: must be both given and a parameter of the notebook")
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{args.label}-", dir=out) as scratch:
        made = notebook.execute(template, {**given, "stem": f"{scratch}/{args.label}"})
        html = notebook.page(notebook.clean(made)).replace(scratch, str(out))
        store.write_text(f"{scratch}/{args.label}.html", html)
        for suffix in ("pdf", "png", "html"):
            os.replace(f"{scratch}/{args.label}.{suffix}", out / f"{args.label}.{suffix}")


if __name__ == "__main__":
    command(main)
