"""HOMI with one part removed, for ablations."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike

from homi.model.homi import HOMI
from homi.model.route import Route, choose_route
from homi.solver import OnSweep, Problem, Solution, solve_stepwise
from homi.typing import MatrixLike


class WithoutLabels(HOMI):
    """HOMI that predicts by ``g(x) = xW + z``: fitted with B and t, used without."""

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit as HOMI does, and predict with the feature weights only."""
        super().fit(X, y, sample_weight, label_weight)
        self.coef_ = self.feature_weights_.T.copy()
        self.intercept_ = self.feature_bias_ - 0.5
        return self


class _StepWiseRoute(Route):
    def _solve(self, problem: Problem, on_sweep: OnSweep | None) -> Solution:
        return solve_stepwise(problem)


class StepWise(HOMI):
    """HOMI that fits (B, t) to the labels only, and then (W, z) with them fixed."""

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the two regressions one after the other."""
        rows = self._rows(X, y, sample_weight, label_weight)
        route = choose_route(self.get_params(deep=False), rows)
        stepwise = _StepWiseRoute(**vars(route))
        return self._store(stepwise.fit(rows, lambda scaling, kernel_map: None))
