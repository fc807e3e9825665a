"""The tables of one run as data frames, ours beside the paper's.

`metrics` is the metrics file of a run, `printed` paper/printed_values.json. Nothing is rounded
here: shares are fractions, what the paper does not print is missing, a difference is ours − paper.
Module `typeset` makes the frames readable.
"""

import math
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from sympy import factorint

from strata import monoid
from strata.params import Params
from strata.thresholds import MetricsParams

Json = dict[str, Any]
# claim, where, unit, relation, paper, ours
Claim = tuple[str, str, str, str, float | None, float | None]
BOUNDS = {"<": operator.lt, ">": operator.gt}  # relations of a claim: ours to the paper’s


@dataclass(frozen=True)
class Table:
    """A frame with the name of its file and its caption."""

    name: str
    caption: str
    frame: pd.DataFrame


def tables(metrics: Json, printed: Json, params: Params) -> tuple[Table, ...]:
    """Every table of one run, its metrics made with these parameters."""
    n, run = metrics["n"], f"(n = {metrics['n']}, seed {metrics['seed']})"
    fve = f"Share of the Fourier energy of each class’s embedding at its key frequencies {run}."
    fit = f"Share of the centred logit variance that key-frequency characters explain {run}."
    classes = f"Classes of the integers modulo {n} under multiplication."
    if not all(J.regular for J in monoid.classes(n)):
        classes += " One without idempotent is a torsor of its group, with generators mod n/d."
    return (
        Table("moduli", "Moduli and their factorisation.", moduli(n, printed)),
        Table("key-freqs", fve, key_freqs(metrics, printed)),
        Table("character-fit", fit, character_fit(metrics, printed)),
        Table("jclasses", classes, jclasses(n)),
        Table("claims", f"Numbers in the text {run}.", claims(metrics, printed, params)),
    )


def moduli(n: int, printed: Json) -> pd.DataFrame:
    """Factorisation, number of primes, square-freeness of n and of the paper's moduli (Table 1).

    >>> moduli(12, {"table_moduli": {"143": {}}}).to_numpy().tolist()
    [[12, '2^2 x 3', 2, False], [143, '11 x 13', 2, True]]
    """
    rows = []
    for modulus in sorted({n, *map(int, printed["table_moduli"])}):
        powers = factorint(modulus)
        factors = " x ".join(f"{p}^{k}" if k > 1 else str(p) for p, k in powers.items())
        rows.append((modulus, factors, len(powers), max(powers.values()) == 1))
    return pd.DataFrame(rows, columns=["n", "factors", "omega", "square_free"])


def key_freqs(metrics: Json, printed: Json) -> pd.DataFrame:
    """Key frequencies and their share of the energy, classes of one element left out (Table 2)."""
    names = ["d", "regular", "key", "total", "fve", "fve_uniform", "enrichment"]
    names += ["atomic_share", "atomic_uniform"]
    rows = [[c[name] for name in names] for c in metrics["classes"] if c["fve"] is not None]
    frame = _marked(pd.DataFrame(rows, columns=names).astype({"enrichment": float}))
    if paper := _of_run(printed, "table_key_frequencies", metrics):
        theirs = [paper.get(str(d), {}) for d in frame["d"]]
        frame["paper_key"] = pd.array([p.get("key") for p in theirs], dtype="Int64")
        frame["key_difference"] = frame["key"] - frame["paper_key"]
        frame["paper_fve"] = _fractions(p.get("fve_percent") for p in theirs)
        frame["fve_difference"] = frame["fve"] - frame["paper_fve"]
    return frame


