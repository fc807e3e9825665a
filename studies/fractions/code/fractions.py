"""What hangs on the fraction of pairs that a run is trained on: docs/studies.md, section 4."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from strata.run import Run
from strata.tables.headline import Table
from studies.mechanism.code.study import Choice
from studies.seeds.code.beside_seeds import Studied
from studies.seeds.code.planned import SAID, Row, not_called, planned

N, SEEDS = 143, (1, 2)
VARIANTS = {0.2: "fifth", 0.3: "", 0.4: "twofifths", 0.5: "half"}  # of params.yaml, by fraction


def tables(runs: Sequence[Studied], choice: Choice) -> tuple[Table, Table]:
    """The runs, and what is said of them."""
    about, asked = f"Fraction of pairs trained on, n = {N}", [*product(VARIANTS, SEEDS)]
    own = planned([Run(N, seed, VARIANTS[x]) for x, seed in asked], runs, choice)
    own.insert(0, "fraction", [x for x, _ in asked])
    return (
        Table("fractions", f"{about}: the runs.", own),
        Table("fractions-said", f"{about}: what is said.", sentences(own)),
    )


def sentences(own: pd.DataFrame) -> pd.DataFrame:
    """What is said of the epoch, and of mixing among the runs that generalise; nothing while runs
    are missing."""
    done = own.loc[own["generalises"].fillna(False)]
    rows: list[Row] = [
        {"about": "epoch from which validation stays", "runs": own["generalises"].count()},
        {"about": "mixing", "runs": len(done)},
    ]
    if missing := not_called(own):
        rows = [row | {"said": missing} for row in rows]
    else:
        rows = [rows[0] | _epochs(own), rows[1] | _mixing(done)]
    return pd.DataFrame(rows, columns=SAID)


def _epochs(own: pd.DataFrame) -> Row:
    """Whether it goes down at every step in each seed; a run that never stays at the level is later
    than all that do."""
    epochs = own["epoch_validation"].astype(float).fillna(np.inf).to_numpy()
    epochs = epochs.reshape(len(VARIANTS), len(SEEDS))
    down = epochs[1:] < epochs[:-1]
    said = "goes down with the fraction" if down.all() else "does not go down at every step"
    return {"counted": f"down at {down.sum()} of {down.size} steps", "said": said}


def _mixing(done: pd.DataFrame) -> Row:
    """Whether both seeds mix at one fraction and neither at another; a fraction at which a run does
    not generalise is neither."""
    of = {x: group["mixes"].tolist() for x, group in done.groupby("fraction")}
    whole = [mixes for mixes in of.values() if len(mixes) == len(SEEDS)]
    depends = any(map(all, whole)) and not all(map(any, whole))
    counted = ", ".join(f"{x}: {sum(mixes)} of {len(mixes)}" for x, mixes in of.items())
    said = "depends on data" if depends else "not said to depend on data"
    return {"counted": counted, "said": said}
