"""What the report shows of a run at the checkpoints of its training."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from strata.report.run_data import digits

Json = dict[str, Any]
# By measure of strata.dynamics.trajectory: what it is, and whether it is a share.
MEASURES = {
    "fve": ("energy of the embedding on the final key frequencies", True),
    "fve_current": ("energy of the embedding on the current key frequencies", True),
    "key_current": ("number of current key frequencies", False),
    "gini_W_E": ("Gini coefficient of the spectrum", True),
    "r2": ("R² of the logits on the final key characters", True),
    "mirror_free_accuracy": ("accuracy over mirror-free pairs, by class of ab", True),
    "mirror_free_class_accuracy": ("answers in the class of ab, right or not", True),
    "class_components": ("principal components of a class", False),
    "pca_components": ("principal components of all residues", False),
    "class_share_added": ("variance between classes, in what training added to W_E", True),
    "probe": ("residues whose class a held-out probe reads from W_E", True),
    "block_score": ("share of attention between class blocks", True),
}


def shown(run: str, frame: pd.DataFrame) -> Json:
    """The measures of a run by what they are of, one value for each checkpoint."""
    epochs = sorted(frame["epoch"].unique().tolist())
    found = {name: dict(series(frame, name, epochs)) for name in MEASURES}
    return {
        "run": run,
        "epochs": epochs,
        "measures": [
            {"name": name, "title": title, "share": share, "of": found[name]}
            for name, (title, share) in MEASURES.items()
            if found[name]
        ],
    }


def series(
    frame: pd.DataFrame, measure: str, epochs: list[int]
) -> Iterator[tuple[str, list[float | None]]]:
    """One measure of each class, of each head, or of the whole; None where it has no value."""
    rows = frame.loc[frame["measure"] == measure]
    for of in sorted(rows["of"].astype(str).unique(), key=lambda x: (len(x), x)):
        own = rows.loc[rows["of"] == of].set_index("epoch")["value"]
        yield of or "all", digits(own.reindex(epochs))
