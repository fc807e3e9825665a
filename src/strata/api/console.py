"""The command ``strata``: ask a trained model, list the runs, write one in another format."""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from strata import store
from strata.api import lens, published, repository
from strata.api.model import Model
from strata.api.repository import of_run
from strata.inputs import InputError, printable
from strata.run import Run
from strata.task import operation

COLUMNS = ["n", "seed", "variant", "architecture", "epochs", "accuracy", "validation"]
COLUMNS += ["generalised", "key", "frequencies", "mixed", "spared", "balanced"]
MEANINGS = (
    "Accuracy: over all pairs. Generalised: whether the validation accuracy ends at 99 % or more. "
    "Key: frequencies that stand out in the embedding. Mixed: those, one of ±k, that belong to "
    "more than one prime of n. Spared: skill left on pairs that should not need a prime whose "
    "directions are removed, in the worst case. Balanced gating: 0 where each class has "
    "coefficients of its own, 1 where classes share those of each prime."
)
PASSES, PAIRS = 16, 4096  # of the network in an analysis; in one that is timed
FORMATS = {
    "lens": "weights under the names of TransformerLens, its configuration as metadata",
    "safetensors": "weights as the repository keeps them",
    "published": "the format of the paper's weights, a file of torch.save",
    "activations": "Parquet with a row for each pair: attention, neurons and logits, each with its "
    "unit and meaning as metadata",
}


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(
        prog="strata", description="Trained models that multiply modulo n. RUN is a name such as "
        "n165-s1: n = 165, seed 1; mlp-n165-s1 is the model without attention.",
    )  # fmt: skip
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument(
        "--repository", metavar="PATH", help="path or address of a clone of strata; by default "
        "STRATA_REPOSITORY, or the clone that this command or the working directory is in",
    )  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    ask = commands.add_parser("ask", parents=[where], help="what a model answers to A · B mod n")
    ask.add_argument("run", metavar="RUN", help="such as n165-s1; strata runs lists them")
    ask.add_argument("a", type=int, metavar="A", help="from 0 to n − 1")
    ask.add_argument("b", type=int, metavar="B", help="from 0 to n − 1")
    about = "the trained runs, and how good they are"
    commands.add_parser("runs", parents=[where], help=about, description=MEANINGS)
    export = commands.add_parser("export", parents=[where], help="write a run in another format")
    export.add_argument("run", metavar="RUN", help="such as n165-s1; strata runs lists them")
    meanings = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    export.add_argument("--to", choices=FORMATS, required=True, help=meanings)
    export.add_argument("--out", type=Path, metavar="FILE", help="by default RUN and the format")
    about = "everything that is measured of a run, of weights of your own"
    formats = "strata, TransformerLens, plain torch modules, or the format of the paper's weights"
    own = commands.add_parser(
        "analyse", parents=[where], help=about, description=f"{about}: a file of {formats} "
        "(docs/models.md). Code in it is never run.",
    )  # fmt: skip
    pairs = "pairs that trained and validated: columns a, b, split (.csv, .parquet), or arrays "
    own.add_argument("file", type=Path, metavar="FILE", help="safetensors, or of torch.save")
    own.add_argument("--n", type=int, metavar="N", help="the modulus, to be checked")
    own.add_argument("--heads", type=int, metavar="H", help="where the file does not say it")
    own.add_argument(
        "--split", type=Path, metavar="FILE", help=f"{pairs}train and validation (.npz, .json, .pt)"
    )
    own.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write tables, the paper's figures and a "
        "page to a new folder, in a minute or more",
    )  # fmt: skip
    return top


def ask(args: argparse.Namespace) -> str:
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


def runs(args: argparse.Namespace) -> str:
    """A line for each run."""
    frame = repository.runs(args.repository).filter(COLUMNS)
    for name in ("accuracy", "validation"):
        frame[name] = frame[name].map("{:.1%}".format, na_action="ignore")
    if "generalised" in frame:
        said = frame["generalised"]
        frame["generalised"] = ["" if pd.isna(x) else "yes" if x else "NO" for x in said]
    with pd.option_context("display.precision", 3):
        return frame.to_string(na_rep="", index_names=False)


def analyse(args: argparse.Namespace) -> str:
    """Measure the file; the page, or where it was written."""
    from strata.api import page  # it needs pandas, sympy and scipy, whose imports take a second
    from strata.api.analysis import Analysis
    from strata.api.foreign import from_weights

    model = from_weights(args.file, args.n, n_heads=args.heads)
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


def export(args: argparse.Namespace) -> str:
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
        content = store.tensors_bytes(tensors(model), {"run": str(run), "cfg": lens.config(model)})
    elif args.to == "published":
        with of_run(run, "history.parquet", args.repository) as path:
            content = published.export(metadata, weights, store.read_history(path))
    store.write_bytes(out, content)
    return f"wrote {out}"


def tensors(model: Model) -> dict[str, np.ndarray]:
    """The state of the model, with the positional embedding that TransformerLens expects: 0."""
    state = {name: x.cpu().numpy() for name, x in model.state_dict().items()}
    if len(model.W_E) > model.n:
        state["pos_embed.W_pos"] = np.zeros((3, model.W_E.shape[1]), np.float32)
    return state


def main() -> None:
    """Run the command. Input that cannot be used ends it with one line and exit code 1."""
    args = parser().parse_args()
    commands = {"ask": ask, "runs": runs, "analyse": analyse, "export": export}
    try:
        with torch.inference_mode():
            print(commands[args.command](args), flush=True)
    except BrokenPipeError:  # who reads has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except InputError as error:
        sys.exit(f"strata {args.command}: {error}")
    except OSError as error:
        said = f"{error.filename or ''}: {error.strerror or error}"
        sys.exit(printable(f"strata {args.command}: {said}"))
