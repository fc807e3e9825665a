"""What the report shows, in the paper's order: one line for each table and figure.

A figure has its heading and its words from its notebook, so those of a table alone stand here. A
section that no stage of the pipelines makes is not shown.
"""

from report.code.section import Section
from report.code.sections_accounts import ACCOUNTS
from report.code.sections_embedding import EMBEDDING
from report.code.sections_interventions import OVER_RUNS
from report.code.sections_published import PUBLISHED
from report.code.sections_studies import STUDIES

SECTIONS = (
    Section(
        "moduli", "Setup", "Table 1", "The moduli",
        "Composite, square-free moduli with two or three prime factors, and a prime. Where *n* is "
        "square-free every class of residues is a group.",
        claims="square-free integers",
    ),
    Section(
        "jclasses", "Setup", "Table 4", "The classes and their groups",
        "For each divisor *d* of *n*, the residues with gcd(*a*, *n*) = *d*. A regular class is a "
        "group with the idempotent as identity; the generators set its axes, and with them the "
        "algebraic order of every figure.",
    ),
    Section("fig06-model", "Setup"),
    Section("fig01-hierarchy", "Embeddings"),
    Section(
        "key-freqs", "Embeddings", "Table 2", "Key frequencies and the energy they hold",
        "A frequency is *key* when it holds at least a set part of what even energy would give it. "
        "*FVE* is the share of energy on the key frequencies, *uniform* what even energy would put "
        "there, *enrichment* their ratio. *Atomic*: the share on frequencies of one cyclic factor.",
    ),
    Section("fig02-pca-dim", "Embeddings", claims="principal components for"),
    Section("fig07-token-fft", "Embeddings", claims="plain Fourier transform"),
    Section("fig08-class-order", "Embeddings"),
    Section("fig09-class-spectra", "Embeddings", view="spectra"),
    Section("fig10-embed-pca", "Embeddings", view="pca", claims="first three principal"),
    Section(
        "fig03-attn-scores", "Attention", view="attention",
        claims="attention of ‘=’|attention to a that class blocks",
    ),
    Section("fig04-cosine-align", "Attention", claims="singular values of OV|directions of J"),
    Section("fig11-neurons", "Neurons", view="neurons", claims="MLP’s activations"),
    Section(
        "character-fit", "Logits", "Table 3", "How much of the logits characters explain",
        "Least squares of the centred logits of each class on the characters of its key "
        "frequencies: *R²* over one pair of operand classes, as in the paper, and over every "
        "prompt whose product lies in the class. R² describes the logits; it is no evidence of a "
        "cause.",
    ),
    Section("logits", "Logits", view="logits"),
    Section(
        "fig05-training", "Training", view="training",
        claims="accuracy|wrong answers|validation pairs with",
    ),
    Section("progress-measures", "Training", view="epochs"),
    Section("progress-order", "Training"),
    Section(
        "dynamics-order", "Training", "",
        "Pairs of a composite class and a factor, in time",
        "*Agree*: the composite class comes later. *p, signs*: sign test. *p, shuffled*: "
        "permutation test, epochs shuffled among the classes of each modulus. *Control*: atomic "
        "classes that the composite one is not made of. FVE and accuracy without a baseline "
        "favour the hypothesis, since small classes begin high. *One rate*: what FVE above "
        "uniform gives on the straight line from the first embedding to the last.",
    ),
    Section(
        "dynamics-grokking", "Training", "", "Strata and grokking",
        "The first checkpoint from which a measure stays at half of its final value. *Right "
        "class*: the answer lies in the class of the product, right or not, as a share above that "
        "of the commonest class. *Classes apart*: variance of the embedding between class means, "
        "above that of shuffled labels.",
    ),
    Section(
        "dynamics-times", "Training", "", "When each class comes",
        "The first checkpoint from which a measure stays at half of its final value. At 0 it began "
        "there. Accuracy: over mirror-free pairs.",
    ),
    Section(
        "dynamics-origin", "Training", "", "Where the checkpoints were trained",
        "On a machine like the run’s own, with as many threads, the last checkpoint has the run’s "
        "weights, byte for byte.",
    ),
    Section(
        "evidence", "Interventions", "Interventions", "What survives an intervention",
        "Beyond the paper. Parts of the trained network are kept, removed or exchanged, and the "
        "rest is run again. Each criterion but one (*not the embedding at large*) was fixed "
        "before its test was run. *Skill*: 1 is always right, 0 a random element of the right "
        "class. *Intact* is skill of 0.95 or more, *broken* 0.2 or less. A control must be 0.5 "
        "away. Of interchanges 0.9 must give the predicted answer. *Worst case*: the skill, or "
        "the share, that is nearest to failing; *against*: what it must differ from; *cases*: how "
        "many hold. Every criterion: docs/interventions.md.",
    ),
    Section("keep-remove", "Interventions"),
    Section(
        "keep-remove-skill", "Interventions", "", "Keeping and removing key characters",
        "*Skill*: 1 is always right, 0 is a random element of the right class. An answer that ties "
        "with another is wrong, so skill falls below 0 where columns of W_U become equal. Controls "
        "have the same dimension, or the largest there is; mean and range of their draws.",
    ),
    Section("specificity", "Interventions", view="damage"),
    Section(
        "specificity-skill", "Interventions", "", "Removing the directions of one class",
        "Skill on the pairs with an operand in the class, and on all others.",
    ),
    Section(
        "axes", "Interventions", "", "Removing one axis of one class",
        "The axis of a prime, as one class has it, is removed from every residue. *Shared*: pairs "
        "that have the axis but no operand in the class.",
    ),
    Section("interchange", "Interventions"),
    Section(
        "interchange-success", "Interventions", "", "Operands made of two residues, in numbers",
        "How often the answer is the one that the algebra predicts for the hybrid, beside chance "
        "and random changes of the same length.",
    ),
    Section("routing", "Interventions"),
    Section(
        "routing-skill", "Interventions", "", "Attention patterns and OV circuits changed",
        "Patterns replaced by means, OV circuits by parts of them. Random variants are means over "
        "draws.",
    ),
    Section(
        "ablated-heads", "Interventions", "", "Heads ablated singly, in pairs, and all",
        "What a head writes is replaced by its mean over all pairs.",
    ),
    Section(
        "negative-controls", "Interventions", "", "Two models that should fail",
        "The same criteria on the weights before training, and on weights that have memorised the "
        "training pairs but do not generalise.",
    ),
    *OVER_RUNS,
    *ACCOUNTS,
    *EMBEDDING,
    *PUBLISHED,
    Section(
        "pca-seeds", "Over seeds", "Table 5", "Dimension of the embedding over seeds",
        "Principal components of all residues for the set share of the variance. Interval: of the "
        "mean over seeds.",
    ),
    Section(
        "classes-seeds", "Over seeds", "", "Spectra and character fits over seeds",
        "Which of the numbers of one seed are typical.",
    ),
    Section(
        "heads-seeds", "Over seeds", "", "Attention heads over seeds",
        "Heads have no order: head 0 of one seed has nothing to do with head 0 of another.",
    ),
    Section(
        "blocks-seeds", "Over seeds", "", "Class blocks, run by run",
        "*Block score*: share of a head’s attention that the classes of *a* and *b* explain. *With "
        "blocks*: two standard deviations above the mean of shuffled classes.",
    ),
    Section(
        "neurons-seeds", "Over seeds", "", "What neurons of the MLP follow",
        "Share of the variance over all pairs that the classes of *a* and *b* explain, and that "
        "*a* and *b* explain modulo the one prime power of *n* that explains most of each neuron. "
        "Shuffled among the residues, *q* labels explain at most about (*q* − 1)/(*n* − 1).",
    ),
    Section(
        "directions-seeds", "Over seeds", "", "Aligned directions over seeds",
        "How many directions of a class a head reads, and writes.",
    ),
    Section(
        "generalisation-seeds", "Over seeds", "", "When a model generalises, over seeds",
        "The first epoch with an accuracy at its level, and the epoch from which it stays there: "
        "a leap of the loss late in training moves the second alone.",
    ),
    Section(
        "architectures", "Over seeds", "", "Transformer and MLP-only model",
        "The MLP-only model is not symmetric: to it a mirror is another example, so it has no "
        "mirror-free accuracy. Its validation accuracy compares with the transformer's "
        "mirror-free one.",
    ),
    Section(
        "not-generalised", "Over seeds", "", "Runs that failed",
        "Every run of the grid that did not generalise.",
    ),
    *STUDIES,
    Section("fig12-spectra-seeds", "Over seeds"),
    Section("fig13-pca-seeds", "Over seeds"),
    *(
        Section(
            f"fig{number}-attn-seeds", "Over seeds", f"Figure {number}",
            f"Attention to the first operand over seeds, n = {n}", template="fig14-attn-seeds",
        )
        for number, n in enumerate((113, 143, 154, 165), 14)
    ),
    Section(
        "fig18-neurons-seeds", "Over seeds", "Figure 18",
        "Neurons of the MLP over seeds, n = 165", template="fig18-neurons-seeds",
    ),
    Section(
        "fig19-neurons-seeds", "Over seeds", "Figure 19",
        "Neurons of the MLP over seeds, n = 113, 143, 154", template="fig18-neurons-seeds",
    ),
    Section(
        "extension", "Every modulus", "", "Regular classes and the others",
        "Beyond the paper, which stops at square-free *n*. Classes that are no groups get the same "
        "measures; they are smaller, so chance stands beside.",
    ),
    Section("extension-sizes", "Every modulus"),
    Section(
        "extension-classes", "Every modulus", "", "The same class by class",
        "Classes of two elements are left out: their one frequency holds everything anyway.",
    ),
    Section(
        "classes-verdict", "Claims", "", "Tables 2 and 3 among our seeds",
        "Where each number of the two tables lies among the seeds.",
    ),
    Section(
        "verdict", "Claims", "", "The paper’s numbers among our seeds",
        "Where each number of the text lies among the seeds.",
    ),
    Section(
        "claims", "Claims", "", "Every number in the text",
        "All numbers that the paper states in its text, with ours beside them, and those of ours "
        "that belong beside them.",
        claims=".",
    ),
)  # fmt: skip
