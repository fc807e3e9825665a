"""Model cards: what a run is, how it was trained and on what, how good it is, and its oddities.

After Mitchell et al., Model Cards for Model Reporting, 2019. site/card.html and site/cards.html are
the templates.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import jinja2

from ops.provenance import md5
from report.code.site import BAR, environment
from report.code.summary import RunSummary
from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run
from strata.tables.format import SUBSCRIPT
from studies.interventions.code.levels import LEVELS

KINDS = {
    "transformer": "a one-layer transformer that reads a, b and = and answers at =",
    "mlp": "a network of one hidden layer that reads the embeddings of a and b side by side",
}


def card(line: RunSummary, metrics: Metrics, folder: Path) -> str:
    """The page of one run; ``folder`` has its weights, history and environment."""
    weights, metadata = store.read_tensors(folder / "weights.safetensors")
    paths = [folder / name for name in ("weights.safetensors", "history.parquet")]
    weights_bytes = store.read_bytes(paths[0])
    return template("card.html").render(
        run=Run.parse(line.run),
        line=line,
        kind=KINDS[line.architecture],
        metrics=metrics,
        settings=metadata,
        parameters=sum(x.size for x in weights.values()),
        environment=store.read_json(folder / "environment.json"),
        oddities=[*oddities(line, metrics)],
        wrong=round((1 - line.accuracy) * line.n**2),
        files=[(path.as_posix(), md5(path)) for path in paths],
        sha256=hashlib.sha256(weights_bytes).hexdigest(),
    )


def index(lines: Sequence[RunSummary]) -> str:
    """The list of all runs."""
    return template("cards.html").render(lines=lines)


def oddities(line: RunSummary, metrics: Metrics) -> Iterator[str]:
    """What a reader should know before resting something on this run."""
    if not metrics.finite:
        yield "It diverged: weights, logits or loss are not finite."
    if not line.generalised:
        yield "It did not generalise: its validation accuracy does not end at 99 % or more."
    if line.mixed:
        yield (
            f"It mixes primes: {line.mixed} of its {line.key} key frequencies are nonzero on the "
            "axes of more than one prime."
        )
    if line.spared is not None and line.spared < LEVELS.intact:
        yield (
            f"Its directions do not belong to single primes: without those of one, a skill of "
            f"{line.spared:.2f} is left on pairs that do not have the axis of that prime."
        )
    irregular = [f"J{str(c.d).translate(SUBSCRIPT)}" for c in metrics.classes if not c.regular]
    if irregular:
        yield f"n is not square-free: {', '.join(irregular)} are not groups."
    relapses = metrics.epoch_099.train_relapses
    if relapses:
        yield (
            "After it first got 99 % of the training pairs it fell below again, for "
            f"{relapses:,} epochs in all."
        )


def percent(share: float | None) -> str:
    """A share as a percentage of three digits; 100 % means every one.

    >>> percent(0.98765), percent(0.3), percent(0.99996), percent(1.0), percent(None)
    ('98.8 %', '30 %', '> 99.9 %', '100 %', '–')
    """
    if share is None:
        return "–"
    text = f"{100 * share:.3g} %"
    return "> 99.9 %" if share < 1 and text == "100 %" else text


def template(name: str) -> jinja2.Template:
    """A page of site/, under the bar of the report."""
    found = environment()
    found.filters |= {"percent": percent, "thousands": "{:,}".format}
    found.globals |= {"root": "../", "bar": BAR, "here": "cards/index.html"}
    return found.get_template(name)
