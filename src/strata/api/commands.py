"""Do what the command ``strata`` offers: a function takes options and returns what is printed."""

import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import torch
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from strata import store
from strata.api import lens, published, repository
from strata.api.foreign import from_weights, names_run
from strata.api.model import Model
from strata.api.repository import of_run
from strata.api.tasks import ANSWERS
from strata.inputs import InputError
from strata.run import Run
from strata.task import operation

COLUMNS = ["n", "seed", "variant", "architecture", "epochs", "accuracy", "validation"]
COLUMNS += ["generalised", "key", "frequencies", "mixed", "spared", "balanced"]
LONGEST = 10**7  # rows of a history
PASSES, PAIRS = 16, 4096  # passes in an analysis, and pairs in the pass that is timed


def run_command(args: Namespace) -> str:
    """Run the command that was asked for, and return what it prints. Raises InputError."""
    functions = {"ask": ask, "runs": runs, "analyse": analyse, "export": export}
    with torch.inference_mode():
        return functions[args.command](args)


def ask(args: Namespace) -> str:
    """Return the product, the model's answer and the next best, each with its probability."""
    model = repository.load(args.run, args.repository)
    chances, best = model(args.a, args.b)[0].softmax(dim=0).topk(2)
    (first, second), (p, q) = best.tolist(), chances.tolist()
    right = int(operation(args.a, args.b, model.task))
    verdict = "right" if first == right else "wrong"
    modular = model.task.modulus == model.n
    modulus = f"mod {model.n}" if modular else f"in {model.task}, by their numbers"
    return (
        f"{args.a} · {args.b} = {right} {modulus}\n"
        f"{args.run} answers {first}, with probability {p:.4g}: {verdict}\n"
        f"next: {second}, with probability {q:.2g}"
    )


def runs(args: Namespace) -> str:
    """Return a line for each run."""
    frame = repository.runs(args.repository).filter(COLUMNS)
    for name in ("accuracy", "validation"):
        frame[name] = frame[name].map("{:.1%}".format, na_action="ignore")
    if "generalised" in frame:
        words = {True: "yes", False: "NO"}
        frame["generalised"] = ["" if pd.isna(x) else words[bool(x)] for x in frame["generalised"]]
    with pd.option_context("display.precision", 3):
        return frame.to_string(na_rep="", index_names=False)


def analyse(args: Namespace) -> str:
    """Measure the file, and return the page, or where it was written."""
    from strata.api import page  # it needs pandas and scipy, whose imports take a second
    from strata.api.analysis import analyse as measure

    source, rename = args.file, dict(x.partition("=")[::2] for x in args.rename)
    if not args.logits:
        if args.file is None:
            raise InputError("must have one network: FILE, or --logits L.npy --embedding E.npy")
        if not names_run(args.file):
            task = None if args.task == ANSWERS else task_option(args.task)
            source = from_weights(args.file, args.n, n_heads=args.heads, rename=rename, task=task)
            foretell(source)
    analysis = measure(
        source, args.split, n=args.n, logits=args.logits, embedding=args.embedding,
        task=task_option(args.task), repository=args.repository,
    )  # fmt: skip
    if args.out is None:
        return page.text(analysis)
    page.write(analysis, args.out)
    return f"{analysis.name}: {analysis.sentence}\nwrote {args.out / 'index.html'}"


def task_option(text: str | None) -> Any:
    """Return the task that an option names, which may be YAML, such as {zeros: [p1]}. Raises
    InputError where it is not valid."""
    if not text or not text.startswith("{"):
        return text
    try:
        return YAML(typ="safe").load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        must = "must be a name, a file, or as {zeros: [p1, p2]}"
        raise InputError(f"--task {text:.60}: {must}: {reason[:100]}") from None


def foretell(model: Model) -> None:
    """Say how long the passes over all pairs take, where that is more than a minute."""
    zeros = torch.zeros(PAIRS, dtype=torch.long)
    start = time.perf_counter()
    model(zeros, zeros)
    minutes = (time.perf_counter() - start) * PASSES * model.n**2 / PAIRS / 60
    if minutes > 1:
        forecast = f"n = {model.n}: {PASSES} passes over all pairs, about {minutes:.0f} minutes"
        print(f"strata analyse: {forecast}", file=sys.stderr, flush=True)


def export(args: Namespace) -> str:
    """Write the run in another format, and say to which file."""
    run = Run.parse(args.run)
    ends = {"lens": "-lens.safetensors", "published": ".pt", "activations": "-activations.parquet"}
    out = args.out or Path(f"{run}{ends.get(args.to, '.safetensors')}")
    with of_run(run, "weights.safetensors", args.repository) as path:
        content, (weights, metadata) = store.read_bytes(path), store.read_tensors(path)
    if args.to == "activations":
        from strata.measure import stored  # it needs scipy, whose import takes a second

        stored.write_forward(out, weights, store.task_in(str(run), metadata, run))
        return f"wrote {out}"
    if args.to == "lens":
        model = repository.load(args.run, args.repository)
        content = store.tensors_bytes(
            lens.tensors(model), {"run": str(run), "cfg": lens.config(model)}
        )
    elif args.to == "published":
        with of_run(run, "history.parquet", args.repository) as path:
            if (rows := pq.read_metadata(path).num_rows) > LONGEST:
                raise InputError(f"{path.name}: {rows} rows, must be at most {LONGEST}")
            content = published.export(metadata, weights, store.read_history(path))
    store.write_bytes(out, content)
    return f"wrote {out}"
