"""What the studies rest on beside params.yaml: studies/params.yaml, validated and frozen."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from strata.params import Params, read
from strata.run import Above0, Fraction, Positive, Run, Section, Seed, read_yaml, validated

Level = Annotated[float, Field(ge=0, le=1)]


class OfRun(Section):
    """What every measure of a run rests on."""

    key_threshold: Above0  # that of metrics


class CriteriaLevels(Section):
    """The levels of the criteria on interventions: fixed, here and in the docs, before the tests
    were run on a trained model."""

    intact: Fraction  # skill: at most a twentieth of what there is to lose is lost
    broken: Fraction  # skill: at least four fifths of it are lost
    differ: Fraction  # between two skills or shares: half of the scale
    swapped: Fraction  # share of interchanges with the predicted answer
    carries: Fraction  # class accuracy that head 0 costs more than any other head
    routed: Fraction  # share of the lost skill that a pattern by blocks brings back
    partly: Fraction  # by which that must exceed the share of shuffled labels to say anything
    lost: Fraction  # skill that a head's mean pattern must cost for the pattern to be used
    margin: Fraction  # skill between the prime power that a head is put to and the next
    rank: Positive  # singular directions of head 0 that the paper counts


class InterventionsParams(Section):
    """How often the interventions draw."""

    draws: Positive  # of every control
    swaps: Positive  # random partners of an element in an interchange
    seed: Seed


class InterventionsSettings(InterventionsParams, OfRun):
    """All that the interventions on a run rest on."""


class InterventionsStudy(InterventionsParams):
    """All that the study of interventions rests on."""

    levels: CriteriaLevels


class LogitsParams(Section):
    """How the two accounts of the logits are measured."""

    folds: Annotated[int, Field(ge=2, le=100)]  # of held-out products
    seed: Seed  # of the dealing into folds


class LogitsSettings(LogitsParams, OfRun):
    """All that is measured of the logits of a run rests on."""


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
    cost_strata: Fraction  # a cost of at least this speaks against primes
    mixing: Fraction  # R²(C+) − R²(C) from which a run mixes primes
    fewest: Positive  # runs of a modulus that is called anything


class EmbeddingLevels(Section):
    """The levels of the verdict on the embedding."""

    succeeds: Fraction  # success of a change from which it may succeed
    fails: Fraction  # and up to which it fails
    differ: Fraction  # by how much a number must exceed that of its controls
    kept_least: Fraction  # kept above this allows primes
    kept_whole: Fraction  # kept below this allows strata
    intact: Fraction  # skill with key characters alone from which they suffice


class EmbeddingParams(Section):
    """How the two accounts of the embedding are measured."""

    draws: Positive  # of every control
    residues: Annotated[int, Field(ge=3)]  # of a Q that are tried;
    # where there are more, one less is drawn, 0 among them
    seed: Seed
    levels: EmbeddingLevels


class EmbeddingSettings(EmbeddingParams, OfRun):
    """All that is measured of the embedding of a run rests on."""


class AccountsParams(Section):
    """What the study of the two accounts, strata and primes, rests on."""

    logits: LogitsParams
    embedding: EmbeddingParams
    levels: LevelsParams


Levels = Annotated[list[float], Field(min_length=2, max_length=2)]


class MechanismLevels(Section):
    """For each kind of number where it holds, and where it does not."""

    share: Levels
    spared: Levels  # accuracy after a change that should spare it
    control: Levels
    functions: Levels  # of the product
    law: Levels  # share that the last layer of the least loss explains
    ratio: Levels  # of what is unexplained
    span: Levels  # functions of a in the embedding
    gates: Levels  # interaction without gates


class MechanismMeasures(Section):
    """How a run is measured."""

    folds: Positive
    draws: Positive
    permuted: Positive  # draws of what takes long
    gates: Positive  # at most
    many: Fraction  # of y: up to this primes do not interact
    enough: Fraction  # of what depends on several primes, that gates and characters explain
    seed: Seed
    levels: MechanismLevels


class MechanismSettings(MechanismMeasures, OfRun):
    """All that the measures of a run rest on."""


class MechanismParams(Section):
    """What the study of the mechanism rests on."""

    fresh: list[str]  # on which the verdict rests
    fewest: Positive  # of these that generalise, for a verdict
    accuracy: Fraction  # from which a run generalises
    measures: MechanismMeasures


class ZerosParams(Section):
    """The rule on what zero divisors do."""

    planned: list[str]  # all runs; without one of them there is no verdict
    holds: Above0  # F, in even shares: up to here primes are apart
    fails: Above0  # and from here on they are not
    answers: Fraction  # of all pairs that a run that generalises has right
    fewest: Positive  # such runs that decide
    confidence: Fraction
    absorbing: Positive  # the modulus whose units have an absorbing element with them


class ZerosSettings(ZerosParams, OfRun):
    """All that its measures and verdicts rest on."""


class CheckpointsParams(Section):
    """At how many epochs of a training weights are kept."""

    count: Annotated[int, Field(ge=2, le=1000)]


class DynamicsParams(Section):
    """The thresholds of what is measured on the kept weights."""

    key_threshold: Above0  # key: at least this times the uniform share
    variance: Fraction  # components are counted until this share of the variance


class ArchitecturesParams(Section):
    """What the comparison of the two architectures rests on."""

    equal: Fraction  # accuracies that differ by less count as equal


class StudyParams(Params):
    """params.yaml and studies/params.yaml."""

    interventions: InterventionsStudy
    architectures: ArchitecturesParams
    accounts: AccountsParams
    mechanism: MechanismParams
    zeros: ZerosParams
    checkpoints: CheckpointsParams
    dynamics: DynamicsParams


def load(top: Path | str = ".") -> StudyParams:
    """The validated content of both files. Raises InputError with one line that names the key."""
    values = read(Path(top, "params.yaml")) | read_yaml(Path(top, "studies/params.yaml"))
    return validated(StudyParams, values, "studies/params.yaml")


def runs(study: str, listed: Path | str = "studies/runs.yaml") -> list[Run]:
    """The runs of a study, or of the paper, as the list of all runs has them; none of a study that
    is not there."""
    return [Run.parse(name) for name in read_yaml(listed).get(study, ())]
