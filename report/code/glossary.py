"""A dozen words of the front page, and how its sentences point to them."""

import re

from markupsafe import Markup, escape

GLOSSARY = {
    "residue": "What is left after division by n: a number from 0 to n − 1.",
    "inverse": (
        "The inverse of a is the x with a·x = 1 modulo n. There is one if a and n share no factor."
    ),
    "class": "J_d: the residues a with gcd(a, n) = d, one class for each divisor d of n.",
    "group": (
        "A set with a product that has a one and inverses. Where n has no square factor, every "
        "class is one."
    ),
    "character": (
        "A wave on a group: it turns products into sums of angles. Every function on a "
        "commutative group is a sum of them."
    ),
    "Fourier transform": (
        "It writes a function as a sum of waves; the spectrum is how much each wave, or "
        "frequency, contributes."
    ),
    "key frequency": (
        "A frequency that holds at least half of what an even spectrum would give it."
    ),
    "embedding": "The table W_E: for each residue the vector with which it enters the network.",
    "principal component": (
        "A direction in which points spread most: a way to draw many dimensions in two."
    ),
    "attention head": (
        "A part that mixes what stands at a, b and =, with weights that depend on both."
    ),
    "logit": (
        "The network’s score for a candidate answer. The largest one is the answer; the softmax"
        " of all gives probabilities."
    ),
    "ablation": (
        "Taking a part away. Here, what a head writes is replaced by its mean over all pairs."
    ),
    "seed": (
        "The number that sets a training’s random start. Ten seeds are ten networks trained alike."
    ),
    "strata": (
        "The paper’s account: find the class of the product, and use characters of that class."
    ),
    "primes": ("The other account: compute the product modulo each prime power of n, and add up."),
}
LINK = re.compile(r"\[\[([^|\]]+)(?:\|([^\]]+))?\]\]")
INDEX = re.compile(r"\b([JW])_(\w+)")


def anchor(term: str) -> str:
    """The id of a term in the glossary.

    >>> anchor("key frequency")
    'term-key-frequency'
    """
    return f"term-{term.replace(' ', '-')}"


def explained(text: str) -> Markup:
    """A sentence as HTML: terms as links that say what they mean, J_d and W_E with a low index.

    Raises KeyError for a term that is not in the glossary.

    >>> explained("of J_3")
    Markup('of J<sub>3</sub>')
    """

    def link(m: re.Match[str]) -> str:
        tip = re.sub("_", "", GLOSSARY[m[1]])
        return f'<a class="term" href="#{anchor(m[1])}" data-tip="{escape(tip)}">{m[2] or m[1]}</a>'

    text = INDEX.sub(r"\1<sub>\2</sub>", str(escape(text)))
    return Markup(LINK.sub(link, text))
