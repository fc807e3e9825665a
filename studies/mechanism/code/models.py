"""The models that were measured, by what they are to the verdict."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from sympy import factorint

from strata.run import Run
from studies.mechanism.code import decide

Key = tuple[str, str, str]  # of, measure, unit
STATEMENTS = (*decide.RULES, "gated characters", "proof")
FRESH, EARLIER, ONE, SQUARES = "fresh", "earlier", "one prime", "with squares"
MLP, OTHERS, BESIDE = "MLP-only", "other runs", "beside"
KINDS = (FRESH, EARLIER, ONE, SQUARES, MLP, OTHERS, BESIDE)
GROUPS = FRESH, EARLIER  # that tables and figures compare
BY_MODULUS = {FRESH, EARLIER, MLP}
FEW = "few numbers: "  # how the names of descriptions begin


class Model(NamedTuple):
    """All numbers of a run, or of another model, by what they are."""

    name: str
    kind: str
    rows: pd.DataFrame
    values: Mapping[Key, float]

    def of(self, of: str, measure: str, unit: str = "share") -> float:
        return self.values.get((of, measure, unit), nan)

    @property
    def accuracy(self) -> float:
        return self.of("logits", "all pairs", "accuracy")

    @property
    def n(self) -> int:
        """The modulus of a run; 0 for a model that stands beside."""
        return 0 if self.kind == BESIDE else Run.parse(self.name).n

    @property
    def group(self) -> str:
        """Models that are summarised together: of one kind, and where many are, of one modulus."""
        if self.kind == BESIDE:
            return self.name
        return f"n = {self.n}, {self.kind}" if self.kind in BY_MODULUS else self.kind

    def verdict(self, statement: str) -> float:
        return self.of(statement, "statement", "verdict")


def kind_of(name: str, fresh: Sequence[str]) -> str:
    """What a run is to the verdict: fresh, earlier of the same kind, or of another kind.

    >>> [kind_of(x, ["n6-s2"]) for x in ("n6-s1", "n6-s2", "n8-s1", "n12-s1", "mlp-n6-s1")]
    ['earlier', 'fresh', 'one prime', 'with squares', 'MLP-only']
    """
    if name in fresh:
        return FRESH
    if "-s" not in name:
        return BESIDE
    run = Run.parse(name)
    if run.variant == "mlp":
        return MLP
    if run.variant or run.weights_seed != run.seed:
        return OTHERS
    powers = factorint(run.n)
    if len(powers) == 1:
        return ONE
    return EARLIER if max(powers.values()) == 1 else SQUARES


def models(found: pd.DataFrame, fresh: Sequence[str]) -> list[Model]:
    """The models of a long table: by kind, modulus and number."""
    every = []
    for name, rows in found.groupby("run", sort=False, observed=True):
        keys = zip(rows["of"], rows["measure"], rows["unit"], strict=True)
        values = dict(zip(keys, rows["value"], strict=True))
        every.append(Model(str(name), kind_of(str(name), fresh), rows, values))
    return sorted(every, key=order)


def order(model: Model) -> tuple[Any, ...]:
    """By kind, then by modulus and seeds."""
    if model.kind == BESIDE:
        return (KINDS.index(BESIDE),)
    run = Run.parse(model.name)
    return KINDS.index(model.kind), run.n, run.variant, run.seed, run.weights_seed


def grouped(every: Sequence[Model]) -> dict[str, list[Model]]:
    """The models of each group, in their order."""
    found: dict[str, list[Model]] = {}
    for x in every:
        found.setdefault(x.group, []).append(x)
    return found


def matrix(every: Sequence[Model]) -> tuple[list[str], Float[np.ndarray, "rows models"]]:
    """The verdict on each statement, and below it on each number that it rests on; NaN: none."""
    rows, found = [], []
    for statement in STATEMENTS:
        rows.append(statement)
        found.append([x.verdict(statement) for x in every])
        for _, of, measure, unit in decide.RULES.get(statement, ()):
            rows.append(f"{of}: {measure}")
            found.append([x.of(of, measure, f"{unit} verdict") for x in every])
    return rows, np.array(found).reshape(len(rows), len(every))


def curves(found: pd.DataFrame, every: Sequence[Model]) -> dict[tuple[str, int], pd.DataFrame]:
    """By description and modulus, step after step, medians over the models: how many numbers, the
    share of the logits that they explain, and the right answers."""
    n_of = {x.name: x.n for x in every}
    found = found.loc[found["run"].isin(n_of) & found["of"].str.startswith(FEW)]
    step = found.groupby(["run", "of", "measure"], observed=True).cumcount()
    found = found.assign(step=step, n=[n_of[x] for x in found["run"]])
    of_each = {}
    for of, n in product(found["of"].unique(), dict.fromkeys(n_of.values())):
        own = found.loc[(found["of"] == of) & (found["n"] == n)]
        by_step = own.pivot_table("value", "step", "measure", "median", observed=True)
        shown = by_step.rename(columns={"all": "share", "right answers": "right"})
        of_each[of.removeprefix(FEW), n] = shown[["numbers", "share", "right"]]
    return of_each
