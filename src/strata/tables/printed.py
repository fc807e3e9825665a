"""What the paper prints, as paper/printed_values.json holds it: percentages, as printed.

Keys of mappings: d of a class J_d, or n. What is printed for one level alone is None for another.
"""

from pydantic import Field

from strata.result import Result


class PrintedSpectrum(Result):
    """A row of Table 2: the key frequencies of a class, of how many, and their energy."""

    key: int
    total: int
    fve_percent: float


class PrintedFit(Result):
    """A row of Table 3: R² over the prompts of one pair of classes."""

    pairs: tuple[int, int]
    r2_percent: float


class PrintedOv(Result):
    """Singular values of the OV circuit of a head."""

    components_for_95_percent: int
    of: int
    top_8_variance_percent_more_than: float

    def components(self, variance: float) -> int | None:
        """How many are needed for this share of the variance."""
        return self.components_for_95_percent if variance == 0.95 else None

    def top_percent(self, count: int) -> float | None:
        """What so many of the largest have of the variance, at least."""
        return self.top_8_variance_percent_more_than if count == 8 else None


class PrintedAngles(Result):
    """Directions of each class that a head reads with a cosine of the threshold or more."""

    threshold: float
    directions_above: dict[int, int]

    def above(self, cosine: float, d: int) -> int | None:
        """How many of class d have this cosine or more."""
        return self.directions_above.get(d) if cosine == self.threshold else None


class PrintedPca(Result):
    """Principal components of each class, as a fraction of the largest possible number."""

    share_of_components_for_95_percent_less_than: float

    def share(self, variance: float) -> float | None:
        """What every class needs less than, for this share of the variance."""
        return self.share_of_components_for_95_percent_less_than if variance == 0.95 else None


class PrintedModulus(Result):
    """A row of Table 1."""

    factors: str
    omega: int
    square_free: bool


class PrintedClass(Result):
    """A row of the table of classes; the group as the orders of its cyclic factors."""

    size: int
    idempotent: int
    group: tuple[int, ...]
    generators: tuple[int, ...]


class PrintedSeeds(Result):
    """A row of Table 5: components of all residues over ten seeds."""

    mean: float
    std: float
    min: int
    max: int
    mean_fve_percent: float


class PrintedTraining(Result):
    """How the paper's models were trained."""

    epochs: int
    train_fraction: float
    validation_fraction: float
    validate_every: int
    optimizer: str
    learning_rate: float
    weight_decay: float
    betas: tuple[float, float]
    d_model: int
    d_hidden: int
    heads: int
    final_accuracy_on_all_pairs: float
    """A fraction."""


class Printed(Result):
    """All of it; what is about one run is about the transformer of this modulus and seed."""

    n: int = 165
    seed: int = 1
    source: str
    table_moduli: dict[int, PrintedModulus]
    table_key_frequencies: dict[int, PrintedSpectrum] = Field(
        alias="table_key_frequencies_n165_seed1"
    )
    table_character_fit: dict[int, PrintedFit] = Field(alias="table_character_fit_n165_seed1")
    table_j_classes: dict[int, PrintedClass] = Field(alias="table_j_classes_165")
    table_pca_across_10_seeds: dict[int, PrintedSeeds]
    ov_circuit_head_0: PrintedOv = Field(alias="ov_circuit_head_0_n165_seed1")
    principal_angles_head_0: PrintedAngles = Field(alias="principal_angles_head_0_n165_seed1")
    embedding_pca: PrintedPca = Field(alias="embedding_pca_n165_seed1")
    training: PrintedTraining
