"""HOMI with one part taken out, for the paper's ablations."""

from __future__ import annotations

from homi.estimators import HOMI
from homi.solver import OnSweep, Problem, Solution, solve_stepwise


class WithoutLabels(HOMI):
    """HOMI that predicts by ``g(x) = xW + z``: learned with B and t, used without."""

    def fit(self, X, y):
        """Learn as HOMI does, and keep the first of the two models."""
        super().fit(X, y)
        self.coef_ = self.feature_weights_.T.copy()
        self.intercept_ = self.feature_bias_ - 0.5
        return self


class StepWise(HOMI):
    """HOMI that learns (B, t) from the labels alone, and then (W, z) with them held."""

    def _solve(self, problem: Problem, on_sweep: OnSweep | None) -> Solution:
        return solve_stepwise(problem)
