"""The metrics of one attention head. Shares are fractions."""

from strata.schema.base import Result, Spread


class OvCircuit(Result):
    """Squared singular values of W_OV over their sum."""

    components: int
    """Singular values for the share of variance asked for."""
    of: int
    """Singular values: min(d_model, d_head)."""
    top: float
    """Share of the leading ones, metrics.top_singular of them."""
    shares: tuple[float, ...]
    """Descending; shape (of)."""


class SelfAttention(Result):
    """Attention of `=` to itself, over all n² pairs."""

    mean: float
    max: float


class KindScore(Spread):
    """Block score over the rows of one kind of class; mean and std over shuffled labels."""

    score: float


class BlockScoreByKind(Result):
    """Block scores over the rows of regular classes and over those of the others."""

    regular: KindScore
    non_regular: KindScore


class Alignment(Result):
    """Cosines of the principal angles between a head and the rows of a class, descending.

    ``above``: how many are at the level metrics.aligned_cosine. ``random``: the mean number for as
    many random residues.
    """

    read: tuple[float, ...]
    read_above: int
    read_random: float
    write: tuple[float, ...]
    write_above: int
    write_random: float


class HeadMetrics(Result):
    """The OV circuit of one head and its attention from `=`."""

    head: int
    ov: OvCircuit
    self_attention: SelfAttention
    block_score: float
    """Share of the variance of the attention to a that blocks (class of a, class of b) explain."""
    block_score_shuffled: Spread
    block_score_by_kind: BlockScoreByKind | None
    """None where every class is regular."""
    alignment: dict[int, Alignment]
    """By class."""
