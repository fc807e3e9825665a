"""The columns of the tables of the studies over seeds, splits and data."""

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
}
