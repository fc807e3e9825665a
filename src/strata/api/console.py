"""Run the command ``strata``: ask a trained model, list the runs, export one, analyse weights."""

import argparse
import os
import sys
from io import TextIOWrapper
from pathlib import Path

from strata.inputs import InputError, printable

MEANINGS = (
    "Accuracy: over all pairs. Generalised: whether the validation accuracy ends at 99 % or more. "
    "Key: frequencies that stand out in the embedding. Mixed: those, one of ±k, that belong to "
    "more than one prime of n. Spared: skill left on pairs that should not need a prime whose "
    "directions are removed, in the worst case. Balanced gating: 0 where each class has "
    "coefficients of its own, 1 where classes share those of each prime."
)
FORMATS = {
    "lens": "weights under the names of TransformerLens, its configuration as metadata",
    "safetensors": "weights as the repository keeps them",
    "published": "the format of the paper's weights, a file of torch.save",
    "activations": "Parquet with a row for each pair: attention, neurons and logits, each with its "
    "unit and meaning as metadata",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the commands and their options."""
    top = argparse.ArgumentParser(
        prog="strata", description="Trained models that multiply modulo n. RUN is a name such as "
        "n165-s1: n = 165, seed 1; mlp-n165-s1 is the model without attention.",
    )  # fmt: skip
    clone = argparse.ArgumentParser(add_help=False)
    clone.add_argument(
        "--repository", metavar="PATH", help="path or address of a clone of strata; by default "
        "STRATA_REPOSITORY, or the clone that this command or the working directory is in",
    )  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    ask = commands.add_parser("ask", parents=[clone], help="what a model answers to A · B mod n")
    ask.add_argument("run", metavar="RUN", help="such as n165-s1; strata runs lists them")
    ask.add_argument("a", type=int, metavar="A", help="from 0 to n − 1")
    ask.add_argument("b", type=int, metavar="B", help="from 0 to n − 1")
    about = "the trained runs, and how good they are"
    commands.add_parser("runs", parents=[clone], help=about, description=MEANINGS)
    export = commands.add_parser("export", parents=[clone], help="write a run in another format")
    export.add_argument("run", metavar="RUN", help="such as n165-s1; strata runs lists them")
    meanings = "; ".join(f"{name}: {meaning}" for name, meaning in FORMATS.items())
    export.add_argument("--to", choices=FORMATS, required=True, help=meanings)
    export.add_argument("--out", type=Path, metavar="FILE", help="by default RUN and the format")
    about = "everything that is measured of a run, of weights of your own"
    formats = "strata, TransformerLens, plain torch modules, or the format of the paper's weights"
    analyse = commands.add_parser(
        "analyse", parents=[clone], help=about, description=f"{about}: a file of {formats} "
        "(docs/models.md). Code in it is never run.",
    )  # fmt: skip
    pairs = "pairs that trained and validated: columns a, b, split (.csv, .parquet), or arrays "
    kinds = "safetensors, or of torch.save, or the name of a run; none with --logits"
    analyse.add_argument("file", nargs="?", type=Path, metavar="FILE", help=kinds)
    arrays = "in the place of FILE, of a network of any shape: an array (n², n), row an + b, .npy"
    analyse.add_argument("--logits", type=Path, metavar="FILE", help=arrays)
    rows = "beside --logits: an array with a row for each token, .npy"
    analyse.add_argument("--embedding", type=Path, metavar="FILE", help=rows)
    again = "which weight a tensor with a name of your own is; once for each"
    analyse.add_argument("--rename", action="append", default=[], metavar="MINE=W_E", help=again)
    analyse.add_argument("--n", type=int, metavar="N", help="the modulus, to be checked")
    guess = "where the file does not say it; else the number that fits the answers best"
    analyse.add_argument("--heads", type=int, metavar="H", help=guess)
    task = "another task than multiplication, such as C21, chain21, units, a file with a Cayley "
    task += "table, or answers: the network's own table (docs/models.md)"
    analyse.add_argument("--task", metavar="TASK", help=task)
    analyse.add_argument(
        "--split", type=Path, metavar="FILE", help=f"{pairs}train and validation (.npz, .json, .pt)"
    )
    analyse.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write tables, the paper's figures and a "
        "page to a new folder, in a minute or more",
    )  # fmt: skip
    return top


def main() -> None:
    """Run the command. Input that cannot be used ends it with one line and exit code 1."""
    args = parser().parse_args()
    if isinstance(sys.stdout, TextIOWrapper):  # its encoding may be ASCII
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if args.command == "analyse" and args.file:
            from strata.api import foreign  # before torch, whose import takes seconds

            if not foreign.names_run(args.file):
                foreign.weights_file(args.file)
        from strata.api import commands  # torch and pandas take seconds, which help can do without

        print(commands.run_command(args), flush=True)
    except BrokenPipeError:  # the reader has enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except InputError as error:
        sys.exit(printable(f"strata {args.command}: {error}"))
    except OSError as error:
        reason = f"{error.filename or 'output'}: {error.strerror or error}"
        sys.exit(printable(f"strata {args.command}: {reason}"))
