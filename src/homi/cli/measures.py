"""How good a model is on labelled rows, in all and label by label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.metrics import METRICS, evaluate, macro_auc
from homi.thresholds.search import best_per_label


def all_metrics(Y: Any, scores: Any, labels: Any) -> dict[str, float]:
    """Every metric of ``homi.metrics``."""
    return evaluate(Y, scores, labels, METRICS)


def by_label(
    names: list[str], Y: Any, scores: Any, labels: Any, decisions: Any
) -> list[dict[str, Any]]:
    """Counts, precision, recall, F1, AUC and the best threshold of each label.

    AUC ranks by ``scores``. The best threshold is that on ``decisions`` with the
    highest F1 on these very rows: optimistic for others.
    """
    truth, said = np.asarray(Y) > 0, np.asarray(labels) > 0
    thresholds = best_per_label(decisions, truth, "macro_f1", np.ones(len(names), bool))
    best = _f1(truth, decisions > thresholds)
    found = []
    f1 = _f1(truth, said)
    for j, name in enumerate(names):
        y, p = truth[:, j], said[:, j]
        hits = int(np.sum(y & p))
        found.append(
            {
                "label": name,
                "true_positives": hits,
                "false_positives": int(np.sum(~y & p)),
                "false_negatives": int(np.sum(y & ~p)),
                "true_negatives": int(np.sum(~y & ~p)),
                "precision": hits / p.sum() if p.any() else 0.0,
                "recall": hits / y.sum() if y.any() else 0.0,
                "f1": float(f1[j]),
                "auc": macro_auc(Y[:, [j]], scores[:, [j]], ties="half"),
                "best_threshold": float(thresholds[j]),
                "best_f1": float(best[j]),
            }
        )
    return found


def _f1(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> NDArray[np.float64]:
    hits = (truth & said).sum(axis=0)
    either = np.maximum(truth.sum(axis=0) + said.sum(axis=0), 1)
    return np.asarray(2.0 * hits / either)