def character_fit(metrics: Json, printed: Json) -> pd.DataFrame:
    """R² of the character fit for one pair of operand classes, and for all prompts (Table 3)."""
    names = ["prompts", "r2", "r2_ceiling", "r2_product", "prompts_all", "r2_all"]
    fits = [((c["d"], c["regular"]), c["readout"]) for c in metrics["classes"] if c["readout"]]
    rows = [(*c, " x ".join(map(str, fit["pair"])), *(fit[k] for k in names)) for c, fit in fits]
    frame = _marked(pd.DataFrame(rows, columns=["d", "regular", "pair", *names]))
    if paper := _of_run(printed, "table_character_fit", metrics):
        theirs = [paper.get(str(d), {}) for (d, _), _ in fits]
        # The paper's value is comparable only where the operands are the same classes.
        percent = [
            p.get("r2_percent") if p.get("pairs") == list(fit["pair"]) else None
            for p, (_, fit) in zip(theirs, fits, strict=True)
        ]
        frame.insert(4, "paper_r2", _fractions(percent))
        frame.insert(5, "r2_difference", frame["r2"] - frame["paper_r2"])
    return frame


def jclasses(n: int) -> pd.DataFrame:
    """Size, idempotent, group and generators of each class; without idempotent, those acting on it.

    >>> jclasses(12)["group"].tolist()
    ['Z2 x Z2', 'Z2', 'Z2', 'Z2', 'trivial', 'trivial']
    """
    rows = []
    for J in monoid.classes(n):
        group = " x ".join(f"Z{q}" for q in J.orders if q > 1) or "trivial"
        generators = ", ".join(map(str, J.generators))
        rows.append((J.d, len(J), J.regular, J.idempotent, J.m, group, generators))
    names = ["d", "size", "regular", "idempotent", "m", "group", "generators"]
    return pd.DataFrame(rows, columns=names).astype({"idempotent": "Int64"})


def claims(metrics: Json, printed: Json, params: Params) -> pd.DataFrame:
    """The numbers of the paper's text, and those of ours that belong beside them, one row each."""
    limit, heads = params.tables.square_free_up_to, metrics["heads"]
    density = square_free_density(limit)
    square_free = f"square-free integers up to {limit:,}, and 6/π²"
    rows: list[Claim] = [
        *_accuracy_claims(metrics, printed, params.metrics),
        *_embedding_claims(metrics, printed, params.metrics),
        *(claim for h in heads[:1] for claim in _ov_claims(h, metrics, printed, params.metrics)),
        *(claim for h in heads for claim in _attention_claims(h)),
        *_block_claims(heads),
        *_neuron_claims(metrics["neurons"]),
        (square_free, "Table 1, appendix D.2", "share", "=", 6 / math.pi**2, density),
    ]
    frame = pd.DataFrame(rows, columns=["claim", "where", "unit", "relation", "paper", "ours"])
    frame = frame.astype({"paper": float, "ours": float})
    return frame.assign(difference=frame["ours"] - frame["paper"])


def class_claims(metrics: Json, printed: Json) -> pd.DataFrame:
    """The numbers of Tables 2 and 3, one row for each class, as `claims` has those of the text."""
    spectra, fits = key_freqs(metrics, printed), character_fit(metrics, printed)
    shown = (
        (spectra, "key", "Table 2", "count", "key frequencies"),
        (spectra, "fve", "Table 2", "share", "energy at key frequencies"),
        (fits, "r2", "Table 3", "share", "R² of the character fit"),
    )
    found = []
    for frame, name, where, unit, what in shown:
        about = {"where": where, "unit": unit, "relation": "="}
        values = {"paper": frame.get(f"paper_{name}", np.nan), "ours": frame[name]}
        own = pd.DataFrame({"claim": [f"J{d}: {what}" for d in frame["d"]], **about, **values})
        found.append(own.astype({"paper": float, "ours": float}))
    return pd.concat(found, ignore_index=True)


