"""The sections of the report on the embedding under the two accounts, and on the literature."""

from report.code.section import Section

PART = "Strata or primes"
EMBEDDING = (
    Section(
        "embedding-changes", PART, "", "A residue modulo one prime power, changed",
        "The row of *a* is moved by a difference that residues of other classes show, so that it "
        "is *r* modulo one prime power; the answer should be that of the residue that the algebra "
        "names. *Within* leaves its class as it is, *crossing* makes or breaks a zero. Means over "
        "pairs of classes, and the pair that succeeds least. *Control*: the higher of chance and a "
        "random direction of the same length. *Exchange*: main effects exchanged; it decides "
        "nothing.",
    ),
    Section(
        "embedding-keep", PART, "", "Main effects of prime powers, kept and removed",
        "*Share*: of the variance of W_E in the sum of main effects. *Keep* leaves that sum alone, "
        "beside main effects of permuted residues with its energy, and as many principal "
        "components, with their overlap. *Remove* takes it away; *shrunk* takes nothing away but "
        "scales W_E to the energy that removal leaves. *One removed*: skill modulo its own prime "
        "power and modulo the others, each in the worst case.",
    ),
    Section(
        "literature-runs", PART, "", "Measures of other studies",
        "*Symmetricity* of gradients and distance *irrelevance* (arXiv:2306.17844), simple neurons "
        "and approximate cosets (2505.18266), Gini of spectra (2606.17399). *Skill*: with every "
        "neuron replaced by its fit: a frequency of one prime power, any function of one prime "
        "power, any g(a) + g′(b).",
    ),
    Section(
        "embedding-seeds", PART, "", "The same over seeds",
        "Means over the runs that generalise, with Student’s intervals, one measure at a time.",
    ),
    Section(
        "embedding-thresholds", PART, "", "What hangs on a level: the embedding",
        "Every level is varied alone, then all to the lenient and to the strict end.",
    ),
)  # fmt: skip
