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
from strata.tables.spread import PLACE, STATISTICS, Value, join_values, place, spread
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
    count_of,
)

# What a row is about, its unit, its value in one run
Measure = tuple[dict[str, Any], str, Value]
COLUMNS = N | CLASS | KIND | MEASURE | RUNS | SPREAD
FITS = {"r2": "R²", "r2_all": "R², all prompts", "r2_product": "R², product and candidate"}


def class_measures(run: Metrics) -> Iterator[Measure]:
    """Return key energy and atomic energy, each with what even energy has there, and character fit,
    for each class with more than one element."""
    for c in (c for c in run.classes if c.size > 1):
        fit = c.character_fit
        about = {"n": run.n, "d": c.d}
        for name, quantity in SPECTRUM.items():
            if quantity.row:
                yield about | {"id": name, "measure": quantity.row}, quantity.unit, getattr(c, name)
        for name, measure in FITS.items():
            value = getattr(fit, name) if fit else None
            yield about | {"id": name, "measure": measure}, "share", value


def neuron_measures(run: Metrics) -> Iterator[Measure]:
    """Return what the neurons of the MLP follow, and how many follow which prime power most."""
    neurons = run.neurons
    if neurons and len(neurons.modulo) > 1:
        counts = neurons.neurons
        measures = (
            ("classes", "classes of a and b", "share", neurons.classes),
            ("one-power", "a and b modulo one prime power", "share", neurons.one_power),
            *((f"with-{q}", f"neurons with {q}", "ratio", counts[q]) for q in neurons.modulo),
        )
        for id, measure, unit, value in measures:
            yield {"n": run.n, "id": id, "measure": measure}, unit, value


def generalisation_measures(run: Metrics) -> Iterator[Measure]:
    """Return when each accuracy came to its level, first and to stay, and the final accuracy."""
    about = {"n": run.n, "architecture": run.architecture}
    for id, event, epochs in (
        ("first", "first epoch", run.first_099), ("stays", "epoch to stay", run.epoch_099)
    ):  # fmt: skip
        for pairs, epoch in by_pairs(epochs).items():
            measure = {"id": f"{id}-{pairs}", "measure": f"{event}, {pairs}"}
            yield about | measure, "count", epoch
    measure = {"id": "accuracy-all", "measure": "accuracy on all pairs"}
    yield about | measure, "share", run.accuracy.all


def table(
    runs: Sequence[Metrics], measures: Callable[[Metrics], Iterable[Measure]], params: GridParams
) -> pd.DataFrame:
    """Return a row for each measure, in the order in which the runs bring them."""
    values: dict[tuple[Any, ...], list[Value]] = {}
    for run in runs:
        for about, unit, value in measures(run):
            values.setdefault((*about.items(), ("unit", unit)), []).append(value)
    names, rows = [name for name, _ in next(iter(values), ())], []
    for key, of_measure in values.items():
        row = dict(key)
        kinds = [run.architecture for run in runs if run.n == row["n"]]
        row["of"] = sum(row.get("architecture", kind) == kind for kind in kinds)
        rows.append(
            row | spread(of_measure, params, row["unit"]) | {"values": join_values(of_measure)}
        )
    frame = pd.DataFrame(rows, columns=[*names, "runs", "of", *STATISTICS[1:], "values"])
    return frame.astype(dict.fromkeys(STATISTICS[1:], float))


def tells_mirrors_apart(row: Record) -> bool:
    """Whether to the model of a row (a, b) and (b, a) are two examples: no pair has a mirror."""
    return not TABLE[row["architecture"]].symmetric


EPOCH = Column("", "count", missing="never")
FREE = EPOCH._replace(impossible=tells_mirrors_apart)
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
    """Return the transformer and the MLP-only model, for each modulus and seed that both have."""
    by_key = {(run.n, run.seed, run.architecture): run for run in runs}
    keys = [key for key in by_key if key[2] == "mlp" and (*key[:2], "transformer") in by_key]
    rows = []
    for n, seed, _ in sorted(keys):
        for architecture in ("transformer", "mlp"):
            run = by_key[n, seed, architecture]
            epochs = [*by_pairs(run.first_099).values(), *by_pairs(run.epoch_099).values()]
            if not TABLE[architecture].symmetric:
                epochs[2] = epochs[5] = None
            rows.append((n, seed, architecture, *epochs, run.accuracy.all))
    frame = pd.DataFrame(rows, columns=[*ARCHITECTURES])
    return frame.astype(dict.fromkeys(frame.columns[3:-1], "Int64"))


