"""The parameters of the studies in addition to params.yaml: studies/params.yaml, validated and
frozen."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from strata.params import Params, read
from strata.run import Above0, Fraction, Positive, Run, Section, Seed, read_yaml, validate


class RunParams(Section):
    """The parameter that every measure of a run rests on."""

    key_threshold: Above0  # the same as that of metrics


class InterventionsParams(Section):
    """The number of draws of the interventions."""

    draws: Positive  # of every control
    seed: Seed


class InterventionsSettings(InterventionsParams, RunParams):
    """All parameters of the interventions on a run."""


class InterventionsStudy(InterventionsParams):
    """All parameters of the study of interventions."""

    intact: Fraction  # skill from which at most a twentieth of what there is to lose is lost


Levels = Annotated[list[float], Field(min_length=2, max_length=2)]


class MechanismLevels(Section):
    """For each kind of number the level at which a statement holds, and that at which it fails."""

    share: Levels
    spared: Levels  # accuracy after a change that should spare it
    control: Levels
    functions: Levels  # number of functions of the product
    law: Levels  # share that the last layer of the least loss explains
    ratio: Levels  # what is left unexplained, over what a control leaves unexplained
    span: Levels  # number of functions of a that the embedding is projected on
    gates: Levels  # interaction that is left without gates, over that with them


class MechanismMeasures(Section):
    """The parameters by which the mechanism of a run is measured."""

    folds: Positive
    draws: Positive
    permuted: Positive  # draws of the controls that take long
    gates: Positive  # the largest number of gates
    many: Fraction  # share of y unexplained by votes up to which primes do not interact
    enough: Fraction  # share of what depends on several primes that gates and characters explain
    seed: Seed
    levels: MechanismLevels


class MechanismSettings(MechanismMeasures, RunParams):
    """All parameters of the measures of a run."""


class MechanismParams(Section):
    """The parameters of the study of the mechanism."""

    fresh: list[str]  # runs on which the verdict rests
    fewest: Positive  # number of these runs that must generalise for a verdict
    accuracy: Fraction  # from which a run generalises
    measures: MechanismMeasures


class AddingLevels(Section):
    """For each kind of number of criteria-3.md where it holds, and where it does not."""

    correlation: Levels
    ratio: Levels  # of variations
    right: Levels  # after a replacement
    back: Levels  # skill
    back_permuted: Levels
    permuted: Levels
    exchanged: Levels
    preference: Levels


class AddingMeasures(Section):
    """How attention and adding of a run are measured."""

    draws: Positive  # of each control
    seed: Seed
    levels: AddingLevels


class AddingParams(Section):
    """What statements 6 to 10 of the mechanism rest on."""

    new: list[str]  # which decide beside the fresh ones of the mechanism
    fewest: Positive  # that generalise and have a value, for a verdict
    fewest_new: Positive  # the same where the new ones decide alone
    accuracy: Fraction  # from which a run generalises
    measures: AddingMeasures


class ZerosParams(Section):
    """The rule on what zero divisors do."""

    planned: list[str]  # all runs; without one of them there is no verdict
    holds: Above0  # F, in even shares, up to which primes are apart
    fails: Above0  # F from which on primes are not apart
    answers: Fraction  # share of all pairs that a run that generalises has right
    fewest: Positive  # number of such runs for a verdict
    confidence: Fraction
    absorbing: Positive  # the modulus whose units have an absorbing element with them


class ZerosSettings(ZerosParams, RunParams):
    """All parameters of the measures and verdicts on zero divisors."""


class ArchitecturesParams(Section):
    """The parameter of the comparison of the two architectures."""

    equal: Fraction  # accuracies that differ by less count as equal


class StudyParams(Params):
    """The parameters of params.yaml and of studies/params.yaml."""

    interventions: InterventionsStudy
    architectures: ArchitecturesParams
    mechanism: MechanismParams
    adding: AddingParams
    zeros: ZerosParams


def load(top: Path | str = ".") -> StudyParams:
    """Return the validated content of both files. Raise InputError with one line that names the
    key."""
    values = read(Path(top, "params.yaml")) | read_yaml(Path(top, "studies/params.yaml"))
    return validate(StudyParams, values, "studies/params.yaml")


def runs(study: str, listed: Path | str = "studies/runs.yaml") -> list[Run]:
    """Return the runs of a study, or of the paper, in the order of the list of all runs. A study
    that is not listed has none."""
    return [Run.parse(name) for name in read_yaml(listed).get(study, ())]
