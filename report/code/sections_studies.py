"""The sections of the report on the studies over seeds."""

from report.code.section import Section

STUDIES = (
    Section(
        "mlp-seeds", "Over seeds", "", "MLP-only models over five seeds",
        "Each statement by a criterion that was fixed before its runs were trained: "
        "docs/studies.md. *Earlier*: the epoch from which validation accuracy stays at its level. "
        "*Transformers* are those of the same seeds, which have the same splits. A modulus with "
        "fewer seeds than the study is shown and not called.",
    ),
    Section(
        "mlp-seeds-pairs", "Over seeds", "", "MLP-only models and transformers, pair by pair",
        "What the statements count. *Mixes*: characters of two primes at once. *Directions with "
        "primes*: removing those of a prime costs that prime alone. Where *n* is prime there is "
        "neither.",
    ),
    Section(
        "mlp-seeds-differences", "Over seeds", "", "What MLP-only models and transformers learn",
        "MLP-only model less transformer of the same seed, where both generalise: *R²* of the "
        "character fit and *FVE* in points, key frequencies of each class, components of all "
        "residues; a dot is a pair. Student’s interval and test of the mean, Holm within a "
        "modulus. A difference that is not shown may be there all the same.",
    ),
    Section(
        "crossed", "Over seeds", "", "Split against initial weights",
        "Three splits crossed with three initial weights, one run in each cell. Shares of the "
        "components of variance, by mean squares; *rest* contains the interaction. A factor "
        "decides if its F-test says so, corrected over all rows and both factors, and its share is "
        "above a half. *Other rounding*: half the squared difference of a run and the same trained "
        "on another machine, against the same sum: docs/studies.md.",
    ),
    Section(
        "crossed-runs", "Over seeds", "", "Split against initial weights, run by run",
        "The runs that there are, of nine; *again*: the same, trained on another machine.",
    ),
    Section(
        "four-primes-said", "Over seeds", "", "Four primes",
        "Whether the account by primes holds for *n* = 210, by a criterion that was fixed before "
        "its runs were trained: docs/studies.md. *Heads*: put to the prime modulo which least "
        "skill is left without them, with a margin; two of them at each of the two largest "
        "primes, as at other moduli.",
    ),
    Section(
        "four-primes", "Over seeds", "", "Four primes, run by run",
        "The verdicts of strata or primes, and what heads are needed for. *Mixes*: characters of "
        "two primes at once.",
    ),
    Section(
        "fractions-said", "Over seeds", "", "Fraction of pairs trained on",
        "Two seeds make no test: docs/studies.md says when a sentence is said. A run that does not "
        "generalise comes later than all that do, and is left out of mixing.",
    ),
    Section(
        "fractions", "Over seeds", "", "Fraction of pairs trained on, run by run",
        "*To stay*: the epoch from which validation accuracy stays at its level. *Mixes*: "
        "characters of two primes at once.",
    ),
)  # fmt: skip
