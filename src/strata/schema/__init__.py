"""What stages write as JSON, as types: `store.write_json` writes them, `store.read_model` reads."""

from strata.schema.base import Spread
from strata.schema.heads import (
    Alignment,
    BlockScoreByKind,
    HeadMetrics,
    KindScore,
    OvCircuit,
    SelfAttention,
)
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

__all__ = [
    "Accuracy",
    "Alignment",
    "BlockScoreByKind",
    "ClassMetrics",
    "ClassPca",
    "EmbeddingPca",
    "Epochs",
    "HeadMetrics",
    "KindScore",
    "Metrics",
    "NeuronMetrics",
    "OvCircuit",
    "Pairs",
    "Readout",
    "SelfAttention",
    "ShownPca",
    "Spread",
    "StayingEpochs",
    "TokenOrder",
]
