"""What the report shows of a run at the checkpoints of its training, from two long tables: measures
of the whole network, and spectra and principal components of the embedding."""

from typing import Any

import pandas as pd

from report.code.run_data import digits, pack

Json = dict[str, Any]
# By measure: what it is, and whether it is a share.
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


def epochs(frame: pd.DataFrame) -> list[int]:
    """Return the checkpoints of a table."""
    return sorted(frame["epoch"].unique().tolist())


def measures(run: str, frame: pd.DataFrame) -> Json:
    """Return each measure (columns epoch, measure, of, value) by class, by head or of the whole
    network, with one value for each checkpoint, None where it has none."""
    entries = []
    for name, (title, share) in MEASURES.items():
        rows = frame.loc[frame["measure"] == name].astype({"of": str})
        values = rows.pivot(index="epoch", columns="of", values="value").reindex(epochs(frame))
        series = {x or "all": digits(values[x]) for x in sorted(values, key=lambda x: (len(x), x))}
        if series:
            entries.append({"name": name, "title": title, "share": share, "of": series})
    return {"run": run, "epochs": epochs(frame), "measures": entries}


def embedding(run: str, frame: pd.DataFrame, measured: pd.DataFrame) -> Json:
    """Return the amplitudes of each class and the residues on three principal components (columns
    epoch, of, place, value), 8 bits a number, and how many mirror-free pairs were right then."""
    kinds = frame["of"].astype(str)
    rows = {
        x: frame.loc[kinds == x].pivot(index="epoch", columns="place", values="value").to_numpy()
        for x in kinds.unique()
    }
    right = measured.loc[(measured["measure"] == "mirror_free_accuracy") & (measured["of"] == "")]
    return {
        "run": run,
        "epochs": epochs(frame),
        "right": digits(right.set_index("epoch")["value"].reindex(epochs(frame))),
        "classes": {kind[1:]: pack(rows[kind]) for kind in rows if kind.startswith("J")},
        "points": [pack(rows[kind]) for kind in rows if kind.startswith("PC")],
        "share": [digits(row) for row in rows["share"]],
    }
