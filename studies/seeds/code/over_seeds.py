"""What is typical: the measures of many runs, with mean, spread and interval."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.architecture import TABLE
from strata.measure.metrics import SPECTRUM, Metrics
from strata.params import GridParams, Params
from strata.tables import claims, headline
from strata.tables.claims import by_pairs
from strata.tables.format import percent
from strata.tables.printed import Printed
from strata.tables.spread import PLACE, STATISTICS, Value, listed, place, spread
from strata.tables.table import (
    CLASS,
    KIND,
    MEASURE,
    RUN,
    RUNS,
    SEED,
    SPREAD,
    Column,
    N,
    Record,
    Table,
    of,
)

# What a row is about, its unit, its value in one run
Measure = tuple[dict[str, Any], str, Value]
COLUMNS = N | CLASS | KIND | MEASURE | RUNS | SPREAD
FITS = {"r2": "R²", "r2_all": "R², all prompts", "r2_product": "R², product and candidate"}


def of_classes(run: Metrics) -> Iterator[Measure]:
    """Key energy and atomic energy, each beside what even energy has there, and character fit.

    Of each class with more than one element.
    """
    for c in (c for c in run.classes if c.size > 1):
        fit = c.character_fit
        about = {"n": run.n, "d": c.d}
        for name, shown in SPECTRUM.items():
            if shown.row:
                yield about | {"id": name, "measure": shown.row}, shown.unit, getattr(c, name)
        for name, measure in FITS.items():
            value = getattr(fit, name) if fit else None
            yield about | {"id": name, "measure": measure}, "share", value


def of_neurons(run: Metrics) -> Iterator[Measure]:
    """What the neurons of the MLP follow, and how many follow which prime power of n most."""
    found = run.neurons
    if found and len(found.modulo) > 1:
        measures = (
            ("classes", "classes of a and b", "share", found.classes),
            ("one-power", "a and b modulo one prime power", "share", found.one_power),
            *((f"with-{q}", f"neurons with {q}", "ratio", found.neurons[q]) for q in found.modulo),
        )
        for id, measure, unit, value in measures:
            yield {"n": run.n, "id": id, "measure": measure}, unit, value


def of_generalisation(run: Metrics) -> Iterator[Measure]:
    """When each accuracy came to its level, first and to stay, and the accuracy in the end."""
    about = {"n": run.n, "architecture": run.architecture}
    for id, when, epochs in (
        ("first", "first epoch", run.first_099), ("stays", "epoch to stay", run.epoch_099)
    ):  # fmt: skip
        for pairs, epoch in by_pairs(epochs).items():
            measure = {"id": f"{id}-{pairs}", "measure": f"{when}, {pairs}"}
            yield about | measure, "count", epoch
    measure = {"id": "accuracy-all", "measure": "accuracy on all pairs"}
    yield about | measure, "share", run.accuracy.all


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
    rows = []
    for key, found in values.items():
        row = dict(zip(names, key, strict=True))
        same = [run for run in runs if run.n == row["n"]]
        row["of"] = sum(row.get("architecture", x.architecture) == x.architecture for x in same)
        rows.append(row | spread(found, params, row["unit"]) | {"values": listed(found)})
    frame = pd.DataFrame(rows, columns=[*names, "runs", "of", *STATISTICS[1:], "values"])
    return frame.astype(dict.fromkeys(STATISTICS[1:], float))


def sees_mirrors_apart(row: Record) -> bool:
    """Whether to the model of a row (a, b) and (b, a) are two examples: no pair has a mirror."""
    return not TABLE[row["architecture"]].symmetric


EPOCH = Column("", "count", missing="never")
FREE = EPOCH._replace(impossible=sees_mirrors_apart)
ARCHITECTURES = N | SEED | KIND | {
    "first_train": EPOCH._replace(heading="first, train"),
    "first_validation": EPOCH._replace(heading="first, validation"),
    "first_mirror_free": FREE._replace(heading="first, mirror-free"),
    "stays_train": EPOCH._replace(heading="to stay, train"),
    "stays_validation": EPOCH._replace(heading="to stay, validation"),
    "stays_mirror_free": FREE._replace(heading="to stay, mirror-free"),
    "accuracy_all": Column("accuracy, all pairs", "share"),
}  # fmt: skip


def architectures(runs: Sequence[Metrics]) -> pd.DataFrame:
    """The transformer beside the MLP-only model, for each modulus and seed that both have."""
    named = {(run.n, run.seed, run.architecture): run for run in runs}
    both = [key for key in named if key[2] == "mlp" and (*key[:2], "transformer") in named]
    rows = []
    for n, seed, _ in sorted(both):
        for architecture in ("transformer", "mlp"):
            run = named[n, seed, architecture]
            epochs = [x for of in (run.first_099, run.epoch_099) for x in by_pairs(of).values()]
            if not TABLE[architecture].symmetric:
                epochs[2] = epochs[5] = None
            rows.append((n, seed, architecture, *epochs, run.accuracy.all))
    frame = pd.DataFrame(rows, columns=[*ARCHITECTURES])
    return frame.astype(dict.fromkeys(frame.columns[3:-1], "Int64"))


BLOCKS = N | SEED | {
    "above": Column("heads with blocks", of("above", "heads")),
    "block_max": Column("largest block score", "share"),
    "block_min": Column("smallest", "share"),
    "block_shuffled": Column("block score, shuffled", "share"),
}  # fmt: skip


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
        above = (scores > mean + 2 * std).sum()
        rows.append((run.n, run.seed, above, len(scores), scores.max(), scores.min(), mean.mean()))
    names = ["n", "seed", "above", "heads", "block_max", "block_min", "block_shuffled"]
    return pd.DataFrame(rows, columns=names)


FAILED = RUN | {
    "finite": Column("weights finite", "truth", "l"),
    "accuracy_all": Column("accuracy, all pairs", "share"),
    "accuracy_validation": Column("accuracy, validation", "share"),
}  # fmt: skip


def failed(runs: Sequence[Metrics]) -> pd.DataFrame:
    """The runs whose validation accuracy ends below the level, or whose weights are not finite."""
    rows = [
        (run.run, run.finite, run.accuracy.all, run.accuracy.validation)
        for run in runs
        if not (run.generalised and run.finite)
    ]
    return pd.DataFrame(rows, columns=[*FAILED])


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
        Table("verdict", f"Numbers in the text and {about}.", _among(text, params.grid), AMONG),
        Table("classes-verdict", f"Tables 2 and 3 {about}.", _among(classes, params.grid), AMONG),
    )


AMONG = claims.COLUMNS | RUNS | SPREAD | PLACE


def _among(frames: Sequence[pd.DataFrame], params: GridParams) -> pd.DataFrame:
    """The claims of the first frame with the spread of theirs over all frames."""
    rows = frames[0].copy()
    values = pd.concat([frame.set_index("id")["ours"] for frame in frames], axis=1)
    values = values.loc[rows["id"]].to_numpy(dtype=float)
    pairs = zip(values, rows["unit"], strict=True)
    spreads = [spread(row[~np.isnan(row)], params, unit) for row, unit in pairs]
    for name in ("runs", "mean", "low", "high", "min", "max"):
        rows[name] = [found[name] for found in spreads]
    rows["values"] = [listed(row.tolist()) for row in values]
    relations = zip(rows["relation"], rows["paper"], values, rows["unit"], strict=True)
    return pd.concat([rows, pd.DataFrame([place(*each) for each in relations])], axis=1)


def grid(runs: Sequence[Metrics], printed: Printed, params: Params) -> tuple[Table, ...]:
    """Every table over the runs of the grid but Table 5. Most are about transformers alone."""
    own = [run for run in runs if run.architecture == "transformer"]
    level = percent(params.metrics.accuracy)
    reached = f"First epoch at which an accuracy is {level} % or more, and that from which it stays"
    means = f"{percent(params.grid.confidence)} % t interval of the mean over seeds"
    classes = f"Spectrum and character fit of each class, {means}."
    neurons = f"Variance of the MLP’s activations that is explained, {means}."
    blocked = "Heads in which the classes of a and b form blocks of attention, run by run."
    both = f"{reached}, transformer and MLP-only model."
    ended = f"Runs that end below {level} % validation accuracy, of {len(runs)}."
    return (
        *(
            Table(name, about, table(some, measures, params.grid), COLUMNS)
            for name, about, some, measures in (
                ("classes-seeds", classes, own, of_classes),
                ("neurons-seeds", neurons, own, of_neurons),
                ("generalisation-seeds", f"{reached}, {means}.", runs, of_generalisation),
            )
        ),
        Table("blocks-seeds", blocked, blocks(own), BLOCKS),
        Table("architectures", both, architectures(runs), ARCHITECTURES),
        Table("not-generalised", ended, failed(runs), FAILED),
        *of_seeds(own, printed, params),
    )
