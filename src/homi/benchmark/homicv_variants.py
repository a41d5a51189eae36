"""HOMICV with all or some of its parts, for comparisons and ablations."""

from __future__ import annotations

from typing import Self

import numpy as np

from homi.estimators import HOMICV, MultiLabelClassifier
from homi.thresholds import TunedThresholds
from homi.typing import Array, Matrix, MatrixLike, RandomState


class BestHOMI(MultiLabelClassifier):
    """``HOMICV`` with thresholds for Hamming loss chosen on its held-out scores.

    Parameters
    ----------
    kernels, corrections, trees, thresholds : bool, default=True
        Parts that may be left out. Without all four, the penalty of a ridge regression
        is chosen, and whether its features are standardized.
    graph : bool, default=False
        Whether graphs are tried, too.
    weights, odds : bool or None, default=None
        Whether labels may have weights of their own, and whether scores become
        log-odds; None where kernels and corrections are there, so that a part by itself
        is measured by itself. Trees need log-odds.
    random_state : int or None, default=None
        Seed of the search.
    """

    def __init__(
        self,
        *,
        kernels: bool = True,
        graph: bool = False,
        corrections: bool = True,
        trees: bool = True,
        thresholds: bool = True,
        weights: bool | None = None,
        odds: bool | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.kernels = kernels
        self.graph = graph
        self.corrections = corrections
        self.trees = trees
        self.thresholds = thresholds
        self.weights = weights
        self.odds = odds
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Choose by cross-validation, and fit on all rows."""
        rows, target = self._check_fit_input(X, y)
        whole = self.kernels and self.corrections
        weights = whole if self.weights is None else self.weights
        odds = whole if self.odds is None else self.odds
        search = HOMICV(
            widths=None if self.kernels else [],
            gammas=None if self.graph else [],
            label_weights=None if weights else [],
            betas=None if self.corrections else [],
            trees="auto" if self.trees and odds else False,
            calibration="sigmoid" if odds else None,
            random_state=self.random_state,
        )
        self.model_: HOMICV | TunedThresholds = search
        if self.thresholds:
            self.model_ = TunedThresholds(
                search,
                cv="own",
                strategy="auto",
                calibration=None,
                random_state=self.random_state,
            )
        self.model_.fit(rows, target.indicator)
        return self

    def _scores(self, X: Matrix) -> Array:
        return np.asarray(self.model_.decision_function(X)).reshape(X.shape[0], -1)

    def ranking_scores(self, X: MatrixLike) -> Array:
        """Return scores without thresholds."""
        return self.model_.ranking_scores(X)
