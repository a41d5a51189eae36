"""Linear classifiers of all labels at once."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from homi.arrays import dense
from homi.linear.descent import Task, minimise
from homi.linear.losses import LOSSES, Array, Loss, LossName
from homi.linear.metric import Mask, Shape, shape_of
from homi.linear.rows import CentredRows, side_by_side
from homi.threads import for_product

#: Numbers in an array of rows by labels: 4 MB, of which a few fit in the cache.
_BLOCK = 2**19


class LinearMargins(NamedTuple):
    """Scores X W + b of all labels, above 0 where a label is predicted.

    ``coef`` is W, (n_features, n_labels), and ``intercept`` is b; ``unfinished`` is the
    number of labels that were not done within the steps allowed.
    """

    coef: Array
    intercept: Array
    unfinished: int = 0

    def __call__(self, X: Any) -> Array:
        """Margins of the rows of X, dense or sparse."""
        margins: Array = X @ self.coef
        margins += self.intercept
        return margins


def fit_margins(
    X: Any,
    Y: Any,
    *,
    C: float = 1.0,
    loss: LossName = "squared_hinge",
    weight: Array | None = None,
    allowed: Mask | None = None,
    start: LinearMargins | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> LinearMargins:
    r"""Fit a linear classifier to every column of Y.

    .. math:: \min_{w_j, b_j} \tfrac12\|w_j\|^2 + C \sum_i \omega_i \ell(\tilde y_{ij}
              (x_i^T w_j + b_j)), \qquad \tilde y = 2y - 1

    with the loss max(0, 1 - t)² or log(1 + exp(-t)). The intercepts are not penalised.

    Parameters
    ----------
    X : array, sparse matrix or SideBySide of shape (n_samples, n_features)
        Rows. What is sparse stays sparse.
    Y : array or sparse matrix of shape (n_samples, n_labels)
        Labels, 0 or 1. One that is constant gets w = 0 and b = 1 or -1.
    C : float in (0, inf)
        Weight of the loss.
    loss : {"squared_hinge", "log"}
        ℓ.
    weight : array of shape (n_samples,), or None
        How often each row counts, more than 0; None for once. A row of weight 2 is
        as good as two of weight 1, at half the cost.
    allowed : bool array of shape (n_features, n_labels), or None
        Which coefficients may differ from 0; None for all.
    start : LinearMargins or None
        Where to begin, such as the margins of a similar problem; 0 outside
        ``allowed``. It matters for the time, not for the optimum.
    tol : float in (0, inf)
        A label is done when its gradient in w is at most this share of the gradient
        at w = 0, and that in b this share of the rows' absolute gradients there,
        each with the b that is best for w = 0.
    max_iter : int
        Most steps.
    n_jobs : int or None
        Threads, each for other labels.

    Returns
    -------
    margins : LinearMargins

    Notes
    -----
    L-BFGS for a block of labels at once. A step costs O(nnz(X)) for each label at
    work, in two products with X that all of them share.
    """
    Y = sparse.csc_array(Y) if sparse.issparse(Y) else np.asarray(Y)
    rows = CentredRows(side_by_side(X), weight)
    counts = rows.count(Y)
    blocks = _blocks(counts, rows)
    with _blas_threads(rows, blocks, n_jobs):
        problem = _Problem(rows, Y, LOSSES[loss], C, shape_of(rows), tol, max_iter)
        found = Parallel(n_jobs, require="sharedmem")(
            delayed(problem.solve)(labels, allowed, start) for labels in blocks
        )
    coef, intercept = _constants(rows.m, counts)
    for labels, (V, _) in zip(blocks, found, strict=True):
        coef[:, labels] = V[:-1]
        intercept[labels] = V[-1] - rows.mean @ V[:-1]
    return LinearMargins(coef, intercept, sum(unfinished for _, unfinished in found))


def _constants(m: int, counts: Array) -> tuple[Array, Array]:
    """Coefficients 0, and intercepts -1 of labels that no row has, 1 of all others."""
    return np.zeros((m, len(counts))), np.where(counts > 0, 1.0, -1.0)


def _blocks(counts: Array, rows: CentredRows) -> list[NDArray[np.intp]]:
    """Labels that are not constant, in blocks of which the arrays are small."""
    # Those of like frequency need about as many steps.
    order = np.argsort(counts, kind="stable")
    order = order[(counts[order] > 0) & (counts[order] < rows.n)]
    width = max(1, _BLOCK // rows.stored)
    return [order[first : first + width] for first in range(0, len(order), width)]


def _blas_threads(
    rows: CentredRows, blocks: list[NDArray[np.intp]], n_jobs: int | None
) -> AbstractContextManager[Any]:
    if effective_n_jobs(n_jobs) > 1:
        return threadpool_limits(limits=1)
    return for_product(rows.stored, rows.m, max(map(len, blocks), default=0))


@dataclass(frozen=True)
class _Problem:
    """What the labels share."""

    rows: CentredRows
    Y: Any
    loss: Loss
    C: float
    shape: Shape
    tol: float
    max_iter: int

    def solve(
        self,
        labels: NDArray[np.intp],
        allowed: Mask | None,
        start: LinearMargins | None,
    ) -> tuple[Array, int]:
        """Parameters of some labels for centred features; how many are not done."""
        allowed = None if allowed is None else allowed[:, labels]
        task, V = self._task(labels, allowed)
        limits = self._limits(task, V)
        if start is not None:
            b = start.intercept + self.rows.mean @ start.coef
            V = np.vstack([start.coef, b])[:, labels]
        return minimise(task, V, limits, self.max_iter)

    def _task(
        self, labels: NDArray[np.intp], allowed: Mask | None
    ) -> tuple[Task, Array]:
        """The labels' problems, and their parameters where all w are 0."""
        y = self.Y[:, labels]
        y = dense(y)
        share = self.rows.count(y) / self.rows.n
        metric = self.shape.metric(self.C * self.loss.curvature(share), allowed)
        signs = np.where(y > 0, 1.0, -1.0)
        V = np.zeros((self.rows.m + 1, len(labels)))
        V[-1] = self.loss.constant(share)
        return Task(self.rows, signs, self.loss, self.C, metric, allowed), V

    def _limits(self, task: Task, V: Array) -> Array:
        """Bounds of the gradients in w and in b."""
        flat = task.at(V, np.broadcast_to(V[-1], task.signs.shape))
        in_w = np.linalg.norm(task.gradient(flat)[:-1], axis=0)
        in_b = self.C * np.abs(flat.slope).sum(axis=0)
        return self.tol * np.vstack([in_w, in_b])
