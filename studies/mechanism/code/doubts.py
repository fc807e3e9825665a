"""What bears on the verdicts of criteria-2.md and was asked after them: no verdict rests on it.

Sizes of what replaces the neurons, the loss of the last layer, statements together, networks
without a value, and how far the intervals depend on a level and on runs of one modulus being alike.
"""

from math import nan

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import beta

from strata.results import HOLDS
from strata.statistics import share_interval
from strata.tables.table import ID, Cells, Column, Table, count_of
from studies.mechanism.code.decide import SENTENCES, STATEMENTS
from studies.mechanism.code.models import FRESH, MLP, ONE, Models
from studies.params import MechanismParams

DRAWS = 10_000  # of the bootstrap over moduli
STRICT = 0.99  # Bonferroni's level of five statements, each at 95 %
COUNTS = {
    "together": "all five statements hold at once",
    "code-complete": "the code holds, and each of its measures has a value",
    "alone": "where primes interact, angles of one prime alone leave at most a tenth of it",
    "one-prime": "the last layer, where n is prime",
    "mlp": "the last layer of MLP-only models",
    "larger": "the neurons' tables hold more numbers than the network has weights",
}
NUMBERS = {
    "tables": ("numbers in the neurons' tables, over the network's weights", "ratio"),
    "permuted": ("right answers with tables as large, of permuted residues", "share"),
    "loss": ("loss of the network's last layer, over the least", "ratio"),
    "cosine": ("cosine of its columns with those of the least loss", "index"),
    "interaction": ("interaction left by angles of one prime", "share"),
}


def tables(networks: Models, params: MechanismParams) -> tuple[Table, ...]:
    """Return what was counted and measured beside the criteria, and how firm the verdicts are."""
    generalising = networks.where(networks.accuracy >= params.accuracy)
    fresh = generalising.where(generalising.kind == FRESH)
    about = "Counted after the criteria: no verdict rests on it. With 95 % intervals."
    beside = "Sizes and losses of the fresh networks."
    firm = "How firm the verdicts are: at 99 %, and where runs of one modulus are alike."
    return (
        Table("mechanism-counts", about, counts(generalising, params), COUNTED),
        Table("mechanism-sizes", beside, sizes(fresh), SIZES),
        Table("mechanism-firm", firm, firmness(fresh), FIRM),
    )


def counts(networks: Models, params: MechanismParams) -> pd.DataFrame:
    """Count the networks for which a sentence is true, and name those without a value."""
    fresh = networks.where(networks.kind == FRESH)
    five = pd.DataFrame({id: fresh.verdict(id) for id in STATEMENTS})
    across = fresh.numbers("code-across")
    left = fresh.numbers("interaction", "left by angles of one prime").dropna()
    unmeasured = ", ".join(str(x) for x in across.index if np.isnan(across[x]))
    decoding = networks.verdict("decoding")
    truths = {
        "together": (five == HOLDS).all(axis=1),
        "code-complete": (five["code"] == HOLDS) & across.notna(),
        "alone": left <= params.measures.levels.gates[0],
        "one-prime": decoding[networks.kind == ONE] == HOLDS,
        "mlp": decoding[networks.kind == MLP] == HOLDS,
        "larger": table_ratio(fresh) > 1,
    }
    rows = []
    for id, true in truths.items():
        low, high = share_interval(int(true.sum()), len(true))
        row: Cells = {"id": id, "sentence": COUNTS[id], "true": int(true.sum()), "runs": len(true)}
        missing = unmeasured if id == "code-complete" else ""
        rows.append(row | {"low": low, "high": high, "missing": missing})
    return pd.DataFrame(rows)


def table_ratio(networks: Models) -> pd.Series:
    """Return how many numbers the neurons' tables hold, over the number of weights."""
    cells = networks.numbers("neurons-size", "numbers in tables")
    return cells / networks.numbers("neurons-size", "weights")


def sizes(fresh: Models) -> pd.DataFrame:
    """Return median and range of each number over the networks."""
    columns = {
        "tables": table_ratio(fresh),
        "permuted": fresh.numbers("neurons-permuted"),
        "loss": fresh.numbers("decoding", "loss over the least"),
        "cosine": fresh.numbers("decoding", "cosine with least loss"),
        "interaction": fresh.numbers("interaction", "left by angles of one prime"),
    }
    rows = []
    for id, (sentence, unit) in NUMBERS.items():
        x = columns[id].dropna()
        row: Cells = {"id": id, "sentence": sentence, "unit": unit, "runs": len(x)}
        rows.append(row | {"median": x.median(), "least": x.min(), "largest": x.max()})
    return pd.DataFrame(rows)


