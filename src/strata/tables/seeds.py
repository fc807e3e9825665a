"""What is typical: the measures of many runs, with mean, spread and interval.

A measure that a run lacks, because it diverged or never came to the level, does not count: `runs`
says how many do, and `of` how many there are. A run that did not generalise counts. Heads have no
order: head 0 of one seed has nothing to do with head 0 of another, so a mean over seeds is that of
any head.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from strata.architecture import TABLE
from strata.measure.metrics import Metrics
from strata.params import GridParams, Params
from strata.statistics import t_interval
from strata.tables import claims, headline
from strata.tables.headline import Table
from strata.tables.measures import (
    Measure,
    Value,
    by_pairs,
    of_classes,
    of_directions,
    of_generalisation,
    of_heads,
    of_neurons,
)
from strata.tables.printed import Printed

Row = dict[str, Any]
STATISTICS = ["runs", "mean", "std", "low", "high", "min", "max"]


def spread(values: Iterable[Value], params: GridParams) -> Row:
    """Mean, sample standard deviation, Student's interval of the mean, least, largest.

    Without a value all are missing; with one, so are deviation and interval.
    """
    x = np.array([value for value in values if value is not None], dtype=float)
    if not len(x):
        return dict.fromkeys(STATISTICS) | {"runs": 0}
    found = {"runs": len(x), "mean": x.mean(), "min": x.min(), "max": x.max()}
    low, high = t_interval(x.tolist(), params.confidence) or (None, None)
    std = x.std(ddof=1) if len(x) > 1 else None
    return found | {"std": std, "low": low, "high": high}


def listed(values: Iterable[Value]) -> str:
    """The values of single runs in a cell of the CSV file.

    >>> listed([1, None, 0.25])
    '1 0.25'
    """
    return " ".join(f"{x:.9g}" for x in values if x is not None and x == x)


def table(
    runs: Sequence[Metrics], measures: Callable[[Metrics], Iterable[Measure]], params: GridParams
) -> pd.DataFrame:
    """One row for each thing measured, in the order in which the runs bring them."""
    values: dict[tuple[Any, ...], list[Value]] = {}
    names: list[str] = []
    for run in runs:
        for about, unit, value in measures(run):
            names = [*about, "unit"]
            values.setdefault((*about.values(), unit), []).append(value)
    spreads = {key: spread(found, params) for key, found in values.items()}
    rows = [
        (*key, *(s[name] for name in STATISTICS), listed(values[key])) for key, s in spreads.items()
    ]
    frame = pd.DataFrame(rows, columns=[*names, *STATISTICS, "values"])
    frame = frame.astype(dict.fromkeys(STATISTICS[1:], float))
    of = [sum(_is_of(run, row) for run in runs) for row in frame.to_dict("records")]
    frame.insert(len(names) + 1, "of", of)
    return frame


def _is_of(run: Metrics, row: dict[Any, Any]) -> bool:
    """Whether a run is of the kind that a row is about."""
    return (run.n, run.architecture) == (row["n"], row.get("architecture", run.architecture))


def architectures(runs: Sequence[Metrics]) -> pd.DataFrame:
    """The transformer beside the MLP-only model, for each modulus and seed that both have."""
    named = {(run.n, run.seed, run.architecture): run for run in runs}
    both = [key for key in named if key[2] == "mlp" and (*key[:2], "transformer") in named]
    rows = []
    for n, seed, _ in sorted(both):
        for architecture in ("transformer", "mlp"):
            run = named[n, seed, architecture]
            first: Row = {**by_pairs(run.first_099)}
            stays: Row = {**by_pairs(run.epoch_099)}
            if not TABLE[architecture].symmetric:
                first["mirror_free"] = stays["mirror_free"] = None
            rows.append((n, seed, architecture, *first.values(), *stays.values(), run.accuracy.all))
    names = ["n", "seed", "architecture", "first_train", "first_validation", "first_mirror_free"]
    names += ["stays_train", "stays_validation", "stays_mirror_free", "accuracy_all"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[3:-1], "Int64"))


def blocks(runs: Sequence[Metrics]) -> pd.DataFrame:
    """In how many heads of each run classes form blocks: more than two standard deviations above
    the mean of shuffled classes. Heads have no order, so the largest and the smallest score stand
    for all."""
    rows = []
    for run in sorted((x for x in runs if x.heads), key=lambda x: (-x.n, x.seed)):
        scores = np.array([head.block_score for head in run.heads])
        mean, std = np.array(
            [(x.block_score_shuffled.mean, x.block_score_shuffled.std) for x in run.heads]
        ).T
        above = f"{(scores > mean + 2 * std).sum()} of {len(scores)}"
        rows.append((run.n, run.seed, above, scores.max(), scores.min(), mean.mean()))
    names = ["n", "seed", "above", "block_max", "block_min", "block_shuffled"]
    return pd.DataFrame(rows, columns=names)


def failed(runs: Sequence[Metrics]) -> pd.DataFrame:
    """The runs whose validation accuracy ends below the level, or whose weights are not finite."""
    names = ["run", "finite", "accuracy_all", "accuracy_validation"]
    rows = [
        (run.run, run.finite, run.accuracy.all, run.accuracy.validation)
        for run in runs
        if not (run.generalised and run.finite)
    ]
    return pd.DataFrame(rows, columns=names)


def of_seeds(runs: Sequence[Metrics], printed: Printed, params: Params) -> tuple[Table, Table]:
    """The claims of the first run beside the same numbers over all seeds of its modulus: those of
    the text, and those of Tables 2 and 3.

    A number of the paper is one run's; so the verdict says where it lies among the seeds.
    """
    first = runs[0]
    own = [run for run in runs if (run.n, run.architecture) == (first.n, first.architecture)]
    about = f"over seeds (n = {first.n}; ours is seed {first.seed})"
    text = [claims.of_text(run, printed, params).drop(columns="difference") for run in own]
    classes = [headline.class_claims(run, printed) for run in own]
    return (
        Table("verdict", f"Numbers in the text and {about}.", _among(text, params.grid)),
        Table("classes-verdict", f"Tables 2 and 3 {about}.", _among(classes, params.grid)),
    )


def _among(frames: Sequence[pd.DataFrame], params: GridParams) -> pd.DataFrame:
    """The claims of the first frame with the spread of theirs over all frames."""
    rows = frames[0].copy()
    values = pd.concat([frame.set_index("claim")["ours"] for frame in frames], axis=1)
    values = values.loc[rows["claim"]].to_numpy(dtype=float)
    spreads = [spread(row[~np.isnan(row)], params) for row in values]
    for name in ("runs", "mean", "low", "high", "min", "max"):
        rows[name] = [found[name] for found in spreads]
    rows["values"] = [listed(row.tolist()) for row in values]
    relations = zip(rows["relation"], rows["paper"], values, rows["unit"], strict=True)
    rows["verdict"] = [verdict(*each) for each in relations]
    return rows


def verdict(relation: str, paper: float, values: Float[np.ndarray, " seeds"], unit: str) -> str:
    """Where the paper’s number lies among ours; nothing where it prints none or we have one seed.

    A printed share has one decimal of a percentage, so half of that tells nothing apart.

    >>> [verdict("=", 9.0, np.array(x), "count") for x in ([8.0, 9], [6.0, 7])]
    ['within the seeds', 'above every seed']
    >>> verdict("<", 0.2, np.array([0.1, 0.3]), "share")
    'holds in 1 of 2 seeds'
    """
    values = values[~np.isnan(values)]
    if len(values) < 2 or np.isnan(paper) or not relation:
        return ""
    if relation in claims.BOUNDS:
        return f"holds in {claims.BOUNDS[relation](values, paper).sum()} of {len(values)} seeds"
    near = 5e-4 if unit == "share" else 1e-9
    if paper > values.max() + near:
        return "above every seed"
    return "below every seed" if paper < values.min() - near else "within the seeds"


def grid(runs: Sequence[Metrics], printed: Printed, params: Params) -> tuple[Table, ...]:
    """Every table over the runs of the grid but Table 5. Most are about transformers alone."""
    own = [run for run in runs if run.architecture == "transformer"]
    level = claims.percent(params.metrics.accuracy)
    cosine, interval = params.metrics.aligned_cosine, claims.percent(params.grid.confidence)
    means = f"{interval} % t interval of the mean over seeds"
    reached = f"First epoch at which an accuracy is {level} % or more, and that from which it stays"
    aligned = f"Directions of each class that a head reads or writes with a cosine ≥ {cosine:g}"
    made = {
        "classes-seeds": (
            f"Spectrum and character fit of each class, {means}.",
            table(own, of_classes, params.grid),
        ),
        "heads-seeds": (
            f"Attention heads, {means}; heads have no order across seeds.",
            table(own, of_heads, params.grid),
        ),
        "blocks-seeds": (
            "Heads in which the classes of a and b form blocks of attention, run by run.",
            blocks(own),
        ),
        "neurons-seeds": (
            f"Variance of the MLP’s activations that is explained, {means}.",
            table(own, of_neurons, params.grid),
        ),
        "directions-seeds": (f"{aligned}, {means}.", table(own, of_directions, params.grid)),
        "generalisation-seeds": (
            f"{reached}, {means}.",
            table(runs, of_generalisation, params.grid),
        ),
        "architectures": (f"{reached}, transformer and MLP-only model.", architectures(runs)),
        "not-generalised": (
            f"Runs that end below {level} % validation accuracy, of {len(runs)}.",
            failed(runs),
        ),
    }
    tables_of_grid = [Table(name, *content) for name, content in made.items()]
    return (*tables_of_grid, *of_seeds(own, printed, params))
