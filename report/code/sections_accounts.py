"""The sections of the report on strata and primes."""

from report.code.section import Section

PART = "Strata or primes"
ACCOUNTS = (
    Section("two-accounts", PART),
    Section(
        "accounts-moduli", PART, "", "What each modulus is called",
        "*Primes*: one computation for each prime power, shared by all classes. *Strata*: one for "
        "each class. Verdicts on the logits and on the embedding of the runs that generalise, by "
        "criteria that were fixed before any result: docs/strata-or-primes.md. A modulus is called "
        "something if enough runs are, and none is the opposite.",
    ),
    Section(
        "accounts-intervals", PART, "", "Means over runs, with intervals",
        "Student’s 95 % intervals. Simultaneous ones hold for all four measures that decide and "
        "all three moduli together.",
    ),
    Section(
        "accounts-runs", PART, "", "Run by run",
        "*γ*: coefficient of a shared character between classes over that inside them, median. "
        "*Δ*: R² of primes less that of strata for products that were held out, in points. *τ*: "
        "R² for a class that was held out, over its ceiling. *Crossing*, *within*: changes of an "
        "embedding modulo one prime power that move its class, or do not, and give the residue "
        "that the algebra names. *Kept*: accuracy with nothing but main effects of prime powers.",
    ),
    Section(
        "accounts-fits", PART, "", "Descriptions of the logits",
        "*S*: strata; *C*: primes; *C+*: with characters of several primes; *CS*: tables of S with "
        "characters of C. Accuracy decides nothing: coefficients of 1, fitted to nothing, answer "
        "as much.",
    ),
    Section(
        "accounts-classes", PART, "", "Class by class",
        "Left: C fitted to the products of all other classes. Right: characters inside a class, "
        "with coefficients of its own and with those shared by all.",
    ),
    Section(
        "accounts-exceptions", PART, "", "Exceptions",
        "Runs that mix primes, have low gating or do not generalise. The table describes them; it "
        "tests no cause.",
    ),
    Section(
        "accounts-thresholds", PART, "", "What hangs on a level",
        "Every level is varied alone, then all to the lenient and to the strict end.",
    ),
    Section(
        "accounts-controls", PART, "", "Models that should be described by neither",
        "With the key frequencies of the trained run.",
    ),
)  # fmt: skip
