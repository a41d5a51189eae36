"""A chain of linear classifiers: what was decided of a label helps those after it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.base.scaling import Scaler
from homi.linear import LinearMargins, SideBySide, Sigmoids
from homi.methods.linear_model import fit_linear, unscaled

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Ones among the labels up to which they stay sparse beside dense rows: products then
#: cost a fifth of dense ones or less. Where there are more, labels are mostly few and
#: frequent, and descents by the whole Gram matrix, which needs dense rows, are shorter.
_THIN = 0.05


class LinearChain(NamedTuple):
    """Margins linear in the features and in the labels that were decided before.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        Labels, the first to be decided first.
    linear : LinearMargins
        The part that the features give.
    weights : ndarray of shape (n_labels, n_labels)
        What label i, where it is decided, adds to the margin of label j.
    sigmoids : Sigmoids
        From margins to probabilities.
    """

    order: NDArray[np.intp]
    linear: LinearMargins
    weights: Array
    sigmoids: Sigmoids

    def walk(self, X: Any) -> Array:
        """Margins; a label is decided where its own exceeds 0."""
        F = self.linear(X)
        for label in self.order:
            F[F[:, label] > 0.0] += self.weights[label]
        return F

    def margins(self, X: Any) -> Array:
        """Scores, above 0 where a label is predicted."""
        return self.walk(X)

    def probabilities(self, X: Any) -> Array:
        """Probabilities, strictly between 0 and 1."""
        return self.sigmoids(self.walk(X))

    def unscaled(self, scaler: Scaler) -> LinearChain:
        """The same for rows as given, if it was fitted to scaled ones."""
        return self._replace(linear=unscaled(self.linear, scaler))


def fit_chain(
    X: Any,
    Y: Any,
    order: NDArray[np.intp],
    *,
    features: Mask | None = None,
    related: Mask | None = None,
    **options: Any,
) -> LinearChain:
    """Fit the linear classifiers of a chain.

    They learn from true labels, so that none waits for another: the whole chain is
    one problem, in which weights of labels that come later are 0.

    Parameters
    ----------
    X, Y : array or CSR matrix
        Rows and labels.
    order : ndarray of shape (n_labels,)
        Labels, the first to be decided first.
    features : bool array of shape (n_features, n_labels), or None
        Which features a label may use; None for all.
    related : bool array of shape (n_labels, n_labels), or None
        Which labels (rows) that come earlier a label (column) may use; None for all.
    **options
        C, loss, tol, rng, draws and n_jobs of :func:`fit_linear`.
    """
    m, q, place = X.shape[1], len(order), np.argsort(order)
    earlier = place[:, None] < place
    if related is not None:
        earlier &= related
    if features is None:
        features = np.ones((m, q), dtype=bool)
    allowed = np.vstack([features, earlier])
    linear, sigmoids = fit_linear(_beside(X, Y), Y, allowed=allowed, **options)
    weights = linear.coef[m:].copy()
    linear = linear._replace(coef=linear.coef[:m].copy())
    return LinearChain(order, linear, weights, sigmoids)


def _beside(X: Any, Y: Any) -> Any:
    thin = sparse.csr_array(Y)
    if sparse.issparse(X):
        return sparse.hstack([X, thin], format="csr")
    if thin.nnz <= _THIN * math.prod(thin.shape):
        return SideBySide((X, thin.astype(np.float64)))
    return np.hstack([X, dense(Y)])