BLOCKS = N | SEED | {
    "above": Column("heads with blocks", count_of("above", "heads")),
    "block_max": Column("largest block score", "share"),
    "block_min": Column("smallest", "share"),
    "block_shuffled": Column("block score, shuffled", "share"),
}  # fmt: skip


def blocks(runs: Sequence[Metrics]) -> pd.DataFrame:
    """Count in how many heads of each run classes form blocks: more than two standard deviations
    above the mean of shuffled classes. Heads have no order, so the largest and the smallest score
    stand for all."""
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
    """Return the runs whose validation accuracy ends below the level or whose weights diverge."""
    rows = [
        (run.run, run.finite, run.accuracy.all, run.accuracy.validation)
        for run in runs
        if not (run.generalised and run.finite)
    ]
    return pd.DataFrame(rows, columns=[*FAILED])


def claims_over_seeds(
    runs: Sequence[Metrics], printed: Printed, params: Params
) -> tuple[Table, Table]:
    """Return the claims of the first run and the same numbers over all seeds of its modulus: those
    of the text, and those of Tables 2 and 3.

    A number of the paper is one run's; so the verdict says where it lies among the seeds.
    """
    first = runs[0]
    same_kind = [run for run in runs if (run.n, run.architecture) == (first.n, first.architecture)]
    about = f"over seeds (n = {first.n}; ours is seed {first.seed})"
    text = [
        claims.text_claims(run, printed, params).drop(columns="difference") for run in same_kind
    ]
    classes = [headline.class_claims(run, printed) for run in same_kind]
    of_text, of_classes = (_spread_claims(frames, params.grid) for frames in (text, classes))
    return (
        Table("verdict", f"Numbers in the text and {about}.", of_text, AMONG),
        Table("classes-verdict", f"Tables 2 and 3 {about}.", of_classes, AMONG),
    )


AMONG = claims.COLUMNS | RUNS | SPREAD | PLACE


def _spread_claims(frames: Sequence[pd.DataFrame], params: GridParams) -> pd.DataFrame:
    """Return the claims of the first frame with the spread of theirs over all frames."""
    rows = frames[0].copy()
    values = pd.concat([frame.set_index("id")["ours"] for frame in frames], axis=1)
    values = values.loc[rows["id"]].to_numpy(dtype=float)
    pairs = zip(values, rows["unit"], strict=True)
    spreads = [spread(row[~np.isnan(row)], params, unit) for row, unit in pairs]
    for name in ("runs", "mean", "low", "high", "min", "max"):
        rows[name] = [statistics[name] for statistics in spreads]
    rows["values"] = [join_values(row.tolist()) for row in values]
    relations = zip(rows["relation"], rows["paper"], values, rows["unit"], strict=True)
    return pd.concat([rows, pd.DataFrame([place(*each) for each in relations])], axis=1)


def grid(runs: Sequence[Metrics], printed: Printed, params: Params) -> tuple[Table, ...]:
    """Return each table over the runs of the grid but Table 5; most are of transformers alone."""
    transformers = [run for run in runs if run.architecture == "transformer"]
    level = percent(params.metrics.accuracy)
    reached = f"First epoch at which an accuracy is {level} % or more, and that from which it stays"
    means = f"{percent(params.grid.confidence)} % t interval of the mean over seeds"
    classes_caption = f"Spectrum and character fit of each class, {means}."
    neurons_caption = f"Variance of the MLP’s activations that is explained, {means}."
    blocks_caption = "Heads in which the classes of a and b form blocks of attention, run by run."
    models_caption = f"{reached}, transformer and MLP-only model."
    failed_caption = f"Runs that end below {level} % validation accuracy, of {len(runs)}."
    return (
        *(
            Table(name, about, table(of_table, measures, params.grid), COLUMNS)
            for name, about, of_table, measures in (
                ("classes-seeds", classes_caption, transformers, class_measures),
                ("neurons-seeds", neurons_caption, transformers, neuron_measures),
                ("generalisation-seeds", f"{reached}, {means}.", runs, generalisation_measures),
            )
        ),
        Table("blocks-seeds", blocks_caption, blocks(transformers), BLOCKS),
        Table("architectures", models_caption, architectures(runs), ARCHITECTURES),
        Table("not-generalised", failed_caption, failed(runs), FAILED),
        *claims_over_seeds(transformers, printed, params),
    )
