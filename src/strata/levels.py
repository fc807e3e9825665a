"""The section accounts of params.yaml: what the study of the two accounts, strata and primes, rests
on. docs/strata-or-primes.md has each level and its reason."""

from typing import Annotated

from strata.run import Above0, Fraction, Positive, Section, Seed, allowed

Level = Annotated[float, allowed("a number from 0 to 1", ge=0, le=1)]


class LogitsParams(Section):
    """How the two accounts of the logits are measured. The first key threshold is that of metrics;
    fold seeds beside the first, and the other key thresholds, tell what a choice changes."""

    folds: Annotated[int, allowed("an integer from 2 to 100", ge=2, le=100)]  # of held-out products
    seed: Seed  # of the dealing into folds
    other_seeds: Annotated[list[Seed], allowed("a list of seeds")]
    other_key_thresholds: Annotated[list[Above0], allowed("a list of numbers above 0")]


class LogitsSettings(LogitsParams):
    """All that is measured of the logits of a run rests on."""

    key_threshold: Above0  # that of metrics


class LevelsParams(Section):
    """The levels of the verdicts on the logits."""

    strata: Fraction  # gating at most this agrees with strata
    primes: Fraction  # gating at least this agrees with primes
    smallest: Level  # a character counts from this share of what all same-class parts explain on
    delta: Fraction  # a difference of R² of at least this decides
    described: Fraction  # an account describes a run from this share of the ceiling on
    key_share: Level  # and where at most this share of all frequencies is key
    tau_strata: Fraction
    tau_primes: Fraction
    cost_primes: Fraction  # a cost of sharing of at most this speaks against no account
    cost_strata: Fraction  # a cost of at least this speaks against primes
    mixing: Fraction  # R²(C+) − R²(C) from which a run mixes primes


class EmbeddingLevels(Section):
    """The levels of the verdict on the embedding."""

    succeeds: Fraction  # success of a change from which it may succeed
    fails: Fraction  # and up to which it fails
    differ: Fraction  # by how much a number must exceed that of its controls
    kept_least: Fraction  # kept above this allows primes
    kept_whole: Fraction  # kept below this allows strata
    intact: Fraction  # skill with key characters alone from which they suffice


class EmbeddingParams(Section):
    """How the two accounts of the embedding, and the literature's measures, are measured."""

    draws: Positive  # of every control
    residues: Annotated[int, allowed("an integer of at least 3", ge=3)]  # of a Q that are tried;
    # where there are more, one less is drawn, 0 among them
    gradients: Positive  # draws of (a, b, c) in a class
    seed: Seed
    levels: EmbeddingLevels


class EmbeddingSettings(EmbeddingParams):
    """All that is measured of the embedding of a run rests on."""

    key_threshold: Above0  # that of metrics


class AccountsParams(Section):
    """What the study of the two accounts, strata and primes, rests on."""

    logits: LogitsParams
    embedding: EmbeddingParams
    levels: LevelsParams
