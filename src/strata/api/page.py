"""An analysis on paper: its tables, the figures of the paper, and one page titled by the file."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import mistune
import pandas as pd

from strata import notebook, results, store
from strata.api import operations
from strata.api.analysis import Analysis
from strata.api.model import Model
from strata.inputs import InputError
from strata.measure import stored
from strata.tables import format
from strata.tables.headline import FVE
from strata.tables.table import CLASS, HEAD, Column, Table

DRAW = "stages/figure.py"
FIGURES = {
    "fig01-hierarchy": "spectra of the classes",
    "fig02-pca-dim": "principal components of each class and of as many random elements",
    "fig03-attn-scores": "attention from = to a",
    "fig04-cosine-align": "what head 0 reads and writes of each class",
    "fig05-training": "loss and accuracy over the training, as the file records them",
    "fig06-model": "the network as the paper explains it",
    "fig07-token-fft": "the embedding and its plain Fourier transform",
    "fig08-class-order": "the embedding by class",
    "fig09-class-spectra": "Fourier transform of each class",
    "fig10-embed-pca": "first three principal components of the embedding",
    "fig11-neurons": "neurons over all pairs",
}
SHARE = ("right", "all", "fve", "fve_uniform", "r2", "r2_ceiling", "r2_product", "r2_all")
SHARE += ("self_attention", "block_score", "shuffled", "explained", "share")
HEADINGS = {
    "of": "", "fve": "energy at key frequencies", "fve_uniform": "if even",
    "key_frequencies": "key frequencies", "random": "of random elements", "r2": "R²",
    "r2_ceiling": "R², every frequency", "r2_product": "R², product and candidate",
    "r2_all": "R², all prompts", "ov_components": "OV components", "ov_of": "of",
    "self_attention": "attention to =", "block_score": "class blocks explain",
    "shuffled": "shuffled classes", "prime_power": "prime power", "note": "",
    "answers": "answers are", "task": "measured as that with --task",
}  # fmt: skip
CAPTIONS = {
    "training": "What is known of the model.",
    "answers": "What the answers are, of all pairs: operations that were tried.",
    "accuracy": "Right answers; chance is 1/{order}.",
    "changes": "Right answers after a change: of all pairs, and {by} each {power}.",
    "classes": "Classes J_d{d}, and the spectrum of the embedding.",
    "character_fit": "Share of the centred logits that characters explain, by class of ab.",
    "heads": "Heads: singular values of W_OV for the share of variance; what patterns follow.",
    "neurons": "Neurons by the {power} that explains most of each.",
}
LATEX = (
    "In LaTeX, tables need `\\usepackage{amssymb,booktabs}`; their labels, tab:RUN-NAME, have the "
    "run, so several analyses fit one document. NAME-body.tex is the tabular alone."
)
LEFT = {"of", "stated", "answers", "task", "note", "pairs", "change", "group"}
LEFT |= {"key_frequencies", "sentence", "verdict"}


def column(name: str) -> Column:
    """How a column of a frame is read."""
    known = CLASS | HEAD | FVE
    if name in known and name not in HEADINGS:
        return known[name]
    style = "share" if name in SHARE or name.startswith(("modulo ", "factor ")) else "text"
    style = {"regular": "truth", "group": "symbols", "pairs": "symbols"}.get(name, style)
    style = "count" if name in ("count", "components", "random", "prompts") else style
    align = "l" if name in LEFT else "r"
    return Column(HEADINGS.get(name, name.replace("_", " ")), style, align, missing="")


def table(name: str, frame: pd.DataFrame, caption: str, analysis: Analysis) -> Table:
    """A frame as a table; of a model."""
    columns, about = {x: column(x) for x in frame}, f"{caption} ({analysis.name})"
    return Table(name.replace("_", "-"), about, frame, columns, run=str(analysis.run))


def tables(analysis: Analysis) -> Iterator[Table]:
    """The tables of a page, in its order; where the answers are another operation, those alone that
    say so."""
    task = analysis.task
    sizes = " and ".join(f"{len({*x.tolist()})}" for x in task.factors.values()) or "no unique"
    said = {"by": "by", "power": f"direct factor ({sizes} elements)", "d": " by their numbers"}
    if task.modulus:
        d = f", the residues a with gcd(a, {task.modulus}) = d"
        said = {"by": "modulo", "power": "prime power", "d": d}
    for name, text in CAPTIONS.items():
        caption = text.format(order=analysis.n, **said)
        left_out = ["m", "enrichment", "r2_uniform"]
        frame = analysis.frames[name].drop(columns=left_out, errors="ignore")
        if "note" in frame and not any(frame["note"]):
            frame = frame.drop(columns="note")
        if len(frame) and (not analysis.elsewhere or name in ("training", "answers")):
            yield table(name, frame, caption, analysis)


def verdicts(analysis: Analysis) -> Table:
    """What the mechanism's study says of each of its statements."""
    rows = analysis.mechanism.query("unit == 'truth'")
    caption = "Statements of studies/mechanism/criteria-2.md, by their levels."
    frame = pd.DataFrame(rows, columns=["sentence", "verdict"])
    return table("verdicts", frame, caption, analysis)


