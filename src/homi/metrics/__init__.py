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
    "macro_auc",
    "macro_f1",
    "micro_f1",
    "one_error",
    "ranking_loss",
    "scorers",
]
