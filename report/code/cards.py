"""A line for each run, which ``strata.runs`` shows, and its model card: what the run is, how it was
trained and on what, how good it is, and its oddities.

After Mitchell et al., Model Cards for Model Reporting, 2019. site/card.html and site/cards.html are
the templates; docs/models.md says what each column of the lines is.
"""

import hashlib
from pathlib import Path
from typing import Any

from ops.provenance import md5
from report.code.site import render
from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run

Json = dict[str, Any]
LINE_FIELDS = {"run", "n", "seed", "architecture", "epochs", "generalised"}  # of the metrics


def line(metrics: Metrics, interventions: Json, accounts: Json) -> Json:
    """Return what a run is, how well it answers, and what it has. ``interventions`` and
    ``accounts`` hold the results of the interventions and of the first accounts, and are empty
    where there are none. A number that a run does not have is None."""
    accuracy = metrics.accuracy
    return metrics.model_dump(mode="json", include=LINE_FIELDS) | {
        "variant": Run.parse(metrics.run).variant,
        "accuracy": accuracy.all,
        "validation": accuracy.validation,
        "mirror_free": accuracy.mirror_free,
        "epoch_099": metrics.epoch_099.validation,
        "key": sum(c.key or 0 for c in metrics.classes),
        "frequencies": sum(c.total or 0 for c in metrics.classes),
        "mixed": accounts.get("mixed"),
        "spared": least_skill_spared(interventions),
        "balanced": accounts.get("balanced"),
    }


def least_skill_spared(interventions: Json) -> float | None:
    """Return the least skill on pairs without an axis, over all classes and axes removed."""
    removed = [x for x in interventions.get("specificity", ()) if x["axis"] is not None]
    regions = [x["regions"].get("spared") for x in removed]
    return min((x["skill"] for x in regions if x and x["skill"] is not None), default=None)


def card(line: Json, metrics: Metrics, folder: Path, gating: float | None) -> str:
    """Render the page of one run. ``folder`` has its weights, history and environment; ``gating``
    is that of the first accounts."""
    paths = [folder / name for name in ("weights.safetensors", "history.parquet")]
    weights, settings = store.read_tensors(paths[0])
    return render(
        "card.html",
        "../",
        run=Run.parse(metrics.run),
        line=line,
        metrics=metrics,
        gating=gating,
        settings=settings,
        parameters=sum(x.size for x in weights.values()),
        environment=store.read_json(folder / "environment.json"),
        wrong=round((1 - metrics.accuracy.all) * metrics.order**2),
        files=[(path.as_posix(), md5(path)) for path in paths],
        sha256=hashlib.sha256(store.read_bytes(paths[0])).hexdigest(),
    )
