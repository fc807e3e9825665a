"""All of params.yaml as one frozen, validated object.

The sections that decide weights are in ``run.py``; a change here never makes a trained model stale.
"""

from pathlib import Path
from typing import Annotated

from pydantic import model_validator

from strata.run import (
    Above0,
    Fraction,
    Modulus,
    Positive,
    Section,
    Seed,
    SplitParams,
    TrainParams,
    allowed,
    read_yaml,
    validated,
)

Share = Annotated[float, allowed("a number above 0 and at most 1", gt=0, le=1)]
Number = Annotated[float, allowed("a number")]


class MetricsParams(Section):
    """Thresholds and draws of the analysis of one run."""

    key_threshold: Above0  # key: at least this times the uniform share
    variance: Fraction  # components are counted until this share of the variance
    random_subsets: Positive  # draws of the baseline of random residue subsets
    top_directions: Positive  # singular directions of W_OV held against a class
    aligned_cosine: Share  # a direction counts as aligned from this cosine on
    top_singular: Positive  # singular values whose share is reported
    shuffles: Positive  # draws of the baseline of shuffled class labels
    accuracy: Fraction  # a run has generalised from this validation accuracy on
    seed: Seed  # of the random subsets and shuffles


class TablesParams(Section):
    """Numbers that the tables rest on beside the metrics."""

    square_free_up_to: Positive


class Hierarchy(Section):
    """Figure hierarchy: which entries of a spectrum get a star."""

    star: Share  # share of the panel's maximum
    star_small: Share  # the same in small classes
    small: Positive  # a class of at most so many elements is small


class CosineAlign(Section):
    """Figure cosine-align: which head is shown."""

    head: Annotated[int, allowed("an integer of at least 0", ge=0)]


class FftJclassEmbedding(Section):
    """Figure fft-jclass-embedding: where its scales begin."""

    amplitude_floor: Number  # log10
    energy_floor: Fraction


class EmbedPca3d(Section):
    """Figure embed-pca-3d: the oblique view, in degrees."""

    elevation: Number
    azimuth: Number


class MlpNeurons(Section):
    """Figure mlp-neurons: how many neurons are drawn, with which seed."""

    neurons: Positive
    draw_seed: Seed


class FiguresParams(Section):
    """One section for each notebook that rests on numbers of its own."""

    hierarchy: Hierarchy
    cosine_align: CosineAlign
    fft_jclass_embedding: FftJclassEmbedding
    embed_pca_3d: EmbedPca3d
    mlp_neurons: MlpNeurons


class Params(Section):
    """params.yaml."""

    n: Modulus
    seed: Seed
    split: SplitParams
    train: TrainParams
    metrics: MetricsParams
    figures: FiguresParams
    tables: TablesParams

    @model_validator(mode="after")
    def _head_exists(self) -> "Params":
        head, n_heads = self.figures.cosine_align.head, self.train.n_heads
        if head >= n_heads:
            raise ValueError(
                f"figures.cosine_align.head = {head}: must be below n_heads = {n_heads}"
            )
        return self


def load(path: Path | str) -> Params:
    """The validated content of params.yaml. Raises InputError with one line that names the key."""
    return validated(Params, read_yaml(path), str(path))
