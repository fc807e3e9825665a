"""Read what the paper prints from paper/printed_values.json, with percentages as printed.

The keys of mappings are the d of a class J_d, or n. What the paper prints for one level alone is
None for another level.
"""

from pydantic import Field

from strata.result import Result


class PrintedSpectrum(Result):
    """``PrintedSpectrum`` is a row of Table 2: how many of the frequencies of a class are key, and
    their share of the energy."""

    key: int
    total: int
    fve_percent: float


class PrintedFit(Result):
    """``PrintedFit`` is a row of Table 3: R² over the prompts of one pair of classes."""

    pairs: tuple[int, int]
    r2_percent: float


class PrintedOv(Result):
    """``PrintedOv`` counts singular values of the OV circuit of a head."""

    components_for_95_percent: int
    of: int
    top_8_variance_percent_more_than: float

    def components(self, variance: float) -> int | None:
        """Return how many singular values this share of the variance needs."""
        return self.components_for_95_percent if variance == 0.95 else None

    def top_percent(self, count: int) -> float | None:
        """Return a percentage of the variance below what this many of the largest have."""
        return self.top_8_variance_percent_more_than if count == 8 else None


class PrintedAngles(Result):
    """``PrintedAngles`` counts the directions of each class that a head reads with a cosine of the
    threshold or more."""

    threshold: float
    directions_above: dict[int, int]

    def above(self, cosine: float, d: int) -> int | None:
        """Return how many directions of class d have this cosine or more."""
        return self.directions_above.get(d) if cosine == self.threshold else None


class PrintedPca(Result):
    """``PrintedPca`` bounds the principal components of each class, as a fraction of the largest
    possible number."""

    share_of_components_for_95_percent_less_than: float

    def share(self, variance: float) -> float | None:
        """Return a bound on what every class needs for this share of the variance."""
        return self.share_of_components_for_95_percent_less_than if variance == 0.95 else None


class PrintedModulus(Result):
    """``PrintedModulus`` is a row of Table 1."""

    factors: str
    omega: int
    square_free: bool


class PrintedClass(Result):
    """``PrintedClass`` is a row of the table of classes, with its group as the orders of its cyclic
    factors."""

    size: int
    idempotent: int
    group: tuple[int, ...]
    generators: tuple[int, ...]


class PrintedSeeds(Result):
    """``PrintedSeeds`` is a row of Table 5: components of all residues over ten seeds."""

    mean: float
    std: float
    min: int
    max: int
    mean_fve_percent: float


class PrintedTraining(Result):
    """``PrintedTraining`` says how the paper's models were trained."""

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
    """``Printed`` holds all that the paper prints; numbers of one run are about the transformer of
    this modulus and seed."""

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
