"""Sweeps of a fit of HOMI: tell callbacks of them, warn if they did not converge."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sklearn.exceptions import ConvergenceWarning

from homi.base._compat import CallbackContext
from homi.model.fitted_attributes import Scaling, fitted_attributes
from homi.model.kernel_map import KernelMap
from homi.solver import OnSweep, Params, total
from homi.solver.problem import Terms
from homi.typing import Fields, History, MatrixLike
from homi.warn import warn

if TYPE_CHECKING:
    from homi.model.homi import HOMI


def warn_of_sweeps(history: History, max_iter: int, tol: float) -> None:
    """Warn that the sweeps ended before they converged."""
    # A callback may also have ended the sweeps: that is no failure.
    if len(history) < max_iter:
        return
    warn(
        f"HOMI ended after {len(history)} sweeps without converging: the last "
        f"one still lowered the objective, now {total(history[-1]):.6g}, "
        f"by more than the share tol={tol:g}; increase max_iter or tol.",
        ConvergenceWarning,
    )


class SweepCallbacks:
    """Tell scikit-learn's callbacks of a fit and its sweeps; a callback may end it."""

    def __init__(self, estimator: HOMI, X: MatrixLike, y: MatrixLike) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        context = estimator._init_callback_context(max_subtasks=estimator.max_iter)
        self._fit: CallbackContext = context

    def __enter__(self) -> SweepCallbacks:
        """Tell that the fit begins."""
        self._fit.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Tell that the fit ended, unless by an error."""
        if kind is None:
            self._fit.call_on_fit_task_end(
                estimator=self._estimator,
                **self._data,
                reconstruction_attributes=lambda: {},
            )

    def hook(self, scaling: Scaling, kernel_map: KernelMap | None) -> OnSweep | None:
        """Return what the solver calls after each sweep; None if nobody listens."""
        if not getattr(self._estimator, "_skl_callbacks", None):
            return None
        return partial(self._after, scaling, kernel_map)

    def _after(
        self,
        scaling: Scaling,
        kernel_map: KernelMap | None,
        terms: Terms,
        params: Callable[[], Params],
    ) -> bool:
        def attributes() -> Fields:
            return fitted_attributes(params(), *scaling) | {"kernel_map_": kernel_map}

        sweep = self._fit.subcontext(task_name="sweep")
        sweep.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        stop = sweep.call_on_fit_task_end(
            estimator=self._estimator,
            **self._data,
            metadata={"objective": dict(terms)},
            reconstruction_attributes=attributes,
        )
        return bool(stop)
