"""The metrics of one run, as data/metrics/RUN.json holds them.

Shares are fractions; epochs count from 1. A measure that a class or an architecture does not have,
or that a run lost by diverging, is None. Keys of mappings: d of a class J_d, or a prime power q of
n.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from strata.schema.base import Result
from strata.schema.heads import HeadMetrics


def _pair(text: Any) -> Any:
    return tuple(map(int, text.split("x"))) if isinstance(text, str) else text


# (d, d') of the classes of a and b; in JSON, whose keys are text, "3x5".
ClassPair = Annotated[
    tuple[int, int],
    BeforeValidator(_pair),
    PlainSerializer(lambda pair: "{}x{}".format(*pair), return_type=str),
]


class Accuracy(Result):
    """Shares of right answers."""

    all: float
    """Over all n² ordered pairs."""
    train: float
    validation: float
    mirror_free: float | None
    """Over the validation pairs (a, b) with (b, a) not in training; None where there is none, and
    for a model that is not symmetric in its operands."""
    by_target: dict[int, float]
    """By the class of ab."""
    by_operands: dict[ClassPair, float]
    """By the classes of a and b."""


class Epochs(Result):
    """The epoch at which each accuracy came to the level; None where it never did."""

    train: int | None
    validation: int | None
    mirror_free: int | None


class StayingEpochs(Epochs):
    """The epoch from which each accuracy stays at the level."""

    train_relapses: int | None
    """Epochs below the level in training after it was first reached."""


class Pairs(Result):
    """Sizes of the split, in ordered pairs."""

    train: int
    train_distinct: int
    """Unordered pairs in training."""
    validation: int
    validation_mirrored_share: float
    """Share of the validation pairs with their mirror in training."""


class ClassPca(Result):
    """Principal components of the rows of a class for the share of variance asked for."""

    components: int
    random_mean: float
    """Of as many random residues: mean over draws."""
    random_std: float


class Readout(Result):
    """The fit of centred logits by key characters of a b c^♯, over the prompts of one pair."""

    pair: tuple[int, int]
    """Classes of a and b whose prompts are used, of all those whose product is in the class."""
    prompts: int
    largest: float
    """The largest centred logit, absolute."""
    r2: float
    r2_ceiling: float
    """With every frequency: all that depends on the quotient of ab and c alone."""
    r2_product: float
    """What the mean logits of each product explain."""
    r2_uniform: float
    """What as many frequencies drawn at random explain on average."""
    frequencies: tuple[tuple[int, ...], ...]
    """One of each pair k, −k; shape (fitted, axes)."""
    coefficients: tuple[float, ...]
    """Logit amplitude at each fitted frequency."""
    prompts_all: int
    """All prompts whose product is in the class."""
    r2_all: float


class ClassMetrics(Result):
    """Algebra of J_d; spectrum, dimension and readout, None for a class of one element."""

    d: int
    m: int
    """n / d."""
    size: int
    """Elements."""
    regular: bool
    """Whether the class is a group."""
    orders: tuple[int, ...]
    """Of its cyclic axes."""
    key: int | None = None
    """Key frequencies."""
    total: int | None = None
    """Frequencies but the constant."""
    fve: float | None = None
    """Share of the Fourier energy of the embedding at key frequencies."""
    fve_uniform: float | None = None
    """The same if energy were even: key / total."""
    enrichment: float | None = None
    """fve / fve_uniform."""
    atomic_share: float | None = None
    """Share of the energy at frequencies on a single axis."""
    atomic_uniform: float | None = None
    key_frequencies: tuple[tuple[int, ...], ...] | None = None
    """Shape (key, axes)."""
    pca: ClassPca | None = None
    readout: Readout | None = None


class ShownPca(Result):
    """Share of the variance of the first three components that labels explain."""

    classes: float
    modulo: dict[int, float]
    """By a modulo each prime power of n."""


class EmbeddingPca(Result):
    """Principal components of all residues for the share of variance asked for."""

    components: int
    of: int
    """min(n, d_model)."""
    fve: float
    """The share of variance that they reach."""
    share: float
    """components / of."""
    shown: ShownPca


class TokenOrder(Result):
    """Energy of the plain Fourier transform over a = 0 … n − 1 with a prime power for a period."""

    share: float
    uniform: float
    """If energy were even."""


class NeuronMetrics(Result):
    """Shares of the variance of the MLP's activations over all n² pairs; None if none varies."""

    varying: int
    """Neurons that vary."""
    classes: float | None
    """Explained by the classes of a and b."""
    modulo: dict[int, float | None]
    """Explained by a and b modulo each prime power."""
    one_power: float | None
    """Explained where each neuron has the prime power that explains most of it."""
    neurons: dict[int, int]
    """How many neurons have which prime power."""


class Metrics(Result):
    """All numbers of one run."""

    run: str
    n: int
    seed: int
    architecture: str
    epochs: int
    """Epochs trained."""
    finite: bool
    """Whether weights, logits and loss are finite."""
    generalised: bool
    """Whether the validation accuracy ends at the level metrics.accuracy."""
    accuracy: Accuracy
    first_099: Epochs
    epoch_099: StayingEpochs
    final_loss: float | None
    """Mean cross-entropy over the training pairs at the last epoch, in nats."""
    pairs: Pairs
    classes: tuple[ClassMetrics, ...]
    """Ascending in d."""
    pca: EmbeddingPca | None
    token_order: TokenOrder | None
    neurons: NeuronMetrics | None
    heads: tuple[HeadMetrics, ...]
    """Empty for the MLP-only model."""

    def of_class(self, d: int) -> ClassMetrics:
        """The measures of J_d. Raises StopIteration where d does not divide n."""
        return next(c for c in self.classes if c.d == d)