def _accuracy_claims(metrics: Json, printed: Json, params: MetricsParams) -> Iterator[Claim]:
    squares, accuracy, new = metrics["n"] ** 2, metrics["accuracy"], "beyond the paper"
    # The paper says complete mastery of the whole table, of the run that its numbers are about.
    known = _of_run(printed, "table_key_frequencies", metrics)
    theirs = printed["training"]["final_accuracy_on_all_pairs"] if known else None
    wrong = None if theirs is None else round((1 - theirs) * squares)
    yield "accuracy on all pairs", "3.1", "share", "=", theirs, accuracy["all"]
    ours = round((1 - accuracy["all"]) * squares)
    yield f"wrong answers among all {squares:,} pairs", "3.1", "count", "=", wrong, ours
    validation = "accuracy on the validation pairs"
    yield validation, "appendix B", "share", "", None, accuracy["validation"]
    free, leak = accuracy["mirror_free"], metrics["pairs"]["validation_mirrored_share"]
    yield f"{validation} without a mirror in training", new, "share", "", None, free
    yield "validation pairs with their mirror in training", new, "share", "", None, leak
    first, stays = metrics["first_099"], metrics["epoch_099"]
    level = f"{percent(params.accuracy)} %"
    for name, where in ("train", "appendix B"), ("validation", "appendix B"), ("mirror_free", new):
        accuracy = f"{name.replace('_', '-')} accuracy"
        claim = f"first epoch at which the {accuracy} is {level} or more"
        yield claim, where, "count", "", None, first[name]
        claim = f"epoch from which the {accuracy} stays at {level} or more"
        yield claim, where, "count", "", None, stays[name]
    claim = f"epochs whose train accuracy falls below {level} again"
    yield claim, new, "count", "", None, stays["train_relapses"]


def _embedding_claims(metrics: Json, printed: Json, params: MetricsParams) -> Iterator[Claim]:
    pca, share = metrics["pca"], percent(params.variance)
    if not pca:
        return
    paper = _of_run(printed, "embedding_pca", metrics) or {}
    bound = paper.get(f"share_of_components_for_{share}_percent_less_than")
    largest = max((c["pca"]["components"] for c in metrics["classes"] if c["pca"]), default=0)
    claim = f"share of the {pca['of']} principal components for {share} % of the variance"
    yield f"{claim}, largest over the classes", "5.1", "share", "<", bound, largest / pca["of"]
    yield f"{claim}, all residues", "5.1", "share", "", None, pca["share"]
    if order := metrics["token_order"]:
        claim = "energy of the plain Fourier transform where the period is a prime power"
        yield claim, "Figure 7", "share", "", None, order["share"]
        yield f"{claim}, if even", "Figure 7", "share", "", None, order["uniform"]
    claim, shown = "variance of the first three principal components", pca["shown"]
    yield f"{claim}: classes explain", "Figure 10", "share", "", None, shown["classes"]
    for q, explained in shown["modulo"].items() if len(shown["modulo"]) > 1 else ():
        yield f"{claim}: a modulo {q} explains", "Figure 10", "share", "", None, explained


def _ov_claims(head: Json, metrics: Json, printed: Json, params: MetricsParams) -> Iterator[Claim]:
    paper, ov = _of_run(printed, "ov_circuit_head_0", metrics) or {}, head["ov"]
    share, top = percent(params.variance), params.top_singular
    claim = f"head {head['head']}, {ov['of']} singular values of OV"
    theirs = paper.get(f"components_for_{share}_percent")
    yield f"{claim}: needed for {share} %", "5.2", "count", "=", theirs, ov["components"]
    [theirs] = _fractions([paper.get(f"top_{top}_variance_percent_more_than")])
    yield f"{claim}: share of the top {top}", "5.2", "share", ">", theirs, ov["top"]
    angles = _of_run(printed, "principal_angles_head_0", metrics) or {"threshold": None}
    above = angles["directions_above"] if angles["threshold"] == params.aligned_cosine else {}
    for d in sorted(map(int, head["alignment"]))[:2]:  # the paper names J_1 and J_3, its first two
        claim = f"head {head['head']}, directions of J{d} with a cosine ≥ {params.aligned_cosine:g}"
        ours = head["alignment"][str(d)]
        # The paper's count is that of the read side, though its text speaks of the output.
        theirs = above.get(str(d))
        where = "5.2, Figure 4"
        yield f"{claim}: read", where, "count", "=", theirs, ours["read_above"]
        beside = f"{claim}: read, by as many random residues"
        yield beside, "beyond the paper", "ratio", "", None, ours["read_random"]
        yield f"{claim}: written", where, "count", "", None, ours["write_above"]


