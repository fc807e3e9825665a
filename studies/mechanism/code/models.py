"""The models that were measured, by what they are to the verdict."""

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from strata.arithmetic import factorint
from strata.results import check
from strata.run import Run

FRESH, EARLIER, ONE, SQUARES = "fresh", "earlier", "one prime", "with squares"
MLP, OTHERS, BESIDE = "MLP-only", "other runs", "beside"
KINDS = (FRESH, EARLIER, ONE, SQUARES, MLP, OTHERS, BESIDE)
BY_MODULUS = {FRESH, EARLIER, MLP}
GROUPS = FRESH, EARLIER  # that tables and figures compare
CONTROLS = "untrained", "memorised"  # of which no statement may hold


class Models(NamedTuple):
    """Models by name, in the order of their kind, modulus and number: the kind of each, its
    modulus, 0 of one that stands beside, the group in which it is summarised; and its numbers and
    verdicts by id and measure."""

    kind: pd.Series
    n: pd.Series
    group: pd.Series
    values: pd.DataFrame
    verdicts: pd.DataFrame

    def numbers(self, id: str, measure: str = "") -> pd.Series:
        """Return one number of every model; NaN where there is none. Raises InputError for an id
        that no model has, neither with a number nor with a verdict."""
        check(id, {x for x, _ in self.values.columns} | {*self.verdicts.columns})
        return pd.Series(self.values.get((id, measure), nan), self.kind.index)

    @property
    def accuracy(self) -> pd.Series:
        """Return the share of right answers of every model."""
        return self.numbers("whole", "right")

    def verdict(self, id: str) -> pd.Series:
        """Return the verdict on every model; empty where there is none."""
        return pd.Series(self.verdicts[id])

    def where(self, mask: pd.Series) -> "Models":
        """Select the models for which the mask is true."""
        return Models(*(x.loc[mask] for x in self))


def kind_of(name: str, fresh: Sequence[str]) -> str:
    """Return what a run is to the verdict: fresh, earlier of the same kind, or of another kind.

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


def models(measured: pd.DataFrame, fresh: Sequence[str]) -> Models:
    """Collect the models of a long table. Where a kind has many models, those of one modulus are a
    group."""
    kinds = {str(name): kind_of(str(name), fresh) for name in measured["run"].unique()}
    runs = {name: Run.parse(name) for name, kind in kinds.items() if kind != BESIDE}

    def order(name: str) -> tuple[Any, ...]:
        run, rank = runs.get(name), KINDS.index(kinds[name])
        return (rank, run.n, run.variant, run.seed, run.weights_seed) if run else (rank,)

    def group(name: str) -> str:
        if name not in runs:
            return name
        return f"n = {runs[name].n}, {kinds[name]}" if kinds[name] in BY_MODULUS else kinds[name]

    names = sorted(kinds, key=order)
    kind = pd.Series([kinds[x] for x in names], pd.Index(names, name="run"))
    n = pd.Series([runs[x].n if x in runs else 0 for x in names], kind.index)
    groups = pd.Series([group(x) for x in names], kind.index, name="group")
    text = measured.astype(dict.fromkeys(["run", "id", "measure", "verdict"], object))
    values = text.pivot_table("value", "run", ["id", "measure"], "last").reindex(kind.index)
    verdicts = text.loc[text["measure"] == ""].pivot_table("verdict", "run", "id", "last")
    return Models(kind, n, groups, values, verdicts.reindex(kind.index).fillna(""))