def firmness(fresh: Models) -> pd.DataFrame:
    """Return, for each statement, the interval at 99 %, the correlation of runs of one modulus, the
    one at which the verdict would be undecided, and the lower end of a bootstrap over moduli."""
    rows = []
    for id in STATEMENTS if len(fresh.n) else ():
        true, n = fresh.verdict(id) == HOLDS, fresh.n
        holds, runs = int(true.sum()), len(true)
        row: Cells = {"id": id, "sentence": SENTENCES.sentences[id], "holds": holds, "runs": runs}
        row |= {"low": share_interval(holds, runs)[0]}
        row |= {"strict": share_interval(holds, runs, STRICT)[0]}
        row |= {"correlation": intraclass_correlation(true, n)}
        row |= {"undone": undoing_correlation(true, n), "bootstrap": bootstrap_low(true, n)}
        rows.append(row)
    return pd.DataFrame(rows, columns=[*FIRM, "runs"])


def intraclass_correlation(true: pd.Series, n: pd.Series) -> float:
    """Return the correlation of runs of one modulus by the analysis of variance: below 0 where they
    differ more than runs of several. NaN where all are alike, or no modulus has two runs. Donner,
    International Statistical Review 54, 1986."""
    groups = [x.to_numpy(float) for _, x in true.groupby(n)]
    size, mean = np.array([len(x) for x in groups]), float(np.mean(true))
    total, k = int(size.sum()), len(groups)
    if not 1 < k < total:
        return nan
    between = sum(len(x) * (x.mean() - mean) ** 2 for x in groups) / (k - 1)
    within = sum(((x - x.mean()) ** 2).sum() for x in groups) / (total - k)
    typical = (total - (size**2).sum() / total) / (k - 1)
    spread = between + (typical - 1) * within
    return float((between - within) / spread) if spread else nan


def effective_low(true: pd.Series, n: pd.Series, correlation: float) -> float:
    """Return the lower end of the interval of Clopper and Pearson for as many independent runs as
    these are worth at a correlation of runs of one modulus."""
    size = true.groupby(n).size()
    runs = len(true) / (1 + (np.average(size, weights=size) - 1) * correlation)
    hits = float(np.mean(true)) * runs
    return float(beta.ppf(0.025, hits, runs - hits + 1)) if hits else 0.0


def undoing_correlation(true: pd.Series, n: pd.Series) -> float:
    """Return the correlation of runs of one modulus from which the interval reaches one half; NaN
    where none does, or where it does without any."""

    def above_half(correlation: float) -> float:
        return effective_low(true, n, correlation) - 0.5

    if above_half(0.0) <= 0 or above_half(1.0) >= 0:
        return nan
    return float(np.asarray(brentq(above_half, 0.0, 1.0)).item())


def bootstrap_low(true: pd.Series, n: pd.Series) -> float:
    """Return the 2.5 % quantile of the share over draws of whole moduli, with replacement."""
    rng = np.random.default_rng(0)
    by_modulus = true.groupby(n).agg(["sum", "size"]).to_numpy()
    drawn = by_modulus[rng.integers(len(by_modulus), size=(DRAWS, len(by_modulus)))].sum(axis=1)
    return float(np.quantile(drawn[:, 0] / drawn[:, 1], 0.025))


SENTENCE = {**ID, "sentence": Column("sentence", align="l")}
COUNTED = {
    **SENTENCE,
    "true": Column("true for", count_of("true", "runs"), "l"),
    "low": Column("95 % interval from", "share"),
    "high": Column("to", "share"),
    "missing": Column("networks without a value", align="l"),
}
SIZES = {
    **ID,
    "sentence": Column("number", align="l"),
    "runs": Column("networks", "count"),
    "median": Column("median", "unit"),
    "least": Column("least", "unit"),
    "largest": Column("largest", "unit"),
}
FIRM = {
    **ID,
    "sentence": Column("statement", align="l"),
    "holds": Column("holds for", count_of("holds", "runs"), "l"),
    "low": Column("95 % interval from", "share"),
    "strict": Column("99 % interval from", "share"),
    "correlation": Column("correlation within a modulus", "index"),
    "undone": Column("undecided from a correlation of", "index"),
    "bootstrap": Column("bootstrap over moduli from", "share"),
}
