"""When each class comes in training, and whether composite classes follow their atomic factors.

Definitions: criteria.md. ``frame`` is the table of a run that
module ``table`` describes.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sympy.ntheory import factorint

from strata.measure import fourier
from strata.monoid import JClass, axes, classes
from strata.params import GridParams
from strata.patch import projections
from strata.statistics import above_chance

Times = dict[int, int]  # the epoch of each class that has one, by d
Pair = tuple[int, int]  # a composite class and an atomic one
Ends = tuple[np.ndarray, np.ndarray]  # embeddings of all residues, before training and after

# What is followed, by column of the table of times; in words.
MEASURES = {
    "epoch_fve": "FVE",
    "epoch_fve_above": "FVE above uniform",
    "epoch_r2": "R²",
    "epoch_accuracy": "accuracy",
    "epoch_skill": "accuracy above chance",
}
LINE = "FVE above uniform, one rate"
STEPS = 100  # of the straight line


def factors(J: JClass) -> tuple[int, ...]:
    """The d of the atomic classes whose groups are the cyclic factors of a composite class.

    J_d is composite where (Z/m)^×, m = n/d, has axes of two primes or more. Its factors are the
    classes with n/d' = p^k for each p^k ‖ m that has an axis. Not composite: none.

    >>> factors(JClass(165, 1)), factors(JClass(165, 3)), factors(JClass(165, 15))
    ((55, 33, 15), (33, 15), ())
    """
    powers = [p**k for p, k in sorted(factorint(J.m).items()) if axes(p**k)]
    return tuple(J.n // q for q in powers) if len(powers) > 1 else ()


def pairs(n: int) -> tuple[list[Pair], list[Pair]]:
    """Each composite class with each of its factors; and, as a control, with each other class of
    prime-power n/d that has an axis.

    >>> pairs(15)
    ([(1, 5), (1, 3)], [])
    """
    atoms = [J.d for J in classes(n) if len(factorint(J.m)) == 1 and axes(J.m)]
    made_of = [(J.d, d) for J in classes(n) for d in factors(J)]
    composite = list(dict.fromkeys(d for d, _ in made_of))
    return made_of, [(c, d) for c in composite for d in atoms if (c, d) not in made_of]


def curves(frame: pd.DataFrame, n: int) -> dict[str, pd.DataFrame]:
    """For each of MEASURES a frame of epochs × classes (by d) with two elements or more.

    Accuracy is that over mirror-free pairs with their product in the class. Chance is 1 in |J_d|
    for an accuracy, and for FVE what even energy would give. A class whose every frequency is key
    has no FVE above that.
    """
    size = pd.Series({J.d: len(J) for J in classes(n) if len(J) > 1}, dtype=float)
    fve, r2, key, accuracy = (
        _by_class(frame, name).reindex(columns=size.index)
        for name in ("fve", "r2", "key_current", "mirror_free_accuracy")
    )
    uniform = key.iloc[-1] / (size - 1) if len(key) else size * np.nan
    return {
        "epoch_fve": fve,
        "epoch_fve_above": above_chance(fve, uniform),
        "epoch_r2": r2,
        "epoch_accuracy": accuracy,
        "epoch_skill": above_chance(accuracy, 1 / size),
    }


def _by_class(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    rows = frame.loc[frame["measure"] == measure]
    d = [int(of[1:]) if of.startswith("J") else 0 for of in rows["of"]]
    wide = rows.assign(d=d).pivot(index="epoch", columns="d", values="value")
    return wide.drop(columns=0, errors="ignore")


def times(frame: pd.DataFrame, n: int) -> dict[str, Times]:
    """For each of MEASURES the epoch of each class that has one."""
    return {measure: _settled(curve) for measure, curve in curves(frame, n).items()}


def _settled(curves: pd.DataFrame) -> Times:
    known = {int(d): column.dropna() for d, column in curves.items()}  # pyright: ignore
    reached = {d: settled(x.index.to_numpy(), x.to_numpy()) for d, x in known.items()}
    return {d: epoch for d, epoch in reached.items() if epoch is not None}


def one_rate(
    first: Float[np.ndarray, "n d_model"],
    last: Float[np.ndarray, "n d_model"],
    n: int,
    threshold: float,
) -> Times:
    """FVE above uniform on the straight line between two embeddings: the step, of STEPS, at which
    each class comes where all classes, and all axes, take shape at one rate."""
    final = projections.keys(last, n, threshold)
    rows = []
    for step in range(STEPS + 1):
        W_E = first + (last - first) * np.float32(step / STEPS)
        for d, key in final.items():
            J = JClass(n, d)
            share = fourier.energy_share(W_E[J.elements], J.orders)
            rows.append((step, "fve", f"J{d}", fourier.fve(share, key)))
            rows.append((step, "key_current", f"J{d}", float(key.sum())))
    frame = pd.DataFrame(rows, columns=["epoch", "measure", "of", "value"])
    return _settled(curves(frame, n)["epoch_fve_above"])


def settled(
    epochs: Int[np.ndarray, " checkpoints"], values: Float[np.ndarray, " checkpoints"]
) -> int | None:
    """The first of the epochs from which the values stay at half of the final one or above.

    Each value but that of the initial weights is replaced by the median of it and its two
    neighbours, the last by its neighbour's, so that one checkpoint at which training has left its
    minimum counts neither as final nor as a fall. None where there is no value, or the final one
    is not above 0.

    >>> settled(np.array([0, 10, 20, 30, 40]), np.array([0.0, 0.2, 0.45, 0.9, 1.0]))
    20
    """
    smooth = values
    if len(values) > 2:
        inner = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
        smooth = np.concatenate([values[:1], inner, inner[-1:]])
    if not len(values) or not smooth[-1] > 0:
        return None
    below = np.flatnonzero(smooth < smooth[-1] / 2)
    return int(epochs[below[-1] + 1 if len(below) else 0])


def commonest(n: int) -> float:
    """The share of all ordered pairs that has its product in the commonest class.

    For n = 6 that is J_6: 11 pairs with a 0, and four more as (2, 3).

    >>> 36 * commonest(6)
    15.0
    """
    a = np.arange(n)
    return float(np.bincount(np.gcd(np.multiply.outer(a, a), n).ravel()).max() / n**2)


def signs(time: Times, some: Sequence[Pair]) -> list[int]:
    """1 where the first of a pair comes later, 0 at the same checkpoint, −1 earlier; of pairs whose
    times both exist."""
    known = [(time[c], time[d]) for c, d in some if c in time and d in time]
    return [(c > d) - (c < d) for c, d in known]


def lasts(time: Times, n: int) -> list[int]:
    """The same for each composite class and the last of its factors, of those that have times."""
    timed = {J.d: [d for d in factors(J) if d in time] for J in classes(n)}
    return signs(time, [(c, max(x, key=lambda d: time[d])) for c, x in timed.items() if x])


def shuffled(by_modulus: Mapping[int, Times], params: GridParams) -> float:
    """The p-value of a permutation test: epochs shuffled among the classes of each modulus.

    The statistic is the number of pairs that agree less those that disagree; (1 + draws that reach
    it) / (1 + draws). Phipson and Smyth, Permutation P-values Should Never Be Zero, 2010.
    """
    rng, real, drawn = np.random.default_rng(params.seed), 0, np.zeros(params.resamples, int)
    for n, time in by_modulus.items():
        place = {d: i for i, d in enumerate(time)}
        at = np.array([(place[c], place[d]) for c, d in pairs(n)[0] if c in time and d in time])
        if len(at):
            values = np.array(list(time.values()))
            mixed = rng.permuted(np.tile(values, (params.resamples, 1)), axis=1)
            real += int(np.sign(values[at[:, 0]] - values[at[:, 1]]).sum())
            drawn += np.sign(mixed[:, at[:, 0]] - mixed[:, at[:, 1]]).sum(axis=1)
    return float((1 + (drawn >= real).sum()) / (1 + len(drawn)))
