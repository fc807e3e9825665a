"""Model cards: what a run is, how it was trained and on what, how good it is, and its oddities.

After Mitchell et al., Model Cards for Model Reporting, 2019. site/card.html and site/cards.html are
the templates.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ops.provenance import md5
from report.code.site import PLAIN, rendered
from report.code.summary import RunSummary
from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run

HERE = "cards/index.html"
KINDS = {
    "transformer": "a one-layer transformer that reads a, b and = and answers at =",
    "mlp": "a network of one hidden layer that reads the embeddings of a and b side by side",
}


def card(line: RunSummary, metrics: Metrics, folder: Path, gating: float | None) -> str:
    """The page of one run; ``folder`` has its weights, history and environment, ``gating`` is that
    of the study of the mechanism."""
    paths = [folder / name for name in ("weights.safetensors", "history.parquet")]
    weights, metadata = store.read_tensors(paths[0])
    return rendered(
        "card.html",
        "../",
        HERE,
        scripts=PLAIN,
        run=Run.parse(line.run),
        line=line,
        kind=KINDS[line.architecture],
        metrics=metrics,
        gating=gating,
        settings=metadata,
        parameters=sum(x.size for x in weights.values()),
        environment=store.read_json(folder / "environment.json"),
        oddities=[*oddities(line, metrics)],
        wrong=round((1 - line.accuracy) * line.n**2),
        files=[(path.as_posix(), md5(path)) for path in paths],
        sha256=hashlib.sha256(store.read_bytes(paths[0])).hexdigest(),
    )


def index(lines: Sequence[RunSummary]) -> str:
    """The list of all runs."""
    return rendered("cards.html", "../", HERE, scripts=PLAIN, lines=lines)


def oddities(line: RunSummary, metrics: Metrics) -> Iterator[str]:
    """What a reader should know before resting something on this run."""
    if not metrics.finite:
        yield "It diverged: weights, logits or loss are not finite."
    if line.generalised is False:
        yield "It did not generalise: its validation accuracy does not end at 99 % or more."
    if line.mixed:
        yield (
            f"It mixes primes: {line.mixed} of its key frequencies, one of ±k, are nonzero on the "
            "axes of more than one prime."
        )
    if irregular := [f"J_{c.d}" for c in metrics.classes if not c.regular]:
        yield f"n is not square-free: {', '.join(irregular)} are not groups."
    if relapses := metrics.epoch_099.train_relapses:
        yield (
            "After it first got 99 % of the training pairs it fell below again, for "
            f"{relapses:,} epochs in all."
        )
