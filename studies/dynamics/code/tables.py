"""The tables over the training of some runs: when each class comes, in which order, trained where.

Definitions: criteria.md. A frame is the table of a run that ``dynamics.table`` describes, an
origin the receipt of the checkpoints beside the record of the run's own training.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from strata.inputs import InputError
from strata.monoid import classes
from strata.params import GridParams
from strata.run import Run
from strata.statistics import above_chance
from strata.tables.table import CLASS, MEASURE, RUN, RUNS, Column, N, Table
from strata.train.environment import Environment
from studies.dynamics.code import order
from studies.dynamics.code.order import LINE, MEASURES, Ends, Times
from studies.dynamics.code.receipts import Receipt
from studies.dynamics.code.table import curve
from studies.params import DynamicsParams

Json = dict[str, Any]


def tables(
    frames: Mapping[Run, pd.DataFrame],
    origins: Mapping[Run, tuple[Receipt, Environment]],
    ends: Mapping[Run, Ends],
    params: GridParams,
    measured: DynamicsParams,
) -> tuple[Table, ...]:
    """All tables of some runs; an origin is the receipt of the checkpoints and the environment of
    the run, ends are its first and last embeddings.

    Raises InputError for two runs of one modulus, which the tables could not tell apart.
    """
    if len({run.n for run in frames}) < len(frames):
        raise InputError(
            f"dynamics of {', '.join(map(str, frames))}: must be of one run for each n"
        )
    found = {run.n: order.times(frame, run.n) for run, frame in frames.items()}
    line = {run.n: order.one_rate(*ends[run], run.n, measured.key_threshold) for run in frames}
    names = ", ".join(str(n) for n in found)
    whole = "Epoch from which the whole model stays at half of its final value or above"
    half = "Epoch from which each class stays at half of its final value or above"
    pair = "Composite classes against the atomic classes that their groups are made of, in time"
    return (
        Table("dynamics-times", f"{half}, n = {names}.", of_times(found), TIMES),
        Table(
            "dynamics-order",
            f"{pair}, n = {names}.",
            of_order(found, line, params),
            ORDER,
        ),
        Table("dynamics-grokking", f"{whole}, n = {names}.", of_wholes(frames), WHOLE),
        Table(
            "dynamics-origin", "Where the checkpoints were trained.", of_origins(origins), ORIGINS
        ),
    )


def epoch(heading: str, missing: str = "never") -> Column:
    """An epoch that may never come."""
    return Column(heading, "count", missing=missing)


TIMES = N | CLASS | {
    "size": Column("elements"),
    "made_of": Column("made of", "symbols", "l"),
    **{name: epoch(words) for name, words in MEASURES.items()},
    "epoch_fve_above": epoch(MEASURES["epoch_fve_above"], "—"),
}  # fmt: skip


def of_times(by_modulus: Mapping[int, Mapping[str, Times]]) -> pd.DataFrame:
    """One row for each class of two elements or more; composite classes name their factors."""
    rows = [
        (n, J.d, len(J), " x ".join(f"J{d}" for d in order.factors(J)),
         *(by_measure[name].get(J.d) for name in MEASURES))
        for n, by_measure in by_modulus.items()
        for J in classes(n)
        if len(J) > 1
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["n", "d", "size", "made_of", *MEASURES])
    return frame.astype(dict.fromkeys(MEASURES, "Int64"))


EPOCHS = {
    "epoch_known": epoch("right answer, training"),
    "epoch_class": epoch("right class, mirror-free"),
    "epoch_answer": epoch("right answer, mirror-free"),
    "epoch_between": epoch("classes apart in W_E"),
    "epoch_added": epoch("in what training added"),
    "epoch_probe": epoch("held-out probe"),
    "epoch_restricted": epoch("restricted loss halved"),
    "epoch_unaveraged": epoch("the same, 0 left unaveraged"),
}
WHOLE = N | {"class_chance": Column("commonest class", "share")} | EPOCHS


def of_wholes(frames: Mapping[Run, pd.DataFrame]) -> pd.DataFrame:
    """When training pairs are answered, when mirror-free ones fall into the right class, above the
    share of pairs that the commonest class has, when they are answered, and when classes part in
    the embedding, more than labels assigned at random."""
    rows = []
    for run, frame in frames.items():
        # Labels assigned at random have as much of the variance between their means.
        chance, apart = order.commonest(run.n), (len(classes(run.n)) - 1) / (run.n - 1)
        whole = {
            "epoch_known": curve(frame, "train_accuracy"),
            "epoch_class": above_chance(curve(frame, "mirror_free_class_accuracy"), chance),
            "epoch_answer": curve(frame, "mirror_free_accuracy"),
            "epoch_between": above_chance(curve(frame, "class_share"), apart),
            "epoch_added": above_chance(curve(frame, "class_share_added"), apart),
            "epoch_restricted": fallen(curve(frame, "all_restricted_loss")),
            "epoch_unaveraged": fallen(curve(frame, "all_restricted_loss_unaveraged")),
            "epoch_probe": above_chance(curve(frame, "probe"), curve(frame, "probe_shuffled")),
        }
        times = {k: order.settled(x.index.to_numpy(), x.to_numpy()) for k, x in whole.items()}
        rows.append({"n": run.n, "class_chance": chance} | times)
    found = pd.DataFrame(rows, columns=[*WHOLE])
    return found.astype(dict.fromkeys(EPOCHS, "Int64"))


def fallen(loss: pd.Series) -> pd.Series:
    """How much of the first loss is gone, as a share."""
    return 1 - loss / loss.iloc[0] if len(loss) else loss


ORDER = N | MEASURE | RUNS | {
    "pairs": Column("pairs", "count"),
    "agree": Column("agree", "count"),
    "disagree": Column("disagree", "count"),
    "tie": Column("tie", "count"),
    "p_sign": Column("p, signs", "p"),
    "p_shuffle": Column("p, shuffled", "p"),
    "runs_agree": Column("runs that agree", "count"),
    "p_runs": Column("p, runs", "p"),
    "can_pass": Column("note", lambda row: "" if row["can_pass"] else "cannot pass", "l"),
    "composites": Column("composites", "count"),
    "after_last": Column("after the last factor", "count"),
    "control_pairs": Column("control pairs", "count"),
    "control_agree": Column("agree, control", "count"),
    "control_disagree": Column("disagree, control", "count"),
}  # fmt: skip


def of_order(
    by_modulus: Mapping[int, Mapping[str, Times]],
    line: Mapping[int, Times],
    params: GridParams,
) -> pd.DataFrame:
    """For each measure how many pairs of a composite class and a factor are in that order of time,
    modulus by modulus and (n missing) over all; those of the control beside them. ``line`` are the
    times of ``one_rate``."""
    at: dict[str, Mapping[int, Times]] = {}
    for name, label in MEASURES.items():
        at[label] = {n: own[name] for n, own in by_modulus.items()}
        if name == "epoch_fve_above":
            at[LINE] = line
    rows = []
    groups: dict[int | None, list[int]] = {n: [n] for n in by_modulus}
    if len(by_modulus) > 1:
        groups[None] = list(by_modulus)
    for label, times in at.items():
        for n, some in groups.items():
            row = _order({x: times[x] for x in some}, params)
            rows.append({"n": n, "measure": label} | row)
    return pd.DataFrame(rows).astype({"n": "Int64"})


def _order(by_modulus: Mapping[int, Times], params: GridParams) -> Json:
    own, control, last, runs = ([] for _ in range(4))
    for n, time in by_modulus.items():
        of_factors, of_others = order.pairs(n)
        signs = order.signs(time, of_factors)
        own, runs = own + signs, runs + ([(sum(signs) > 0) - (sum(signs) < 0)] if signs else [])
        control += order.signs(time, of_others)
        last += order.lasts(time, n)
    agree, disagree = own.count(1), own.count(-1)
    strict = agree + disagree
    return {
        "pairs": len(own), "agree": agree, "disagree": disagree, "tie": own.count(0),
        "p_sign": binomtest(agree, strict, alternative="greater").pvalue if strict else None,
        "p_shuffle": order.shuffled(by_modulus, params) if own else None,
        **of_runs(runs, 1 - params.confidence),
        "composites": len(last), "after_last": last.count(1), "control_pairs": len(control),
        "control_agree": control.count(1), "control_disagree": control.count(-1),
    }  # fmt: skip


def of_runs(signs: Sequence[int], level: float) -> Json:
    """The one-sided sign test with a run as its unit: 1 where more of its pairs agree than
    disagree, −1 where fewer do. Pairs of one run depend on each other and are no sample.

    Where even the least p that so many runs can give is above the level, the test cannot pass.

    >>> of_runs([1, 1, 1, -1], 0.05)["p_runs"]
    0.3125
    >>> of_runs([1] * 4, 0.05)["can_pass"], of_runs([1] * 5, 0.05)["can_pass"]
    (False, True)
    """
    agree, strict = list(signs).count(1), sum(x != 0 for x in signs)
    p = float(binomtest(agree, strict, alternative="greater").pvalue) if strict else None
    can = 0.5 ** len(signs) <= level if signs else None
    return {"runs": len(signs), "runs_agree": agree, "p_runs": p, "can_pass": can}


ORIGINS = RUN | {
    "checkpoints": Column("checkpoints", "count"),
    "checkpoints_machine": Column("checkpoints trained on", align="l"),
    "train_machine": Column("run trained on", align="l"),
    "identical": Column("same weights", "truth", "l"),
}


def of_origins(origins: Mapping[Run, tuple[Receipt, Environment]]) -> pd.DataFrame:
    """The machines of the checkpoints and of the run, and whether both ended in the same bytes."""
    rows = [
        (str(run), len(x.epochs), x.environment.words(), environment.words(), x.identical)
        for run, (x, environment) in origins.items()
    ]
    return pd.DataFrame(rows, columns=[*ORIGINS])
