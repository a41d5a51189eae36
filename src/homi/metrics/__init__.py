"""Multi-label metrics, computed from scores or predictions."""

from homi.metrics.functions import (
    METRICS,
    PAPER_METRICS,
    Metric,
    average_precision,
    coverage,
    evaluate,
    exact_match,
    example_f1,
    hamming_loss,
    macro_auc,
    macro_f1,
    micro_f1,
    one_error,
    ranking_loss,
    scorers,
)
from homi.metrics.top_k import (
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
)

__all__ = [
    "METRICS",
    "PAPER_METRICS",
    "Metric",
    "average_precision",
    "coverage",
    "evaluate",
    "exact_match",
    "example_f1",
    "hamming_loss",
    "label_propensities",
    "macro_auc",
    "macro_f1",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "ranking_loss",
    "scorers",
]
