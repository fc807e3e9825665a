"""What stages write as JSON, as types: `store.write_json` writes them, `store.read_model` reads."""

from strata.schema.base import Spread
from strata.schema.embedding import Embedding
from strata.schema.heads import (
    Alignment,
    BlockScoreByKind,
    HeadMetrics,
    KindScore,
    OvCircuit,
    SelfAttention,
)
from strata.schema.interventions import (
    ClassTrials,
    Control,
    EqualEnergy,
    HeadChange,
    Interchange,
    Interventions,
    KeepRemove,
    KeyFrequencies,
    OtherKeys,
    Specificity,
)
from strata.schema.logits import Logits
from strata.schema.metrics import (
    Accuracy,
    ClassMetrics,
    ClassPca,
    EmbeddingPca,
    Epochs,
    Metrics,
    NeuronMetrics,
    Pairs,
    Readout,
    ShownPca,
    StayingEpochs,
    TokenOrder,
)
from strata.schema.origin import Origin, Step
from strata.schema.printed import (
    Printed,
    PrintedFit,
    PrintedSeeds,
    PrintedSpectrum,
    PrintedTraining,
)
from strata.schema.scores import (
    Measures,
    OperandScores,
    Range,
    ScoreRanges,
    Scores,
    TargetScores,
)
from strata.schema.summary import RunSummary

__all__ = [
    "Accuracy",
    "Alignment",
    "BlockScoreByKind",
    "ClassMetrics",
    "ClassPca",
    "ClassTrials",
    "Control",
    "Embedding",
    "EmbeddingPca",
    "Epochs",
    "EqualEnergy",
    "HeadChange",
    "HeadMetrics",
    "Interchange",
    "Interventions",
    "KeepRemove",
    "KeyFrequencies",
    "KindScore",
    "Logits",
    "Measures",
    "Metrics",
    "NeuronMetrics",
    "OperandScores",
    "Origin",
    "OtherKeys",
    "OvCircuit",
    "Pairs",
    "Printed",
    "PrintedFit",
    "PrintedSeeds",
    "PrintedSpectrum",
    "PrintedTraining",
    "Range",
    "Readout",
    "RunSummary",
    "ScoreRanges",
    "Scores",
    "SelfAttention",
    "ShownPca",
    "Specificity",
    "Spread",
    "StayingEpochs",
    "Step",
    "TargetScores",
    "TokenOrder",
]
