"""Figures: execute notebooks/LABEL.ipynb for each label and keep what it draws.

In: the notebooks, inputs by parameter name, figures.LABEL of params.yaml, and n and seed where a
figure is about one run: the headline's, or those of --run. One over --runs: keys of
figures.stability. Out: LABEL.pdf, LABEL.png and LABEL.html, the executed notebook as a page; all of
them or none.
"""

import argparse
from pathlib import Path
from typing import Any

from strata import store
from strata.params import Params, load
from strata.pipeline import notebook, scratch
from strata.run import InputError, Run, command


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="+", metavar="LABEL")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--run", type=Run.parse, help="such as n165-s1")
    parser.add_argument("--runs", type=Run.parse, nargs="+", default=[])
    parser.add_argument("--out", default="figures", metavar="FOLDER")
    return parser.parse_args()


def values(
    args: argparse.Namespace, params: Params, label: str, declared: set[str]
) -> dict[str, Any]:
    """What the parameters cell gets; what several figures share where the notebook declares it."""
    section = getattr(params.figures, label.replace("-", "_"), None)
    own = section.model_dump() if section else {}
    run = args.run or Run(params.n, params.seed)
    shared: dict[str, Any] = {"n": run.n, "seed": run.seed}
    shared |= {"runs": [*map(str, args.runs)]} if args.runs else {}
    shared |= inputs(args) | ({} if section else params.figures.stability.model_dump())
    shared |= params.metrics.model_dump(exclude={"seed"})
    return {k: v for k, v in shared.items() if k in declared} | own


def inputs(args: argparse.Namespace) -> dict[str, str]:
    """The files, by parameter name."""
    return {name: path for name, _, path in (pair.partition("=") for pair in args.input)}


def main() -> None:
    args, work = options(), {}
    params, out = load("params.yaml"), Path(args.out)
    unused = {*inputs(args)}
    for label in args.labels:
        template = Path("notebooks", f"{label}.ipynb")
        if not template.is_file():
            raise InputError(f"{template}: no such notebook")
        declared = notebook.parameters(template)
        work[template] = values(args, params, label, declared)
        unused -= declared
        for name in sorted(declared ^ {*work[template], "stem"}):
            raise InputError(
                f"{template}: {name}: must be both given and a parameter of the notebook"
            )
    for name in sorted(unused):
        raise InputError(f"--input {name}: no parameter of {', '.join(map(str, work))}")
    with scratch.together(out) as folder:
        stems = {template: f"{folder}/{template.stem}" for template in work}
        made = notebook.executed([(x, given | {"stem": stems[x]}) for x, given in work.items()])
        for stem, done in zip(stems.values(), made, strict=True):
            html = notebook.page(notebook.clean(done)).replace(str(folder), str(out))
            store.write_text(f"{stem}.html", html)


if __name__ == "__main__":
    command(main)