def _attention_claims(head: Json) -> Iterator[Claim]:
    for name in ("mean", "max"):
        claim = f"head {head['head']}, attention of ‘=’ to itself, {name}"
        yield claim, "appendix B.3", "share", "", None, head["self_attention"][name]


def _block_claims(heads: list[Json]) -> Iterator[Claim]:
    claim, new = "variance of the attention to a that class blocks explain", "beyond the paper"
    for head in heads:
        yield f"head {head['head']}, {claim}", new, "share", "", None, head["block_score"]
    if heads:
        shuffled = max(head["block_score_shuffled"]["mean"] for head in heads)
        yield f"{claim}, shuffled classes, largest over heads", new, "share", "", None, shuffled


def _neuron_claims(neurons: Json | None) -> Iterator[Claim]:
    if neurons:
        claim = "variance of the MLP’s activations that"
        classes, one = neurons["classes"], neurons["one_power"]
        yield f"{claim} the classes of a and b explain", "Figure 11", "share", "", None, classes
        if len(neurons["modulo"]) > 1:
            claim += " a and b explain modulo one prime power for each neuron"
            yield claim, "Figure 11", "share", "", None, one


def square_free_density(limit: int) -> float:
    """Share of the square-free integers among 1 … limit, by a sieve; it tends to 6/π².

    >>> square_free_density(10)
    0.7
    """
    free = np.ones(limit, dtype=bool)
    for k in range(2, math.isqrt(limit) + 1):
        free[k * k - 1 :: k * k] = False
    return float(free.mean())


def summary(metrics: Json) -> Json:
    """The few numbers that tell runs apart; what a run lacks is left out."""
    named = {f"J{c['d']}": c for c in metrics["classes"]}
    groups = {
        "accuracy": {k: metrics["accuracy"][k] for k in ("all", "validation", "mirror_free")},
        "first_099": metrics["first_099"],
        "epoch_099": metrics["epoch_099"],
        "fve": {name: c["fve"] for name, c in named.items()},
        "r2": {name: c["readout"]["r2"] for name, c in named.items() if c["readout"]},
    }
    numbers: Json = {k: {i: x for i, x in v.items() if x is not None} for k, v in groups.items()}
    if metrics["pca"]:
        numbers["pca_components"] = metrics["pca"]["components"]
    if metrics["heads"]:
        numbers["ov_head0_components"] = metrics["heads"][0]["ov"]["components"]
    return numbers


def _marked(frame: pd.DataFrame) -> pd.DataFrame:
    """Regular classes are marked where not all of them are."""
    return frame.drop(columns="regular") if np.all(frame["regular"]) else frame


def _of_run(printed: Json, name: str, metrics: Json) -> Json | None:
    """What the paper prints under this name for the run's modulus and seed, if anything."""
    if metrics["architecture"] != "transformer":
        return None
    return printed.get(f"{name}_n{metrics['n']}_seed{metrics['seed']}")


def percent(share: float) -> str:
    """A share as a percentage in its shortest form.

    >>> percent(0.95), percent(0.975)
    ('95', '97.5')
    """
    return f"{100 * share:.6g}"


def _fractions(percents: Iterable[float | None]) -> Float[np.ndarray, " rows"]:
    """Percentages as fractions; None, which the paper does not print, as NaN."""
    return np.round(np.array(list(percents), dtype=float) / 100, 9)