def answers(analysis: Analysis) -> str:
    """What the network computes, in a line."""
    task, best = analysis.tried[0], operations.known(analysis.tried)
    said = f"{task.answers} in {format.share(task.right)} of pairs"
    if best in (None, task):
        return f"answers are {said}"
    return f"answers are {best.answers} in {format.share(best.right)}, {said}"


def notes(analysis: Analysis) -> str:
    """What has to be known before a number is believed."""
    source, counts = analysis.model.source, analysis.metrics.pairs
    whole = isinstance(analysis.model, Model)
    said = [f"# {analysis.name}: {answers(analysis)}", ""]
    if source:
        hashed = [f"SHA-256 {source.sha256}."] if source.sha256 else []
        said += [" ".join([f"Taken for {source.format}.", *hashed, *source.notes])]
    if analysis.elsewhere:
        own = max(analysis.tried, key=lambda x: x.right).task
        how = f"; --task {own} gives its own" if own else ""
        said += [f"Tables of {analysis.task} are left out{how}."]
    if not analysis.metrics.finite:
        said += ["It diverged: its logits are not finite, and nothing is measured."]
    if not whole:
        more = "changes of the network, heads, neurons, figures, what the mechanism has of them"
        said += [f"Embedding and logits alone were given. Not measured: {more}."]
    if not counts:
        said += ["No split was given, so nothing is said of training and validation pairs."]
    if analysis.metrics.architecture == "transformer":
        said += ["It reads a and b alike, so a pair whose mirror trained is no test of it."]
    return "\n".join(said) + "\n"


def text(analysis: Analysis) -> str:
    """The page as Markdown, without figures and without the mechanism, which take minutes."""
    return "\n".join([notes(analysis), *map(format.markdown, tables(analysis))])


def write(analysis: Analysis, folder: Path) -> None:
    """A folder with the tables, the figures, the weights as a file of ours, and index.html; all of
    it or nothing. Raises InputError where it is there."""
    if folder.exists():
        raise InputError(f"{folder}: is there already; name another folder")
    if not folder.absolute().parent.is_dir():
        raise InputError(f"{folder}: there is no folder {folder.absolute().parent}")
    with TemporaryDirectory(dir=folder.absolute().parent, prefix=".analysis-") as scratch:
        out = Path(scratch, folder.name)
        out.mkdir()
        if isinstance(analysis.model, Model):
            analysis.write_weights(out / "weights.safetensors")
        store.write_json(out / "metrics.json", analysis.metrics)
        every = [*tables(analysis), table("spectra", analysis.spectra, "Spectra.", analysis)]
        said = [verdicts(analysis)] if len(analysis.mechanism) else []
        format.write([*every, *said], out / "tables")
        results.write_rows(out / "mechanism.parquet", analysis.mechanism)
        drawn = figures(analysis, out)
        parts = [text(analysis), *map(format.markdown, said), LATEX]
        parts += [f"![{FIGURES[x]}](figures/{x}.png)\n\n[{x}](figures/{x}.html): {FIGURES[x]}"
                  for x in drawn]  # fmt: skip
        store.write_text(out / "index.html", html("\n\n".join(parts), analysis.name))
        out.rename(folder)


def figures(analysis: Analysis, out: Path) -> list[str]:
    """Draw the paper's figures by the notebooks of the clone; which. None where it has none, of a
    model that diverged, and of embedding and logits."""
    if (
        not isinstance(analysis.model, Model)
        or not analysis.metrics.finite
        or not (analysis.top / DRAW).is_file()
    ):
        return []
    names = ("weights.safetensors", "metrics.json", "activations", "history.parquet")
    inputs = {name.partition(".")[0]: out / name for name in names}
    labels = [x for x in FIGURES if x != "fig05-training"]
    stored.write_forward(inputs["activations"], analysis.weights, analysis.task)
    if not len(analysis.history):
        del inputs["history"]
    else:
        labels.append("fig05-training")
        columns = {str(k): x.to_numpy() for k, x in analysis.history.items()}
        store.write_history(inputs["history"], columns)
    given = [f"--input={name}={path}" for name, path in inputs.items()]
    analysis.in_clone(DRAW, *labels, *given, f"--run={analysis.run}", f"--out={out / 'figures'}")
    inputs["activations"].unlink()
    return sorted(labels)


def html(markdown: str, title: str) -> str:
    """A page of its own."""
    body = mistune.create_markdown(plugins=["table"])(markdown)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{notebook.CSS}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )
