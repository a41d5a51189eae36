"""Metrics of a cell beside the paper's: F1 with tuned thresholds, calibration, more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from sklearn.metrics import average_precision_score

from homi.metrics import METRICS, evaluate
from homi.model.scoring import average_precision as pooled_average_precision
from homi.thresholds import expected_calibration_error
from homi.thresholds.rules import fit_rule
from homi.typing import Array, Indices, Mask


class HeldOut(NamedTuple):
    """Training rows, and their scores by a model that was not fitted to them."""

    rows: Indices
    scores: Array


class Outcome(NamedTuple):
    """True labels of the test rows, the output of a method, and its held-out part.

    ``known`` and ``held_out`` are labels and scores of training rows that the scores
    were not fitted to: thresholds are chosen on them.
    """

    Y: Mask
    scores: Array
    labels: Mask
    probabilities: Array
    known: Mask
    held_out: Array


class Measure(NamedTuple):
    """A metric of an outcome, its title, and whether greater values are better."""

    title: str
    greater_is_better: bool
    function: Callable[[Outcome], float]


def micro_average_precision(outcome: Outcome) -> float:
    """Average precision of all labels of all rows together."""
    return pooled_average_precision(outcome.Y, outcome.scores)


def macro_average_precision(outcome: Outcome) -> float:
    """Mean of the average precisions of the labels that a test row has."""
    there = outcome.Y.any(axis=0)
    Y, scores = outcome.Y[:, there], outcome.scores[:, there]
    return float(average_precision_score(Y, scores)) if there.any() else float("nan")


def calibration_error(outcome: Outcome) -> float:
    """Calibration error of the probabilities, expected over bins."""
    return expected_calibration_error(outcome.Y, outcome.probabilities)


def _tuned(metric: str, strategy: str) -> Measure:
    """Return the metric with thresholds chosen for it on the held-out scores."""

    def value(outcome: Outcome) -> float:
        rule = fit_rule(outcome.held_out, outcome.known, metric, strategy)
        return METRICS[metric](outcome.Y, rule(outcome.scores) > 0)

    return Measure(f"{METRICS[metric].title}, tuned thresholds", True, value)


def _plain(name: str) -> Measure:
    def value(outcome: Outcome) -> float:
        return evaluate(outcome.Y, outcome.scores, outcome.labels, [name])[name]

    at_k = name.partition("_at_")[2]
    if at_k:
        return Measure(f"P@{at_k}", True, value)
    return Measure(METRICS[name].title, METRICS[name].greater_is_better, value)


#: Metrics that an experiment may ask for, beside the paper's, which it always has.
MEASURES: dict[str, Measure] = {
    "average_precision": _plain("average_precision")._replace(title="LRAP"),
    "micro_average_precision": Measure(
        "Micro average precision", True, micro_average_precision
    ),
    "macro_average_precision": Measure(
        "Macro average precision", True, macro_average_precision
    ),
    **{f"precision_at_{k}": _plain(f"precision_at_{k}") for k in (1, 3, 5)},
    **{
        name: _plain(name)
        for name in ("micro_f1", "macro_f1", "example_f1", "exact_match")
    },
    "tuned_micro_f1": _tuned("micro_f1", "global"),
    "tuned_macro_f1": _tuned("macro_f1", "per_label"),
    "tuned_example_f1": _tuned("example_f1", "global"),
    "calibration_error": Measure("Calibration error", False, calibration_error),
}


def measure(outcome: Outcome, names: Iterable[str]) -> dict[str, float]:
    """Return metrics of an outcome by name."""
    return {name: float(MEASURES[name].function(outcome)) for name in names}
