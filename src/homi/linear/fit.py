"""Linear classifiers for all labels at once.

This is the only logistic regression of the package. It also serves the many small
problems of :class:`~homi.estimators.CalibratedLabelRanking`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.linalg import Array, Matrix
from homi.linear.centered_rows import CenteredRows, SideBySide, side_by_side
from homi.linear.lbfgs import Task, minimize
from homi.linear.losses import LOSSES, Loss, LossName
from homi.linear.preconditioner import GramMatrix, Mask, gram_of
from homi.threads import for_product, one_thread

#: Entries of an array of rows by labels: 4 MB, so that several fit in the cache.
_BLOCK = 2**19


class LinearMargins(NamedTuple):
    """Scores X W + b of all labels, above 0 where a label is predicted.

    ``coef`` is W, (n_features, n_labels), and ``intercept`` is b; ``unfinished`` is the
    number of labels that did not converge.
    """

    coef: Array
    intercept: Array
    unfinished: int = 0

    def __call__(self, X: Matrix | SideBySide) -> Array:
        """Return the margins of the rows of X: array, sparse matrix or SideBySide."""
        margins: Array = X @ self.coef
        margins += self.intercept
        return margins


def fit_margins(
    X: Matrix | SideBySide,
    Y: Matrix,
    *,
    C: float = 1.0,
    loss: LossName = "squared_hinge",
    weight: Array | None = None,
    known: Mask | None = None,
    allowed: Mask | None = None,
    start: LinearMargins | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> LinearMargins:
    r"""Fit a linear classifier to every column of Y.

    .. math:: \min_{w_j, b_j} \tfrac12\|w_j\|^2 + C \sum_i \omega_i \ell(\tilde y_{ij}
              (x_i^T w_j + b_j)), \qquad \tilde y = 2y - 1

    with the loss max(0, 1 - t)² or log(1 + exp(-t)). The intercepts are not penalized.

    Parameters
    ----------
    X : array, sparse matrix or SideBySide of shape (n_samples, n_features)
        Rows. Sparse parts stay sparse.
    Y : array or sparse matrix of shape (n_samples, n_labels)
        Labels, 0 or 1. A constant one gets w = 0 and b = 1 or -1.
    C : float in (0, inf)
        Weight of the loss.
    loss : {"squared_hinge", "log"}
        Loss ℓ.
    weight : array of shape (n_samples,), or None
        Positive sample weights; None means 1 each. A row of weight 2 equals two rows
        of weight 1, at half the cost.
    known : bool array of shape (n_samples, n_labels), or None
        Rows that each label is fitted to; None means all.
    allowed : bool array of shape (n_features, n_labels), or None
        Coefficients that may differ from 0; None means all.
    start : LinearMargins or None
        Initial margins, such as those of a similar problem; 0 outside ``allowed``.
        They change the time, not the optimum.
    tol : float in (0, inf)
        Relative tolerance of the gradient. A label has converged when the norm in w is
        at most this share of the norm at w = 0, and the absolute value in b is at most
        this share of the sum of the rows' absolute gradients at w = 0. At w = 0, b is
        optimal.
    max_iter : int
        Maximum number of steps.
    n_jobs : int or None
        Number of threads; each fits some of the labels.

    Returns
    -------
    margins : LinearMargins
        Coefficients and intercepts of all labels.

    Notes
    -----
    L-BFGS runs on a block of labels at once. A step costs O(nnz(X)) for each label that
    has not converged, in two products with X that all labels share.
    """
    Y = sparse.csc_array(Y) if sparse.issparse(Y) else np.asarray(Y)
    rows = CenteredRows(side_by_side(X), weight)
    counts = _Counts.of(rows, Y, known)
    blocks = _blocks(counts, rows)
    with _blas_threads(rows, blocks, n_jobs):
        problem = _AllLabels(rows, Y, known, LOSSES[loss], C, gram_of(rows), tol)
        found = Parallel(n_jobs, require="sharedmem")(
            delayed(problem.fit)(labels, allowed, start, max_iter) for labels in blocks
        )
    coef, intercept = _constants(rows.m, counts)
    for labels, (V, _) in zip(blocks, found, strict=True):
        coef[:, labels] = V[:-1]
        intercept[labels] = V[-1] - rows.mean @ V[:-1]
    return LinearMargins(coef, intercept, sum(unfinished for _, unfinished in found))


class _Counts(NamedTuple):
    """Total weight of the rows with each label, and of those where it is known."""

    positive: Array
    known: Array

    @classmethod
    def of(cls, rows: CenteredRows, Y: Matrix, known: Mask | None) -> _Counts:
        if known is None:
            return cls(rows.count(Y), np.full(Y.shape[1], float(rows.n)))
        return cls(rows.count(Y * known), rows.count(known))


def _constants(m: int, counts: _Counts) -> tuple[Array, Array]:
    """Return coefficients 0, and intercepts -1 for labels without rows, else 1."""
    return np.zeros((m, len(counts.known))), np.where(counts.positive > 0, 1.0, -1.0)


def _blocks(counts: _Counts, rows: CenteredRows) -> list[NDArray[np.intp]]:
    """Split the labels that are not constant into blocks that fit in the cache."""
    # Labels of similar frequency need similar numbers of steps.
    order = np.argsort(counts.positive, kind="stable")
    positive, known = counts.positive[order], counts.known[order]
    order = order[(positive > 0) & (positive < known)]
    width = max(1, _BLOCK // rows.stored)
    return [order[first : first + width] for first in range(0, len(order), width)]


def _blas_threads(
    rows: CenteredRows, blocks: list[NDArray[np.intp]], n_jobs: int | None
) -> AbstractContextManager[object]:
    if effective_n_jobs(n_jobs) > 1:
        return one_thread()
    return for_product(rows.stored, rows.m, max(map(len, blocks), default=0))


@dataclass(frozen=True)
class _AllLabels:
    """Data shared by the problems of all labels."""

    rows: CenteredRows
    Y: Matrix
    known: Mask | None
    loss: Loss
    C: float
    gram: GramMatrix
    tol: float

    def fit(
        self,
        labels: NDArray[np.intp],
        allowed: Mask | None,
        start: LinearMargins | None,
        max_iter: int,
    ) -> tuple[Array, int]:
        """Return [W; b] for centered features, and the number of unfinished labels."""
        allowed = None if allowed is None else allowed[:, labels]
        task, V = self._task(labels, allowed)
        limits = self._limits(task, V)
        if start is not None:
            b = start.intercept + self.rows.mean @ start.coef
            V = np.vstack([start.coef, b])[:, labels]
        return minimize(task, V, limits, max_iter)

    def _task(
        self, labels: NDArray[np.intp], allowed: Mask | None
    ) -> tuple[Task, Array]:
        """Return the problems of some labels, and their best parameters at w = 0."""
        y = dense(self.Y[:, labels])
        known = None if self.known is None else self.known[:, labels]
        counts = _Counts.of(self.rows, y, known)
        share = counts.positive / counts.known
        curvature = self.loss.curvature(share) * (counts.known / self.rows.n)
        preconditioner = self.gram.preconditioner(self.C * curvature, allowed)
        signs = np.where(y > 0, 1.0, -1.0)
        if known is not None:
            signs *= known
        V = np.zeros((self.rows.m + 1, len(labels)))
        V[-1] = self.loss.constant(share)
        return Task(self.rows, signs, self.loss, self.C, preconditioner, allowed), V

    def _limits(self, task: Task, V: Array) -> Array:
        """Return the limits of the gradients in w and in b for convergence."""
        flat = task.at(V, np.broadcast_to(V[-1], task.signs.shape))
        in_w = np.linalg.norm(task.gradient(flat)[:-1], axis=0)
        in_b = self.C * np.abs(flat.slope).sum(axis=0)
        return self.tol * np.vstack([in_w, in_b])
