"""HOMI with one part removed, for ablations."""

from __future__ import annotations

from homi.estimators import HOMI
from homi.solver import OnSweep, Problem, Solution, solve_stepwise


class WithoutLabels(HOMI):
    """HOMI that predicts by ``g(x) = xW + z``: fitted with B and t, used without."""

    def fit(self, X, y):
        """Fit as HOMI does, and predict with the feature weights only."""
        super().fit(X, y)
        self.coef_ = self.feature_weights_.T.copy()
        self.intercept_ = self.feature_bias_ - 0.5
        return self


class StepWise(HOMI):
    """HOMI that fits (B, t) to the labels only, and then (W, z) with them fixed."""

    def _solve(self, problem: Problem, on_sweep: OnSweep | None) -> Solution:
        return solve_stepwise(problem)
