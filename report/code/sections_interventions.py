"""The sections of the report on the interventions over many runs."""

from report.code.section import Section

OVER_RUNS = (
    Section(
        "evidence-moduli",
        "Interventions",
        "",
        "The criteria, modulus by modulus",
        "How many of the runs of each modulus pass each criterion.",
    ),
    Section(
        "evidence-runs",
        "Interventions",
        "",
        "The criteria over runs",
        "How many of the runs pass each criterion, and the spread of its number. A criterion that "
        "no run could pass is marked and is evidence for nothing.",
    ),
    Section(
        "evidence-levels",
        "Interventions",
        "",
        "What hangs on a level",
        "Each level of the criteria varied alone, all to their lenient and all to their strict "
        "end, ties of logits, and the threshold of key frequencies: the fewest and the most runs "
        "that pass, and the levels at which most of the runs no longer do, or do.",
    ),
    Section(
        "equal-energy",
        "Interventions",
        "",
        "Key characters and others at equal energy",
        "Skill with key characters K or other ones O alone, one of them scaled to the energy of "
        "the other (*s* is the root of the ratio of their energies); with the components B of most "
        "energy; and without them, or with O added at the energy of K.",
    ),
    Section(
        "routing-runs",
        "Interventions",
        "",
        "Whether attention routes by class",
        "How much of the skill that a mean pattern loses comes back with patterns by blocks of "
        "classes, of shuffled classes, and of residues modulo a prime power. Runs in which less "
        "than 0.1 is lost do not use the pattern.",
    ),
    Section(
        "heads-primes",
        "Interventions",
        "",
        "What each head is needed for, run by run",
        "One head is ablated. A head is put to the prime power of *n* modulo which least skill is "
        "left without it; skill 0 is a random element of the right class, or always answering 0. "
        "With a margin: where the next prime power keeps 0.1 more. *Alone* counts the heads, *as a "
        "group* the prime powers, without which that prime power is lost and the others are not.",
    ),
    Section(
        "heads-chance",
        "Interventions",
        "",
        "How often heads would divide so by chance",
        "Four heads put to prime powers at random.",
    ),
)
