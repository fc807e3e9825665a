"""The six steps of the front page: a question, three sentences, a picture, the evidence.
Numbers come from tables; ``[[term]]`` and ``[[term|words]]`` are looked up in the glossary."""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from sympy.ntheory import factorint

from report.code.cards import percent
from report.code.facts import Facts, Missing, held, of, spread
from strata.monoid import classes, idempotent
from studies.mechanism.code.main_effects import prime_powers


@dataclass(frozen=True)
class Step:
    """``view`` names its function in site/steps.js, ``figure`` stands for it without JavaScript,
    ``evidence`` are sections of the appendix, ``method`` is a place in docs/."""

    view: str
    title: str
    sentences: tuple[Callable[[Facts], str], ...]
    figure: str
    evidence: tuple[str, ...]
    method: str


def factored(n: int) -> str:
    """n as a product.

    >>> factored(165), factored(12)
    ('3 · 5 · 11', '2² · 3')
    """
    high = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    powers = {k: str(k).translate(high) if k > 1 else "" for k in factorint(n).values()}
    return " · ".join(f"{p}{powers[k]}" for p, k in sorted(factorint(n).items()))


def no_inverse(f: Facts) -> str:
    """How many residues have no inverse, and what one of them reaches."""
    p, without = min(factorint(f.n)), f.n - len(classes(f.n)[0])
    return (
        f"Modulo {f.n} = {factored(f.n)}, {without} of the {f.n} [[residue|residues]] have no "
        f"[[inverse]]: the multiples of {p}, for example, reach only {f.n // p} values, so "
        "what was multiplied cannot be recovered."
    )


def groups(f: Facts) -> str:
    """The classes, and whether all are groups."""
    own = classes(f.n)
    regular = sum(J.regular for J in own)
    J = max((J for J in own if J.d > 1 and J.regular), key=len, default=own[0])
    are = "each is a [[group]]" if regular == len(own) else f"{regular} are [[group|groups]]"
    return (
        f"Sort the residues by what they share with {f.n}: {len(own)} [[class|classes]] J_d, those "
        f"with gcd(a, {f.n}) = d. With a one of its own, {are}: J_{J.d} has {len(J)} elements, and "
        f"its one is {idempotent(J.d, f.n)}."
    )


def product_class(f: Facts) -> str:
    """The class of a product."""
    d, e = [*sorted(factorint(f.n)), 1][:2]
    return (
        f"The class of a product is known from the classes of its factors: J_{d} times J_{e} lies "
        f"in J_{gcd(d * e, f.n)}."
    )


def sparse(f: Facts) -> str:
    """Key frequencies and their energy in the headline run."""
    rows = f.rows("key-freqs")
    top = rows[0]
    many = [x["fve"] for x in rows if x["total"] > 3] or [top["fve"]]
    return (
        f"In the trained network a few [[key frequency|key frequencies]] hold {spread(many)} of "
        f"the energy of a class: {top['key']} of {top['total']} in J_{top['d']}, which would have "
        f"{percent(top['fve_uniform'])} if all were equal."
    )


def as_printed(f: Facts) -> str:
    """How many numbers of the paper's two tables are within the seeds."""
    rows = [x for x in f.rows("classes-verdict") if x["verdict"]]
    if not rows:
        raise Missing("classes-verdict")
    inside = sum(held(x) for x in rows)
    return (
        f"The paper’s numbers come back: {inside} of {len(rows)} in its Tables 2 and 3 lie within "
        f"our {rows[0]['runs']} [[seed|seeds]]."
    )


def components(f: Facts) -> str:
    """What the first principal components follow."""
    moduli = sorted(factorint(f.n))
    rows = {q: f.claim(f"components: a modulo {q} explains") for q in moduli}
    best = max(moduli, key=lambda q: rows[q]["ours"])
    own = f.claim("components: classes explain")
    return (
        f"The classes explain {percent(own['ours'])} of where residues lie on the first three "
        f"[[principal component|principal components]]; the residue modulo {best} explains "
        f"{percent(rows[best]['ours'])} (means over {own['runs']} seeds: {percent(own['mean'])} "
        f"and {percent(rows[best]['mean'])})."
    )


