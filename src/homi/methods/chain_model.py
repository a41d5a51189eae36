"""One chain of any classifiers, and what chains have in common."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.multioutput import ClassifierChain as OneChain

from homi.base._compat import Interval, StrOptions
from homi.methods._labelwise import LabelModel
from homi.methods._wrapped import fit_wrapped
from homi.methods.linear_chain import fit_chain

SHARED_CONSTRAINTS = {
    "estimator": "no_validation",
    "C": [Interval(Real, 0, None, closed="neither")],
    "loss": [StrOptions({"squared_hinge", "log"})],
    "standardize": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}


def fit_one(
    X: Any,
    Y: Any,
    order: NDArray[np.intp],
    estimator: Any,
    options: dict[str, Any],
    rng: np.random.RandomState,
    draws: NDArray[np.intp] | None = None,
) -> LabelModel:
    """Fit a chain to the rows drawn, some perhaps more than once; None for all."""
    if estimator is None:
        return fit_chain(X, Y, order, rng=rng, draws=draws, **options)
    if draws is not None:
        X, Y = X[draws], Y[draws]
    return fit_wrapped(partial(_one_chain, estimator, order), X, Y, rng)


def _one_chain(
    estimator: Any, order: NDArray[np.intp], labels: NDArray[np.intp]
) -> OneChain:
    """scikit-learn's chain of some labels, which it counts from 0."""
    some = order[np.isin(order, labels)]
    return OneChain(estimator, order=np.searchsorted(labels, some))
