"""Rules by which a claim of the paper gets its verdict, from tables alone."""

from collections.abc import Callable

from sympy.ntheory import factorint

from report.code.cards import percent
from report.code.facts import Facts, Missing, Row, held, of, spread

HOLDS, DIFFERS, REJECTED = "holds", "differs", "rejected by intervention"
UNSHOWN, UNTESTED = "not shown", "not tested"  # too few runs to say; no run
Found = tuple[str, str, str]  # verdict, what came out, over which runs


def seeds(count: int) -> str:
    """As in ``10 runs``."""
    return f"{count} runs"


def accuracy(f: Facts) -> Found:
    """All pairs right, in the mean over seeds."""
    row = f.claim("^accuracy on all pairs$")
    ours = f"{percent(row['mean'])} of all pairs on average, {percent(row['min'])} at least."
    return HOLDS if held(row) else DIFFERS, ours, seeds(row["runs"])


def of_table(where: str) -> Callable[[Facts], Found]:
    """Most numbers of one of the paper's tables within the seeds."""

    def rule(f: Facts) -> Found:
        rows = [x for x in f.rows("classes-verdict", where=where) if x["verdict"]]
        if not rows:
            raise Missing(where)
        inside = sum(held(x) for x in rows)
        ours = f"{of((inside, len(rows)))} numbers of {where} lie within our seeds."
        return HOLDS if 2 * inside > len(rows) else DIFFERS, ours, seeds(rows[0]["runs"])

    return rule


def reuse(f: Facts) -> Found:
    """The energy on frequencies of one cyclic factor, above what even energy would put there."""
    rows = [x for x in f.rows("key-freqs") if x["atomic_uniform"] < 1]
    if not rows:
        raise Missing("key-freqs: no class of several factors")
    own = [x["atomic_share"] for x in rows]
    above = all(x["atomic_share"] > x["atomic_uniform"] for x in rows)
    ours = f"{spread(own)} of the energy lies on frequencies of one cyclic factor."
    return HOLDS if above else DIFFERS, ours, "headline run; the same over seeds in the appendix"


def bound(pattern: str, sentence: str) -> Callable[[Facts], Found]:
    """A number of the text that lies within the seeds, or whose bound holds in most of them."""

    def rule(f: Facts) -> Found:
        row = f.claim(pattern)
        ours = sentence.format(mean=percent(row["mean"]), max=percent(row["max"]))
        verdict = HOLDS if held(row) else DIFFERS
        return verdict, f"{ours} {row['verdict'].capitalize()}.", seeds(row["runs"])

    return rule


def regions(f: Facts) -> Found:
    """Classes explain less of the first components than residues modulo one prime."""
    own = f.claim("components: classes explain")
    moduli = {q: f.claim(f"components: a modulo {q} explains")["mean"] for q in factorint(f.n)}
    q = max(moduli, key=moduli.__getitem__)
    ours = (
        f"Classes explain {percent(own['mean'])} of the variance there, the residue modulo {q} "
        f"{percent(moduli[q])}."
    )
    return DIFFERS if own["mean"] < moduli[q] else HOLDS, ours, seeds(own["runs"])


def criterion(section: str, test: str, sentence: str, bad: str) -> Callable[[Facts], Found]:
    """A criterion that most of the runs pass, or else ``bad``."""

    def rule(f: Facts) -> Found:
        met, tried = f.passing(section, test)
        verdict = HOLDS if 2 * met > tried else bad
        return verdict, sentence.format(counts=of((met, tried))), f"{tried} runs"

    return rule


def neurons(f: Facts) -> Found:
    """Classes explain less of the neurons than residues modulo one prime power each."""
    rows = {x["measure"]: x for x in f.rows("neurons-seeds", n=f.n)}
    try:
        own, prime = (rows[x] for x in ("classes of a and b", "a and b modulo one prime power"))
    except KeyError:
        raise Missing("neurons-seeds") from None
    ours = (
        f"Classes explain {percent(own['mean'])} of the activations; a and b modulo one prime "
        f"power, chosen for each neuron, {percent(prime['mean'])}."
    )
    return DIFFERS if own["mean"] < prime["mean"] else HOLDS, ours, seeds(own["runs"])


def token_order(f: Facts) -> Found:
    """The plain transform has its energy where the period is a prime power."""
    own, even = (f.claim(f"prime power{x}$") for x in ("", ", if even"))
    ours = (
        f"{percent(own['mean'])} of the energy is where the period is a power of one prime, where "
        f"even energy would put {percent(even['mean'])}."
    )
    return DIFFERS if own["mean"] > 2 * even["mean"] else HOLDS, ours, seeds(own["runs"])


def mechanism(f: Facts) -> Found:
    """The verdict on the logits: strata or primes."""
    rows = f.accounts()
    strata, primes = (sum(x["L"] == name for x in rows) for name in ("strata", "primes"))
    ours = (
        f"Logits as strata predict: {of((strata, len(rows)))}; as primes predict: "
        f"{of((primes, len(rows)))}. Neither account explains them wholly."
    )
    return HOLDS if 2 * strata > len(rows) else DIFFERS, ours, f"{len(rows)} runs"


def architecture(f: Facts) -> Found:
    """MLP-only models generalise earlier over the pairs of all moduli called, and are as accurate
    in each of them: the criteria of docs/studies.md, section 1. It differs where the opposite of
    one of both is shown."""
    [faster] = f.rows("mlp-seeds", statement="generalise faster", n=None)
    called = [x for x in f.rows("mlp-seeds", statement="perform equally well") if whole(x)]
    if not called or faster["counted"] is None:
        raise Missing("mlp-seeds: too few seeds")
    found = [faster["said"], *(x["said"] for x in called)]
    equal = found.count(HOLDS) - (faster["said"] == HOLDS)
    ours = (
        f"{faster['counted']}, by the epoch from which validation accuracy stays. "
        f"As accurate on all pairs in {of((equal, len(called)))} moduli."
    )
    shown = HOLDS if found.count(HOLDS) == len(found) else UNSHOWN
    verdict = DIFFERS if {"the opposite", "worse", "better"} & {*found} else shown
    return verdict, ours, f"{sum(int(x['seeds']) for x in called)} pairs of runs"


def whole(row: Row) -> bool:
    """Whether a modulus has the seeds that its statement needs."""
    return not row["said"].startswith("not called")
