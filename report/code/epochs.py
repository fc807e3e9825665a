"""What the report shows of a run at the checkpoints of its training."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from ops import provenance
from report.code.run_data import digits, pack
from studies.dynamics.code import grokking, table

Json = dict[str, Any]
# By measure of studies.dynamics.code.trajectory: what it is, and whether it is a share.
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


def of(frame: pd.DataFrame | None) -> list[int]:
    """The epochs of a table; none of no table."""
    return [] if frame is None else sorted(frame["epoch"].unique().tolist())


def scripts(run: str, measured: pd.DataFrame, found: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """The measures of a run over its training, and its embedding, as pages load them: file and
    text of each."""
    yield f"site/epochs-{run}.js", provenance.script("checkpoints", shown(run, measured))
    yield f"site/embedding-{run}.js", provenance.script("through", embedding(run, found, measured))


def shown(run: str, frame: pd.DataFrame) -> Json:
    """The measures of a run by what they are of, one value for each checkpoint."""
    epochs = of(frame)
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


def embedding(run: str, found: pd.DataFrame, measured: pd.DataFrame) -> Json:
    """The embedding of a run at its checkpoints: amplitudes of each class and residues on three
    principal components, 12 bits a number, and how many mirror-free pairs were right then."""
    kinds = found["of"].astype(str).unique()
    right = table.curve(measured, "mirror_free_accuracy").reindex(of(found))
    rows = {kind: grokking.matrix(found, kind) for kind in kinds}
    return {
        "run": run,
        "epochs": of(found),
        "right": digits(right),
        "classes": {kind[1:]: pack(rows[kind]) for kind in kinds if kind.startswith("J")},
        "points": [pack(rows[kind]) for kind in kinds if kind.startswith("PC")],
        "share": [digits(row) for row in rows["share"]],
    }


def series(
    frame: pd.DataFrame, measure: str, epochs: list[int]
) -> Iterator[tuple[str, list[float | None]]]:
    """One measure of each class, of each head, or of the whole; None where it has no value."""
    rows = frame.loc[frame["measure"] == measure]
    for name in sorted(rows["of"].astype(str).unique(), key=lambda x: (len(x), x)):
        own = rows.loc[rows["of"] == name].set_index("epoch")["value"]
        yield name or "all", digits(own.reindex(epochs))