def axes_cut(f: Facts) -> str:
    """What the directions of a prime are needed for."""
    spared = f.passing("specificity, axis", "spared: pairs without the axis are intact")
    own = f.passing("specificity, axis", "own: pairs with it, an operand in the class")
    return (
        "Cut out the directions of one prime: the answers that need it break in "
        f"{of(own)} models, and all other answers stay intact in {of(spared)}."
    )


def classes_cut(f: Facts) -> str:
    """What the directions of a class are needed for."""
    own = f.passing("specificity, class", "own subspaces: the other pairs are intact")
    return (
        f"Cut out the directions of one class, and other classes break too: in {of(own)} models "
        "does a class have directions of its own."
    )


def routing(f: Facts) -> str:
    """Whether attention routes by class."""
    test = "all heads route by class, share of lost skill"
    return (
        f"[[attention head|Attention]] routes by class in {of(f.passing('routing', test))} models."
    )


def logits(f: Facts) -> str:
    """Gating and the verdict on the logits."""
    rows = f.accounts()
    primes = sum(x["L"] == "primes" for x in rows)
    gating = [x["gating"] for x in rows]
    return (
        "Does a character count as much between classes as inside one? [[strata|Strata]] say 0, "
        f"[[primes]] 1; the measured median is {min(gating):.2f} to {max(gating):.2f}, and the "
        f"[[logit|logits]] are those of primes in {of((primes, len(rows)))} models."
    )


def complete(f: Facts) -> str:
    """How much of the logits the primes leave."""
    rows = f.accounts()
    explained, ceiling = [x["r2_C"] for x in rows], [x["ceiling"] for x in rows]
    return (
        f"That is not the whole story: primes explain {spread(explained)} of the logits, where "
        f"{spread(ceiling)} can be explained."
    )


def embedding(f: Facts) -> str:
    """The verdict on the embedding, modulus by modulus."""
    rows = f.accounts()
    counts = []
    for n in sorted({x["n"] for x in rows}, reverse=True):
        own = [x["E"] == "primes" for x in rows if x["n"] == n]
        counts.append(f"{of((sum(own), len(own)))} for {n}")
    return f"In the [[embedding]] the verdict is primes in {', '.join(counts)}."


STEPS = (
    Step(
        "inverses",
        "What breaks without inverses",
        (
            lambda _: (
                "Modulo a prime every factor but 0 can be divided out again; take logarithms, and "
                "multiplication becomes rotation on a circle, which networks are known to learn."
            ),
            no_inverse,
            lambda _: (
                "So the known [[Fourier transform|Fourier]] algorithms do not apply as they stand. "
                "What does a network do instead?"
            ),
        ),
        "fig01-hierarchy",
        ("moduli", "fig01-hierarchy"),
        "every-modulus",
    ),
    Step(
        "classes",
        "The paper’s idea: classes",
        (
            groups,
            product_class,
            lambda _: (
                "The paper says that the network finds the class, and does Fourier analysis on the "
                "[[group]] that it is."
            ),
        ),
        "fig08-class-order",
        ("jclasses", "fig01-hierarchy"),
        "every-modulus#one-definition-for-both-kinds",
    ),
    Step(
        "spectra",
        "Inside a class the spectrum is sparse",
        (
            lambda _: (
                "Put the [[embedding]] of one class in the order of its group and write it as a "
                "sum of [[character|characters]], the waves of that group."
            ),
            sparse,
            as_printed,
        ),
        "fig09-class-spectra",
        ("fig09-class-spectra", "key-freqs", "classes-verdict"),
        "results#table-2",
    ),
    Step(
        "pca",
        "Classes, or primes?",
        (
            lambda f: (
                f"Each residue modulo {f.n} is also a list of residues modulo "
                f"{', '.join(map(str, prime_powers(f.n)))}: a network "
                "that handles each prime alone would show sparse spectra in every class as well."
            ),
            components,
            lambda _: "Colour the map by class, then by the residue modulo each prime.",
        ),
        "fig10-embed-pca",
        ("fig10-embed-pca", "fig07-token-fft", "verdict"),
        "differences",
    ),
    Step(
        "changes",
        "What interventions say",
        (axes_cut, classes_cut, routing),
        "specificity",
        ("specificity", "evidence-moduli", "routing-runs"),
        "interventions#2-specificity",
    ),
    Step(
        "gating",
        "The verdict",
        (logits, embedding, complete),
        "two-accounts",
        ("two-accounts", "accounts-moduli", "accounts-runs"),
        "strata-or-primes#4-decision",
    ),
)
