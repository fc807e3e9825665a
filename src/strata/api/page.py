"""Write an analysis as tables, the figures of the paper, and one page titled by the file."""

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import mistune
import pandas as pd

from strata import notebook, results, store
from strata.api import clones
from strata.api.model import Model
from strata.inputs import InputError
from strata.measure import stored
from strata.picture import Picture
from strata.tables import format
from strata.tables.headline import FVE
from strata.tables.table import CLASS, HEAD, Column, Table

if TYPE_CHECKING:
    from strata.api.analysis import Analysis

DRAW = "stages/figure.py"
ALT = re.compile(r'<img[^>]* alt="([^"]*)"')
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
    "fails": "does not hold", "sentence": "",
}  # fmt: skip
CAPTIONS = {
    "training": "What the files say of the model.",
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
CONTROLS = "permuted", "others"  # how the ids of controls end
PASSES, UNTOLD = "passes too", "cannot be told here: the control passes too"
LEFT = {"of", "stated", "answers", "task", "note", "pairs", "change", "group"}
LEFT |= {"key_frequencies", "sentence", "verdict"}


def column(name: str) -> Column:
    """Return how a table shows a column of a frame."""
    columns = CLASS | HEAD | FVE
    if name in columns and name not in HEADINGS:
        return columns[name]
    style = "share" if name in SHARE or name.startswith(("modulo ", "factor ")) else "text"
    style = {"regular": "truth", "pairs": "symbols"}.get(name, style)
    style = "count" if name in ("count", "components", "random", "prompts") else style
    align = "l" if name in LEFT else "r"
    return Column(HEADINGS.get(name, name.replace("_", " ")), style, align, missing="")


def table(name: str, frame: pd.DataFrame, caption: str, analysis: "Analysis") -> Table:
    """Return a frame as a table whose caption names the model."""
    columns, about = {x: column(x) for x in frame}, f"{caption} ({analysis.name})"
    return Table(name.replace("_", "-"), about, frame, columns, run=str(analysis.run))


def tables(analysis: "Analysis") -> Iterator[Table]:
    """Yield the tables of a page, in its order; where the answers are another operation, those
    alone that say so."""
    task = analysis.task
    sizes = " and ".join(f"{len({*x.tolist()})}" for x in task.factors.values()) or "no unique"
    words = {"by": "by", "power": f"direct factor ({sizes} elements)", "d": " by their numbers"}
    if task.modulus:
        d = f", the residues a with gcd(a, {task.modulus}) = d"
        words = {"by": "modulo", "power": "prime power", "d": d}
    always = ("training",) if not analysis.has_answers else ("training", "answers")
    for name, text in CAPTIONS.items():
        caption = text.format(order=analysis.n, **words)
        left_out = ["m", "enrichment", "r2_uniform"]
        frame = analysis.frames[name].drop(columns=left_out, errors="ignore")
        if "note" in frame and not any(frame["note"]):
            frame = frame.drop(columns="note")
        hidden = analysis.left_out or not analysis.has_answers
        if len(frame) and (name in always or not hidden):
            yield table(name, frame, caption, analysis)


def verdict_words(rows: pd.DataFrame) -> list[str]:
    """Return the verdicts in words: a statement of which controls alone do not hold cannot be told,
    as a number that has to be low without the mechanism is not."""
    fails, is_statement = rows["verdict"] == results.FAILS, rows["unit"] == "truth"
    parts = rows["id"].str.partition("-")
    statement, control = parts[0], parts[2].isin(CONTROLS)
    numbers, controls = (statement[fails & ~is_statement & x] for x in (~control, control))
    untold = fails & is_statement & statement.isin(controls) & ~statement.isin(numbers)
    return rows["verdict"].mask(fails & control, PASSES).mask(untold, UNTOLD).tolist()


def verdicts(analysis: "Analysis") -> Iterator[Table]:
    """Yield a table of what the mechanism's study says of each of its statements, and one of the
    numbers that this rests on, with their levels; none where they would say nothing."""
    rows = analysis.mechanism
    if rows.empty:
        return
    rows = rows.assign(verdict=verdict_words(rows))
    statements = rows[(rows["unit"] == "truth") & (rows["verdict"] != "")]
    numbers = rows[(rows["unit"] != "truth") & rows["holds"].notna() & (rows["measure"] == "")]
    network = rows[rows["id"] == "votes-network"]
    if len(statements):
        caption = "Statements of studies/mechanism/criteria-2.md, by their levels."
        columns = ["sentence", "verdict"]
        yield table("verdicts", pd.DataFrame(statements, columns=columns), caption, analysis)
    if len(numbers):
        columns = ["sentence", "value", "holds", "fails", "verdict"]
        frame = pd.DataFrame(pd.concat([numbers, network]), columns=columns)
        texts = {x: frame[x].map(number, na_action="ignore") for x in ("value", "holds", "fails")}
        caption = "Numbers that they rest on, and from where each holds and does not hold."
        yield table("levels", frame.assign(**texts), caption, analysis)


def number(x: float) -> str:
    """Return a number with three decimals, a whole one without."""
    return f"{x:.0f}" if x == round(x) and abs(x) > 1 else f"{x:.3f}"


def notes(analysis: "Analysis") -> str:
    """Say what has to be known before a number is believed."""
    source, counts = analysis.model.source, analysis.metrics.pairs
    has_weights = isinstance(analysis.model, Model)
    lines = [f"# {analysis.name}: {analysis.sentence}", ""]
    if source:
        hashed = [f"SHA-256 {source.sha256}."] if source.sha256 else []
        lines += [" ".join([f"Taken for {source.format}.", *hashed, *source.notes])]
    if analysis.has_answers:
        lines += [f"The table of its answers: {analysis.reading.laws}."]
    lines += [analysis.left_out] * bool(analysis.left_out)
    if not analysis.metrics.finite:
        lines += ["It diverged: its logits are not finite, and nothing is measured."]
    if not has_weights:
        parts = "changes of the network, heads, neurons, figures, what the mechanism has of them"
        given = "Embedding and logits" if analysis.model.has_embedding else "Logits"
        lines += [f"{given} alone were given. Not measured: {parts}."]
    if not counts:
        lines += ["No split was given, so nothing is said of training and validation pairs."]
    if analysis.metrics.architecture == "transformer":
        lines += ["It reads a and b alike, so a pair whose mirror trained is no test of it."]
    return "\n".join(lines) + "\n"


def votes(analysis: "Analysis") -> str:
    """Say what the votes of the direct factors explain; empty where there are no several."""
    if analysis.left_out or not analysis.has_answers or len(analysis.task.factors) < 2:
        return ""
    voting, factors = analysis.voting, ", ".join(map(str, analysis.task.factors))
    by = "modulo" if analysis.task.modulus else "by the factors"
    return (
        f"Votes {by} {factors} explain {format.share(voting.share)} of the mean logits of "
        f"all products. They are right in {format.share(voting.right)} of pairs, and answer as the "
        f"network does in {format.share(voting.same)}.\n"
    )


def text(analysis: "Analysis") -> str:
    """Return the page as Markdown, with the verdicts on the mechanism and without figures."""
    why = analysis.no_mechanism
    parts = [notes(analysis), votes(analysis), *map(format.markdown, verdicts(analysis))]
    parts += [f"Nothing is said of the mechanism: {why}.\n"] * bool(why)
    return "\n".join([*filter(None, parts), *map(format.markdown, tables(analysis))])


def summary(analysis: "Analysis") -> str:
    """Return the first lines of the page, votes, three tables, and verdicts where they have been
    measured, which takes longer."""
    measured = verdicts(analysis) if "mechanism" in vars(analysis) else []
    names = ("answers", "accuracy", "classes")
    selected = [x for x in tables(analysis) if x.name in names]
    parts = [notes(analysis), votes(analysis), *map(format.markdown, [*measured, *selected])]
    return "\n".join(filter(None, parts))


def write(analysis: "Analysis", folder: Path) -> None:
    """Write a folder with the tables, the figures, the weights as a file of strata, and index.html;
    all of it or nothing. Raises InputError where the folder exists."""
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
        spectra = [] if analysis.left_out else [analysis.spectra]
        measured = [
            *tables(analysis),
            *(table("spectra", x, "Spectra.", analysis) for x in spectra),
        ]
        format.write([*measured, *verdicts(analysis)], out / "tables")
        results.write_rows(out / "mechanism.parquet", analysis.mechanism)
        alts = figures(analysis, out)
        parts = [text(analysis), LATEX]
        parts += [f"![{alt}](figures/{x}.png)\n\n[{x}](figures/{x}.html): {alt}"
                  for x, alt in alts.items()]  # fmt: skip
        store.write_text(out / "index.html", html("\n\n".join(parts), analysis.name))
        out.rename(folder)


def figures(analysis: "Analysis", out: Path) -> dict[str, str]:
    """Draw the paper's figures by the notebooks of the clone, and return what each shows, by name.
    There are none where the clone has no notebooks, for a model that diverged or computes something
    else than its task, and for embedding and logits."""
    if not_drawn(analysis):
        return {}
    labels = drawable(analysis)
    draw(analysis, out, labels)
    htmls = {x: (out / "figures" / f"{x}.html").read_text("utf-8") for x in labels}
    return {x: unescape("".join(ALT.findall(text)[-1:])) for x, text in htmls.items()}


def drawable(analysis: "Analysis") -> list[str]:
    """Return the figures of the paper that a network has: that of training with a history alone."""
    listed = notebook.single_run_notebooks(analysis.top / "notebooks")
    return [x for x in listed if x != "fig05-training" or len(analysis.history)]


def not_drawn(analysis: "Analysis") -> str:
    """Return why the paper's figures are not drawn of a network; empty where they are."""
    if not isinstance(analysis.model, Model):
        return "the paper's figures need the weights of a network that strata loads"
    if not analysis.has_answers or analysis.left_out:
        return f"the paper's figures say nothing of it: {analysis.sentence}"
    if not (analysis.top / DRAW).is_file():
        return "the paper's figures need a clone of strata with its environment: give repository="
    return ""


def draw(analysis: "Analysis", out: Path, labels: Sequence[str]) -> None:
    """Draw figures of the paper into out/figures. Files that their notebooks read are in ``out``
    or are written there, and those that are large are removed."""
    names = ("weights.safetensors", "metrics.json", "activations", "history.parquet")
    inputs = {name.partition(".")[0]: out / name for name in names}
    stored.write_forward(inputs["activations"], analysis.weights, analysis.task)
    if not len(analysis.history):
        del inputs["history"]
    else:
        columns = {str(k): x.to_numpy() for k, x in analysis.history.items()}
        store.write_history(inputs["history"], columns)
    needed = {x: notebook.parameters(analysis.top / "notebooks" / f"{x}.ipynb") for x in labels}
    options = [f"--input={k}={x}" for k, x in inputs.items() if k in set().union(*needed.values())]
    options += [f"--run={analysis.run}", f"--out={out / 'figures'}"]
    clones.run_script(analysis.top, Path(DRAW), *labels, *options)
    inputs["activations"].unlink()


def figure(analysis: "Analysis", name: str) -> Picture:
    """Draw a figure of the paper, such as fig07 or fig07-token-fft. Raises InputError for another
    name, and where there is nothing to draw."""
    listed = drawable(analysis)
    labels = [x for x in listed if name in (x, x.partition("-")[0])]
    if listed and not labels:
        allowed = ", ".join(x.partition("-")[0] for x in listed)
        raise InputError(f"plot: {name!r:.20}: must be votes or one of {allowed}")
    if why := not_drawn(analysis):
        raise InputError(f"plot: {name}: {why}")
    with TemporaryDirectory() as scratch:
        analysis.write_weights(Path(scratch, "weights.safetensors"))
        store.write_json(Path(scratch, "metrics.json"), analysis.metrics)
        draw(analysis, Path(scratch), labels)
        return Picture(Path(scratch, "figures", f"{labels[0]}.png").read_bytes())


def body(markdown: str) -> str:
    """Return HTML from Markdown."""
    return str(mistune.create_markdown(plugins=["table"])(markdown))


def html(markdown: str, title: str) -> str:
    """Return a whole page of HTML from Markdown."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{notebook.CSS}</style>\n</head>\n"
        f"<body>\n{body(markdown)}</body>\n</html>\n"
    )
