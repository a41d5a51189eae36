"""Summary of a fitted HOMICV: what was chosen, how good it is, and of which labels."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from homi.typing import Array, Fields, Names

#: Labels that are listed as best and as worst.
_MOST = 5
_TITLES = {
    "hamming_loss": "Hamming loss",
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "macro_auc": "macro-AUC",
}


class SummaryReprMixin:
    """The summary of a HOMICV below scikit-learn's diagram in a notebook."""

    def _summarized(self) -> Any:
        """Return the HOMICV; nothing is added for any other classifier."""
        return self

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and, once fitted, the summary."""
        page: str = super()._repr_html_inner()  # type: ignore[misc]
        return page + _html(self._summarized())

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        """Return scikit-learn's bundle for notebooks with the summary."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _html(self._summarized())
        return bundle


class SummaryMixin(SummaryReprMixin):
    """``summary``, and the same below scikit-learn's diagram in a notebook."""

    best_params_: Fields
    label_names_: Names
    label_weight_: Array | None
    n_features_in_: int

    def summary(self) -> str:
        """Return what was chosen, held-out metrics, and the best and worst labels.

        Returns
        -------
        text : str
            A few lines. Labels are compared by their held-out AUC.
        """
        check_is_fitted(self)
        lines = [f"{title}: {text}" for title, text in _facts(self)]
        for title, rows in _labels(self):
            lines.append(f"{title}:")
            lines += [f"  {name}: {text}" for name, text in rows]
        return "\n".join(lines)


def _html(model: Any) -> str:
    if not isinstance(model, SummaryMixin) or not hasattr(model, "best_estimator_"):
        return ""
    pairs = [*_facts(model)]
    for title, rows in _labels(model):
        pairs += [(f"{title}: {name}", text) for name, text in rows]
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(title)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for title, text in pairs
    )
    return f"<table>{cells}</table>"


def _facts(model: SummaryMixin) -> list[tuple[str, str]]:
    """Return title and text of what was chosen and of the held-out metrics."""
    size = f"{len(model.label_names_)} labels, {model.n_features_in_} features"
    facts = [(type(model).__name__, size), ("chosen", _chosen(model))]
    if found := getattr(model, "held_out_metrics_", None):
        numbers = (f"{_TITLES[name]} {found[name]:.3f}" for name in _TITLES)
        facts.append(("held-out rows", ", ".join(numbers)))
    return facts


def _chosen(model: SummaryMixin) -> str:
    params: Fields = model.best_params_
    parts = [
        f"{params['kernel']} kernel" if params.get("kernel") else "linear features",
        f"λ = {params['lam']:.3g}",
    ]
    if params.get("correlation") not in (None, "identity"):
        parts.append("labels corrected by each other")
    if params.get("gamma"):
        parts.append(f"graph with γ = {params['gamma']:.3g}")
    if model.label_weight_ is not None:
        parts.append("a weight for each label")
    if getattr(model, "forest_", None) is not None:
        parts.append("averaged with a forest")
    if getattr(model, "logistic_coef_", None) is not None:
        parts.append("averaged with logistic regressions")
    return ", ".join(parts)


def _labels(model: SummaryMixin) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the best and the worst labels, each with name and text."""
    table = getattr(model, "held_out_labels_", None)
    if table is None:
        return []
    auc = np.array(table["auc"], dtype=float)
    order = np.argsort(-auc, kind="stable")[: np.count_nonzero(~np.isnan(auc))]
    count = min(_MOST, (len(order) + 1) // 2)
    best, worst = order[:count], order[count:][::-1][:count]
    found = [("best labels", best), ("worst labels", worst)]
    return [(title, [_label(table, j) for j in js]) for title, js in found if len(js)]


def _label(table: Fields, j: int) -> tuple[str, str]:
    rows = f"{table['positives'][j]:,} rows"
    text = f"AUC {table['auc'][j]:.3f}, F1 {table['f1'][j]:.3f}, {rows}"
    return str(table["label"][j]), text
