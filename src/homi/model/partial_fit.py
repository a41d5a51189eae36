"""Fits from batches: sums that grow, and a model that is solved for when asked."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from homi.base._compat import fit_context
from homi.base.targets import Encoding
from homi.base.validation import check_rows
from homi.graph import AnchorPlan, plan_anchors, tied_moments
from homi.model.batch_checks import all_or_nothing, batch_target, check_same, naming
from homi.model.graphs import Sums
from homi.solver import Problem, solve_identity

#: Attributes that are solved for only when somebody asks for one of them.
_LEARNT = frozenset(
    (
        *("feature_weights_", "feature_bias_", "label_correlation_", "label_bias_"),
        *("coef_", "intercept_", "history_", "n_iter_"),
    )
)


def _takes_batches(estimator: Any) -> bool:
    return estimator._why_no_batches() is None


class PartialFit:
    """``partial_fit`` of HOMI.

    A batch only adds to sums, in time linear in its rows. The model of all rows so
    far is solved for on the first use of what is learnt, in time that does not depend
    on the rows.
    """

    _sums: Sums | None
    _n_batches: int
    _kernel_map: Any
    _target: Encoding
    classes_: Any
    label_names_: Any

    @available_if(_takes_batches)
    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None):
        """Learn from more rows, without keeping them.

        The first batch decides the anchors of the graph and the units in which rows
        are compared; :func:`homi.fit_stream` takes them from a sample of all batches.
        Everything else is the same as if all rows came at once. After ``fit`` with
        ``graph="anchors"``, it goes on from there.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of this batch.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Their labels, as in ``fit``.
        classes : array-like, default=None
            All classes of a 1-D y; needed in the first call, and only then.

        Returns
        -------
        self : object
            The classifier. A batch that is refused leaves it as it was.
        """
        with all_or_nothing(self):
            self._check_partial()
            self._absorb(X, y, classes)
        return self

    def _why_no_batches(self) -> str | None:
        """What of the parameters needs all rows at once, if anything does."""
        for name, possible in (
            ("graph", ("auto", "anchors")),
            ("kernel", (None,)),
            ("correlation", ("labels", "identity")),
            ("missing_labels", ("error",)),
            ("solver", ("auto", "direct")),
        ):
            value = getattr(self, name)
            if value not in possible and not (name == "graph" and self.gamma == 0):
                expected = " or ".join(map(repr, possible))
                return (
                    f"batches cannot be learnt with {name}={value!r}, which needs all "
                    f"rows at once; use {name}={expected}, or fit."
                )
        return None

    def _check_partial(self) -> None:
        if (why := self._why_no_batches()) is not None:
            raise ValueError(why)
        if getattr(self, "_sums", None) is None and "coef_" in vars(self):
            warnings.warn(
                f"this model was fitted with graph={self.graph_!r}, of which nothing "
                "is kept to go on from: it begins anew with this batch. Fit it with "
                "graph='anchors' to go on.",
                UserWarning,
                stacklevel=3,
            )

    def _absorb(self, X: Any, y: Any, classes: Any = None, plan: Any = None) -> None:
        """Add a batch to the sums; the first one needs a plan, or becomes one."""
        sums: Sums | None = getattr(self, "_sums", None)
        batch, seen = (1, 0) if sums is None else (self._n_batches + 1, sums.n)
        X, Y = self._check_named(X, y, classes, sums is None, batch, seen)
        if sums is None:
            plan = self._plan(X) if plan is None else plan
            part = tied_moments(X, Y, plan, graph=self.gamma > 0)
            sums = Sums(plan, part)
        else:
            graph = sums.total.ties is not None
            part = tied_moments(X, Y, sums.plan, graph=graph)
            sums = sums._replace(total=sums.total + part)
        self._resume(sums, batch)

    def _resume(self, sums: Sums, n_batches: int) -> None:
        """Go on from sums of that many batches; columns and labels are known."""
        self._kernel_map = None
        self._sums, self._n_batches = sums, n_batches
        self.graph_ = "anchors" if sums.total.ties is not None else "none"
        for name in _LEARNT & vars(self).keys():
            delattr(self, name)

    def _check_named(
        self, X: Any, y: Any, classes: Any, first: bool, batch: int = 1, seen: int = 0
    ) -> Any:
        with naming(batch, seen, X, y):
            return self._check_batch(X, y, classes, first)

    def _check_rows(self, X: Any, batch: int, seen: int) -> Any:
        """Rows of a batch that is not the first, alone."""
        with naming(batch, seen, X, None):
            return check_rows(self, X, reset=False)

    def _check_batch(self, X: Any, y: Any, classes: Any, first: bool) -> Any:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None; pass the labels as the second argument."
            )
        if getattr(X, "shape", (1,))[0] == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 "
                "is required: leave empty batches out."
            )
        X = check_rows(self, X, reset=first)
        target = batch_target(y, self._known_classes(classes, first))
        check_consistent_length(X, target.indicator)
        if first:
            self.classes_, self.label_names_ = target.classes, target.names
            self._target = target.encoding
        else:
            named = hasattr(y, "columns")
            check_same(target, self.label_names_, self._target, named)
        return X, target.indicator

    def _known_classes(self, classes: Any, first: bool) -> Any:
        """Those of a 1-D y: given, or known from before."""
        target = getattr(self, "_target", None)
        if target is None or target.kind == "multilabel-indicator":
            return classes
        return classes if first and classes is not None else self.classes_

    def _plan(self, X: Any) -> AnchorPlan:
        if X.shape[0] < self.n_anchors and self.gamma > 0:
            warnings.warn(
                f"the first batch decides the anchors, and has {X.shape[0]} rows for "
                f"n_anchors={self.n_anchors}; begin with a larger one, or use "
                "homi.fit_stream.",
                UserWarning,
                stacklevel=4,
            )
        return plan_anchors(
            X,
            self.n_neighbors,
            self.n_anchors if self.gamma > 0 else 0,
            standardize=self.standardize,
            seed=self._seed(),
        )

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _settle(self) -> None:
        """Solve for the model of all rows so far."""
        assert self._sums is not None
        moments, mean, scale = self._sums.units(self.standardize)
        hyper = self.lam, self.beta, self.gamma, self.penalize_bias
        problem = Problem(moments, *hyper)
        is_joint = self.correlation == "labels"
        solution = self._solve(problem, None) if is_joint else solve_identity(problem)
        self._store(solution, mean, scale)

    def __getattr__(self, name: str) -> Any:
        # Called only for what is not there.
        if name in _LEARNT and self.__dict__.get("_sums") is not None:
            self._settle()
            return self.__dict__[name]
        if name == "partial_fit" and (why := self._why_no_batches()) is not None:
            raise AttributeError(why)
        kind = type(self).__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
