"""The columns of the tables of the studies over seeds, splits and data."""

import pandas as pd

from strata.tables.column import Column

STUDIES = {
    "statement": Column("MLP-only models …", "text", "l"),
    "seeds": Column("seeds", "count", missing=""),
    "counted": Column("counted", "text", "l", missing=""),
    "p_test": Column("p", "p", missing=""),
    "said": Column("what is said", "text", "l", missing=""),
    "epoch_mlp": Column("epoch to stay, MLP-only", "count", missing="never"),
    "epoch_transformer": Column("epoch to stay, transformer", "count", missing="never"),
    "accuracy_mlp": Column("accuracy, MLP-only", "share"),
    "accuracy_transformer": Column("accuracy, transformer", "share"),
    "accuracy_gap": Column("difference, points", "share difference"),
    "generalises_mlp": Column("MLP-only generalises", "truth", "l"),
    "generalises_transformer": Column("transformer generalises", "truth", "l"),
    "mixes_mlp": Column("MLP-only mixes", "truth", "l"),
    "mixes_transformer": Column("transformer mixes", "truth", "l"),
    "directions_mlp": Column("directions with primes, MLP-only", "truth", "l"),
    "directions_transformer": Column("directions with primes, transformer", "truth", "l"),
    "p_t": Column("p, t-test", "p"),
    "differ": Column("difference", "text", "l", missing="—"),
    "split_seed": Column("split", "text"),
    "weights_seed": Column("initial weights", "text"),
    "eta_classes": Column("η² of classes, first three components", "share"),
    "r2_classes": Column("R² of the character fit, mean over classes", "share"),
    "fve_classes": Column("FVE, mean over classes", "share"),
    "block_head_0": Column("block score, head 0", "share"),
    "share_split": Column("split", "share"),
    "share_weights": Column("initial weights", "share"),
    "share_rest": Column("rest", "share"),
    "share_rounding": Column("other rounding", "share"),
    "p_holm_split": Column("p, split, Holm", "p"),
    "p_holm_weights": Column("p, initial weights, Holm", "p"),
    "fraction": Column("fraction", "text"),
    "generalises": Column("generalises", "truth", "l", missing="not trained"),
    "epoch_validation": Column(
        "to stay, validation", "count", "r", "never", lambda row: pd.isna(row["generalises"])
    ),
    "mixes": Column("mixes", "truth", "l"),
    "about": Column("about", "text", "l"),
}
