"""The sections of the report on the weights that the paper's authors published."""

from report.code.section import Section

PART = "The paper’s own weights"
PUBLISHED = (
    Section("published-weights", PART),
    Section(
        "published-accounts", PART, "", "Strata or primes, beside our runs",
        "The weights that the paper’s authors published, and our runs of the same modulus that "
        "generalise: one run beside the others, never averaged with them. The file is not shipped; "
        "paper/published/receipt.json names its SHA-256 and the code that measured it "
        "(docs/published.md).",
    ),
    Section(
        "published-heads", PART, "", "Attention, beside our runs",
        "*Class blocks*: share of the variance of a head’s attention to a between the blocks of "
        "the classes of a and b. *Brought back*: of the skill that mean patterns lose, what "
        "patterns by blocks bring back; a head routes by them if that is 0.8 or more, and 0.5 "
        "above the highest of ten shuffles. *Not used*: mean patterns lose less than 0.1.",
    ),
    Section(
        "published-criteria", PART, "", "The criteria of the interventions, beside our runs",
        "Worst case and verdict for the published weights; then how many of our runs pass, and "
        "the spread of their worst cases.",
    ),
    Section(
        "published-classes", PART, "", "Tables 2 and 3 from the paper’s own weights",
        "The paper’s digits, those of its weights by our measures, and our seeds.",
    ),
    Section(
        "published-text", PART, "", "Numbers in the text, from the paper’s own weights",
        "The file has no mirror-free accuracy over the training.",
    ),
)  # fmt: skip
