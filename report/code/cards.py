"""A line for each run, which ``strata.runs`` shows, and its model card: what the run is, how it was
trained and on what, how good it is, and its oddities.

After Mitchell et al., Model Cards for Model Reporting, 2019. site/card.html and site/cards.html are
the templates; docs/models.md says what each column of the lines is.
"""

import hashlib
from pathlib import Path
from typing import Any

from ops.provenance import md5
from report.code.site import rendered
from strata import store
from strata.measure.metrics import Metrics
from strata.run import Run

Json = dict[str, Any]
MEASURED = {"run", "n", "seed", "architecture", "epochs", "generalised"}  # as the metrics say it


def line(metrics: Metrics, interventions: Json, logits: Json) -> Json:
    """What a run is, how well it answers, and what it has; of two studies the results, empty where
    there are none. None where a run has not that number."""
    accuracy, at = metrics.accuracy, logits.get("at") or {}
    return metrics.model_dump(mode="json", include=MEASURED) | {
        "variant": Run.parse(metrics.run).variant,
        "accuracy": accuracy.all,
        "validation": accuracy.validation,
        "mirror_free": accuracy.mirror_free,
        "epoch_099": metrics.epoch_099.validation,
        "key": sum(c.key or 0 for c in metrics.classes),
        "frequencies": sum(c.total or 0 for c in metrics.classes),
        "mixed": at.get("mixed"),
        "spared": spared(interventions),
        "balanced": at.get("balanced"),
    }


def spared(interventions: Json) -> float | None:
    """The least skill on pairs without an axis, over all classes and axes removed."""
    removed = [x for x in interventions.get("specificity", ()) if x["axis"] is not None]
    known = [own["skill"] for x in removed if (own := x["regions"].get("spared"))]
    return min((x for x in known if x is not None), default=None)


def card(line: Json, metrics: Metrics, folder: Path, gating: float | None) -> str:
    """The page of one run; ``folder`` has its weights, history and environment, ``gating`` is that
    of the study of the mechanism."""
    paths = [folder / name for name in ("weights.safetensors", "history.parquet")]
    weights, settings = store.read_tensors(paths[0])
    return rendered(
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
