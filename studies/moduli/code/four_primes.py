"""Whether the account by primes holds where n has four of them: docs/studies.md, section 3."""

from collections.abc import Sequence

import pandas as pd

from strata.run import Run
from strata.tables.headline import Table
from studies.interventions.code import heads
from studies.interventions.code.records import Interventions
from studies.mechanism.code.study import Choice, counted
from studies.seeds.code.beside_seeds import Studied
from studies.seeds.code.planned import SAID, Row, not_called, planned, there

N, SEEDS = 210, (1, 2, 3)
HEADS = [f"{x}{scale}" for scale in ("", "_zero") for x in ("put", "alone", "group")]


def tables(runs: Sequence[Studied], choice: Choice) -> tuple[Table, Table]:
    """The runs, and what is said of them."""
    about, asked = f"Four primes, n = {N}", [Run(N, seed) for seed in SEEDS]
    found = there(asked, runs)
    own = planned(asked, runs, choice)
    of_heads = heads.primes([x.interventions for x in found.values()])[["seed", *HEADS]]
    own = own.merge(of_heads.astype({"seed": int}), on="seed", how="left")
    done = [found[run] for run in own.loc[own["generalises"].fillna(False), "run"]]
    return (
        Table("four-primes", f"{about}: the runs.", own),
        Table("four-primes-said", f"{about}: what is said.", sentences(own, done, choice)),
    )


def sentences(own: pd.DataFrame, done: Sequence[Studied], choice: Choice) -> pd.DataFrame:
    """What is said of the runs that generalise; nothing while runs are missing."""
    rows = [_account(done, choice), _pattern([x.interventions for x in done])]
    if missing := not_called(own):
        rows = [{k: row[k] for k in SAID[:2]} | {"said": missing} for row in rows]
    return pd.DataFrame(rows, columns=[*SAID[:-1], "p_test", SAID[-1]])


def _account(done: Sequence[Studied], choice: Choice) -> Row:
    """Whether the runs that generalise are *primes* in the logits and in the embedding."""
    verdicts = [x.case.both(choice.votes(x.case).L) for x in done]
    row: Row = {"about": "the account by primes", "runs": len(done), "counted": counted(verdicts)}
    if not done:
        return row | {"said": "not called: no run generalises"}
    held = [choice.votes(x.case).L == x.case.E == "primes" for x in done]
    said = f"holds for {N}" if all(held) else "the verdicts are listed"
    said = said if any(held) else f"fails for {N}"
    return row | {"said": f"{said}; too few runs for the rule of a modulus"}


def _pattern(done: Sequence[Interventions]) -> Row:
    """How many runs divide four heads two and two between the two largest primes, with a margin, as
    at other moduli, and the chance of that."""
    row: Row = {"about": "heads put to primes", "runs": len(done)}
    found = heads.chance(done)
    for x in found.loc[found["rule"] == "with a margin"].to_dict("records"):
        two = " and ".join(x["powers"].split(", ")[-2:])
        row["counted"] = f"{x['divided']} of {x['runs']} two and two at {two}, "
        row["counted"] += f"by chance {100 * x['split_chance']:.1f} % of runs"
        row["p_test"] = x["p_binomial"]
    return row
