"""Runs that handle classes in another way than most, and conclusions that hang on a level."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from strata.tables.headline import Table
from studies.interventions.code.records import Interventions
from studies.mechanism.code.decision import FEWEST, called
from studies.mechanism.code.study import (
    Case,
    Choice,
    by_kind,
    conclusion,
    name_of,
    varied,
    verdicts,
)
from studies.mechanism.code.tables_accounts import run

Json = dict[str, Any]
NUMBERS = ["loss", "margin", "epoch", "key", "mixed", "gating", "gating_least"]
NUMBERS += ["gating_least_share", "balanced", "delta", "tau"]
NUMBERS += ["accuracy_all", "accuracy_class", "accuracy_out"]


def tables(
    cases: Sequence[Case], interventions: Sequence[Interventions], choice: Choice
) -> tuple[Table, ...]:
    """Both tables."""
    about = "Runs that are followed up, and the medians of the other runs of each modulus."
    margins = {x.run: x for x in interventions}
    return (
        Table("accounts-exceptions", about, exceptions(cases, margins, choice)),
        Table("accounts-thresholds", "What each level changes.", thresholds(cases, choice)),
    )


def exceptions(
    cases: Sequence[Case], interventions: dict[str, Interventions], choice: Choice
) -> pd.DataFrame:
    """Runs with low gating in a modulus called primes, runs that mix primes and runs that do not
    generalise, with what may set them apart. It describes; it tests no cause. Runs with low gating
    in one character alone are there too: exploratory, found in the results."""
    rows: list[Json] = []
    for kind, own in by_kind(cases).items():
        primes = called(verdicts(own, choice)) == "primes"
        found = [one(case, interventions, choice, primes) for case in own]
        marked, others = ([x for x in found if bool(x["why"]) == y] for y in (True, False))
        rows += marked
        if marked and others:
            medians = pd.DataFrame(others)[NUMBERS].astype(float).median().to_dict()
            which = f"median of {len(others)} others" if len(others) > 1 else "the other"
            rows.append({"run": f"{name_of(kind)}: {which}"} | medians)
    return pd.DataFrame(rows, columns=["run", "why", "L", "E", *NUMBERS])


def one(case: Case, interventions: dict[str, Interventions], choice: Choice, primes: bool) -> Json:
    """The row of a run, with why it is followed up; empty for one that is not."""
    row, at = run(case, choice), case.logits.at[0]
    base = interventions[case.logits.run].base
    gatings = [x for x in (row["gating"], row["balanced"]) if x is not None]
    least = 1 if row["gating_least"] is None else row["gating_least"]
    reasons = {
        "did not generalise": not row["generalised"],
        "low gating": primes and min(gatings, default=1) < choice.levels.primes,
        "a gated character": primes and least < choice.levels.primes,
        "mixing": row["mixing"],
    }
    return row | {
        "why": ", ".join(name for name, so in reasons.items() if so),
        "loss": base.loss if base else None,
        "margin": base.margin if base else None,
        "epoch": case.metrics.epoch_099.validation,
        "accuracy_all": case.logits.accuracy,
        "accuracy_class": min(case.logits.accuracy_classes.values()),
        "accuracy_out": min(x.accuracy for x in at.held_out),
    }


def thresholds(cases: Sequence[Case], choice: Choice) -> pd.DataFrame:
    """For each conclusion on the logits of a modulus: what it is with other levels, one changed at
    a time, and with all at one end of their ranges."""
    rows = []
    for kind, own in by_kind(cases).items():
        if len(own) < FEWEST:
            continue
        default, tried = stated(own, choice), [*varied(choice, own[0])]
        found = [(f"{level} {x}", stated(own, other)) for level, x, other in tried]
        for name, (short, text) in default.items():
            changes = [f"{x}: {y[name][1]}" for x, y in found if y[name][0] != short]
            row = {"kind": name_of(kind), "conclusion": name, "default": text}
            row |= {"tried": len(tried), "changed": "; ".join(changes)}
            rows.append(row)
    return pd.DataFrame(rows, columns=["kind", "conclusion", "default", "tried", "changed"])


def stated(cases: Sequence[Case], choice: Choice) -> dict[str, tuple[str, str]]:
    """The conclusions on the logits of a modulus: what must stay, and the words with counts."""
    done = [choice.votes(x) for x in cases if x.generalised(choice.generalised)]
    levels, L = choice.levels, [x.L for x in done]
    tau = [x.tau is not None and x.tau >= levels.tau_primes for x in done]
    cost = [x.cost is not None and x.cost >= levels.cost_strata for x in done]
    return {
        "logits": (called(L) or "not decided", conclusion(L)),
        "τ agrees with primes": _share(tau),
        "cost speaks against primes": _share(cost),
    }


def _share(held: Sequence[bool]) -> tuple[str, str]:
    """In how many runs something holds, and whether that is none, some or all."""
    short = "all" if all(held) else "some" if any(held) else "none"
    return short, f"{sum(held)} of {len(held)}"
