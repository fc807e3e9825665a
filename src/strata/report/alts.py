"""What each figure shows, in words, for readers who do not see it."""

_ATTENTION = (
    "One map for each seed, n = {}: how much a head of = attends to the first operand, for all "
    "pairs, the class borders drawn. The blocks of classes differ in shade in some seeds and "
    "hardly in others."
)
_NEURONS = (
    "Maps of the activation of three neurons for each seed over all pairs. Most show a fine lattice"
    " that repeats across the class borders, a few show blocks of whole classes."
)

ALTS = {
    "model": "A diagram from left to right: the tokens a, b and = are embedded, four attention "
    "heads add to the residual stream at =, an MLP adds to it, and the unembedding gives a logit "
    "for each residue.",
    "hierarchy": "For each class with two cyclic axes, the size of the Fourier coefficients of one "
    "embedding dimension as a small grid, an axis for each prime. A few cells are bright and "
    "starred, most in the first row or column.",
    "pca-dim": "Two falling lines over the classes from large to small: a class needs fewer "
    "principal components for most of its variance than random residues, as many as it has.",
    "raw-naive-fft": "Left, the embedding matrix in token order, which looks like noise. Right, "
    "its Fourier transform over tokens: a few bright lines, nearly all at frequencies of functions "
    "of the residue modulo one prime.",
    "jclass-ordered-embedding": "The embedding matrix twice, its rows grouped by class: ascending "
    "inside a class, and in algebraic order. Both look like noise with faint stripes.",
    "fft-jclass-embedding": "Top, the spectrum of each embedding dimension with the classes side "
    "by side: bright columns at a few frequencies, the same in all dimensions. Bottom, the share "
    "of energy at each frequency: the key ones stand far above an even distribution, the others "
    "far below.",
    "embed-pca-3d": "The residues on three principal components, obliquely and from above. They "
    "form clusters, and each cluster has the residues of one value modulo a prime, out of several "
    "classes.",
    "attn-scores": "A map for each of four heads: how much = attends to the first operand, for all "
    "pairs in algebraic order. All show a lattice that repeats across the class borders.",
    "cosine-align": "Cosines of principal angles between a head and each class, one line for each "
    "class. On the read side they begin near 1 and fall after about as many directions as the "
    "class has key frequencies; on the write side they begin lower and fall from the start.",
    "mlp-neurons": "Maps of the activation of three neurons over all pairs in algebraic order: one "
    "in blocks of classes, two in lattices that repeat across the class borders.",
    "logits": "For each class, the centred logit against the fitted sum of characters as a density "
    "around the line of equality, with its R². The points scatter widely around the line for large "
    "classes, less for small ones.",
    "TranformerTrainingPlots": "Left, the training loss, which falls by many orders of magnitude "
    "with recurring spikes. Right, accuracies: training rises first, validation and mirror-free "
    "accuracy thousands of epochs later.",
    "progress-measures": "Small panels over the epochs of one training: accuracy, losses, Gini "
    "coefficients, norms, components and block scores, then four measures for each class. Most "
    "change together when the model generalises.",
    "progress-order": "For three moduli, the epochs at which each class reaches half of its final "
    "value by three measures, composite classes on a grey ground. Composite and other classes "
    "overlap in time.",
    "keep-remove": "Skill for each class at four places of the network. With key characters alone "
    "it stays near 1, with other characters alone near 0; without key characters it is near 0, and "
    "without the others near 1. Random subspaces lie between.",
    "specificity": "Small grids, class of a by class of b, one for each removal: the skill that is "
    "lost without the directions of a class, or of one of its axes. Far more cells are hit than "
    "those of the class itself.",
    "interchange": "Left, bars: how often operands made of two residues give the answer that the "
    "algebra predicts, beside chance and random directions. Right, a grid over pairs of classes: "
    "how often a class exchanged alone moves the answer to the predicted class.",
    "routing": "Two tables in colour: the skill that is left when attention patterns or OV "
    "circuits of heads are replaced, and the share of right answers modulo each prime when heads "
    "are ablated.",
    "two-accounts": "For each modulus, a point for each run. Above, R² of two descriptions of the "
    "logits, by strata and by primes, with its ceiling. Below, the gating coefficient, at 1 where "
    "classes share one computation for each prime; nearly all runs lie there.",
    "published-weights": "Measures of the published weights as diamonds beside those of our seeds "
    "as dots. Left, those that tell strata from primes; right, those of attention. Most diamonds "
    "lie among the dots.",
    "fft_stability_clean": "Spectra of the embedding for four moduli and four seeds each, class "
    "after class: in all of them a few bright columns, at other frequencies in each seed.",
    "pca_stability_clean": "The residues on three principal components for four moduli and four "
    "seeds each: clusters, lines and rings that differ from seed to seed.",
    **{f"attn_{n}": _ATTENTION.format(n) for n in (113, 143, 154, 165)},
    "mlp_stability_165": _NEURONS,
    "mlp_stability_jclasses": _NEURONS,
    "extension-sizes": "Three scatter plots over the size of a class, regular and other classes "
    "apart: energy at the key frequencies, R² of characters, principal components. Small classes "
    "reach most, as chance does.",
}
