"""What the command ``strata`` does: each function takes its options and gives what is printed."""

import sys
import time
from argparse import Namespace
from pathlib import Path

import pandas as pd
import torch
from ruamel.yaml import YAML

from strata import store
from strata.api import lens, published, repository
from strata.api.foreign import from_weights
from strata.api.model import Model
from strata.api.repository import of_run
from strata.run import Run
from strata.task import operation

COLUMNS = ["n", "seed", "variant", "architecture", "epochs", "accuracy", "validation"]
COLUMNS += ["generalised", "key", "frequencies", "mixed", "spared", "balanced"]
PASSES, PAIRS = 16, 4096  # of the network in an analysis; in one that is timed


def said(args: Namespace) -> str:
    """What the command that was asked for prints. Raises InputError."""
    asked = {"ask": ask, "runs": runs, "analyse": analyse, "export": export}
    with torch.inference_mode():
        return asked[args.command](args)


def ask(args: Namespace) -> str:
    """The product, the model's answer and the next best, each with its probability."""
    model = repository.load(args.run, args.repository)
    chances, best = model(args.a, args.b)[0].softmax(dim=0).topk(2)
    (first, second), (p, q) = best.tolist(), chances.tolist()
    right = int(operation(args.a, args.b, model.task))
    verdict = "right" if first == right else "wrong"
    of = f"mod {model.n}" if model.task.modulus == model.n else f"in {model.task}, by their numbers"
    return (
        f"{args.a} · {args.b} = {right} {of}\n"
        f"{args.run} answers {first}, with probability {p:.4g}: {verdict}\n"
        f"next: {second}, with probability {q:.2g}"
    )


def runs(args: Namespace) -> str:
    """A line for each run."""
    frame = repository.runs(args.repository).filter(COLUMNS)
    for name in ("accuracy", "validation"):
        frame[name] = frame[name].map("{:.1%}".format, na_action="ignore")
    if "generalised" in frame:
        said = frame["generalised"]
        frame["generalised"] = ["" if pd.isna(x) else "yes" if x else "NO" for x in said]
    with pd.option_context("display.precision", 3):
        return frame.to_string(na_rep="", index_names=False)


def analyse(args: Namespace) -> str:
    """Measure the file; the page, or where it was written."""
    from strata.api import page  # it needs pandas, sympy and scipy, whose imports take a second
    from strata.api.analysis import Analysis

    task = YAML(typ="safe").load(args.task) if args.task else None
    model = from_weights(args.file, args.n, n_heads=args.heads, task=task)
    foretell(model)
    found = Analysis(model, args.split, args.repository)
    if args.out is None:
        return page.text(found)
    page.write(found, args.out)
    return f"{model.source}: wrote {args.out / 'index.html'}"


def foretell(model: Model) -> None:
    """Say how long the passes over all pairs take, where that is more than a minute."""
    some = torch.zeros(PAIRS, dtype=torch.long)
    began = time.perf_counter()
    model(some, some)
    minutes = (time.perf_counter() - began) * PASSES * model.n**2 / PAIRS / 60
    if minutes > 1:
        said = f"n = {model.n}: {PASSES} passes over all pairs, about {minutes:.0f} minutes"
        print(f"strata analyse: {said}", file=sys.stderr, flush=True)


def export(args: Namespace) -> str:
    """Write the file, and say which."""
    run = Run.parse(args.run)
    own = {"lens": "-lens.safetensors", "published": ".pt", "activations": "-activations.parquet"}
    out = args.out or Path(f"{run}{own.get(args.to, '.safetensors')}")
    with of_run(run, "weights.safetensors", args.repository) as path:
        content, (weights, metadata) = store.read_bytes(path), store.read_tensors(path)
    if args.to == "activations":
        from strata.measure import stored  # it needs sympy and scipy, whose import takes a second

        stored.write_forward(out, weights, store.task_in(str(run), metadata, run))
        return f"wrote {out}"
    if args.to == "lens":
        model = repository.load(args.run, args.repository)
        content = store.tensors_bytes(
            lens.tensors(model), {"run": str(run), "cfg": lens.config(model)}
        )
    elif args.to == "published":
        with of_run(run, "history.parquet", args.repository) as path:
            content = published.export(metadata, weights, store.read_history(path))
    store.write_bytes(out, content)
    return f"wrote {out}"
