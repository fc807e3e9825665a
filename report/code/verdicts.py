"""The paper's claims, one card each: what it says, what came out, in how many runs.

A verdict follows from tables by a rule of ``rules``; none is typed in. A claim whose tables this
project does not make is not tested.
"""

from collections.abc import Callable
from dataclasses import dataclass

from report.code import rules
from report.code.facts import Facts, Missing
from report.code.rules import REJECTED, UNTESTED, Found


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, where it stands there, the figure of the appendix that shows it,
    and the place in docs/ that says how it is tested."""

    title: str
    paper: str
    where: str
    figure: str
    method: str
    rule: Callable[[Facts], Found]

    def judged(self, facts: Facts) -> Found:
        """Verdict, what came out, over which runs."""
        try:
            return self.rule(facts)
        except Missing:
            return UNTESTED, "This project's tables do not have what the rule needs.", ""


CLAIMS = (
    Claim(
        "It learns the whole table",
        "The network answers every product of two residues rightly.",
        "Section 3.1",
        "fig05-training",
        "seeds#when-a-model-generalises",
        rules.accuracy,
    ),
    Claim(
        "A few key frequencies in each class",
        "The spectrum of the embedding inside a class is sparse.",
        "Table 2, Figure 9",
        "fig09-class-spectra",
        "results#table-2",
        rules.of_table("Table 2"),
    ),
    Claim(
        "Composite classes reuse frequencies",
        "Classes made of several cyclic factors use the frequencies of the single factors.",
        "Section 5.1, Figure 1",
        "fig01-hierarchy",
        "results#table-2",
        rules.reuse,
    ),
    Claim(
        "Classes are low-dimensional",
        "Less than 20 % of the principal components hold 95 % of the variance of a class.",
        "Section 5.1, Figure 2",
        "fig02-pca-dim",
        "differences#every-number-in-the-text",
        rules.bound("largest over the classes", "At most {max} are needed."),
    ),
    Claim(
        "Classes lie in regions of their own",
        "On the first three principal components the classes are separate.",
        "Figure 10",
        "fig10-embed-pca",
        "differences",
        rules.regions,
    ),
    Claim(
        "Nothing to see in token order",
        "The plain Fourier transform of the embedding has bands that do not follow the algebra.",
        "Figure 7",
        "fig07-token-fft",
        "differences",
        rules.token_order,
    ),
    Claim(
        "Attention routes by class",
        "Head 0 picks out the class, and attention routes the operands to it.",
        "Section 5.2, Figure 3",
        "fig03-attn-scores",
        "interventions#4-routing",
        rules.criterion(
            "routing",
            "all heads route by class, share of lost skill",
            "Patterns by class bring back what mean patterns lose in {counts} models.",
            REJECTED,
        ),
    ),
    Claim(
        "A head passes on a few directions",
        "Eight directions of head 0 hold more than 99.9 % of its OV circuit.",
        "Section 5.2",
        "fig04-cosine-align",
        "differences#every-number-in-the-text",
        rules.bound("share of the top 8", "They hold {mean} on average."),
    ),
    Claim(
        "Heads write into the classes’ subspaces",
        "OV circuits move what they read into the subspaces of the classes.",
        "Section 5.2, Figure 4",
        "fig04-cosine-align",
        "interventions#4-routing",
        rules.criterion(
            "routing",
            "writes into the classes",
            "With heads that write into them alone, {counts} models keep their skill.",
            REJECTED,
        ),
    ),
    Claim(
        "Neurons respond to classes",
        "Activations of the MLP show blocks of classes.",
        "Figure 11",
        "fig11-neurons",
        "seeds#neurons-follow-one-prime",
        rules.neurons,
    ),
    Claim(
        "Each class has a subspace of its own",
        "Elements of one class share a subspace, and the classes are isolated from one another.",
        "Section 5.1",
        "specificity",
        "interventions#2-specificity",
        rules.criterion(
            "specificity, class",
            "own subspaces: the other pairs are intact",
            "Without the directions of one class, other pairs stay intact in {counts} models.",
            REJECTED,
        ),
    ),
    Claim(
        "Characters explain the logits of a class",
        "Sums of characters of the key frequencies describe the logits inside each class.",
        "Table 3",
        "logits",
        "results#table-3",
        rules.of_table("Table 3"),
    ),
    Claim(
        "Key characters are what it computes with",
        "The computation is carried by the characters at the key frequencies.",
        "Sections 4.3 and 5.1",
        "keep-remove",
        "interventions#1-keep-and-remove",
        rules.criterion(
            "keep, embedding",
            "all classes at once",
            "With nothing else in the embedding, {counts} models keep their skill. That their "
            "kind matters, and not their energy, is not shown.",
            REJECTED,
        ),
    ),
    Claim(
        "One mechanism for each class",
        "The network finds the class of the product, then tests the candidates inside it.",
        "Section 4.3",
        "two-accounts",
        "strata-or-primes#4-decision",
        rules.mechanism,
    ),
    Claim(
        "Without attention, as well and faster",
        "A network of one hidden layer and no attention generalises faster and performs as well.",
        "Appendix, MLP Only",
        "mlp-seeds-pairs",
        "studies#1-mlp-only-models-over-five-seeds",
        rules.architecture,
    ),
)
