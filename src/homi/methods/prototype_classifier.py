"""Base class of LIFT and BILAS: linear models of distances to prototypes."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from homi.arrays import dense
from homi.base.classifier import MultiLabelClassifier, strictly_inside
from homi.base.targets import Target
from homi.base.weights import UnweightedMixin
from homi.linear import fit_margins
from homi.methods.prototypes import cells, distances, find_members, means
from homi.threads import one_thread
from homi.typing import Array, Indices, Matrix, RandomState

#: Distances and labels -> coefficients and intercepts.
Fit = Callable[[Array, Array], tuple[Array, Array]]

#: Distances in memory at a time: 64 MB.
_BLOCK_ENTRIES = 2**23
#: Number of prototypes whose distances are computed by one product.
_STACK = 512
_EPS = float(np.finfo(np.float64).eps)


class Task(NamedTuple):
    """Labels with the same prototypes, and the number of clusters in each cell."""

    labels: list[int]
    k: int


class Part(NamedTuple):
    """Fitted log-odds ``Σ_j coef_j ‖x - c_j‖ + intercept`` of the labels of a task.

    Prototype c_j is the mean of the rows that ``members[j]`` marks. ``coef`` has one
    column per label.
    """

    labels: list[int]
    members: sparse.csr_array
    coef: Array
    intercept: Array


class Prototypes(NamedTuple):
    """Fitted state: scaled rows, and one part per task.

    ``prior`` has the probabilities used for labels without a part.
    """

    scaler: StandardScaler
    shift: Array
    rows: Matrix
    prior: Array
    parts: list[Part]

    def sum(self, value: Callable[[Part], int]) -> Indices:
        """Sum a value over the parts that contain each label."""
        total = np.zeros(len(self.prior), dtype=np.intp)
        for part in self.parts:
            total[part.labels] += value(part)
        return total


class PrototypeClassifier(UnweightedMixin, MultiLabelClassifier):
    """Score a label by its mean probability over the tasks that contain it, minus ½.

    A subclass implements ``_tasks``, and has the parameters ``C``, ``standardize``,
    ``standardize_distances``, ``n_jobs`` and ``random_state``.
    """

    C: float
    standardize: bool
    standardize_distances: bool
    n_jobs: int | None
    random_state: RandomState
    prototypes_: Prototypes
    n_prototypes_: Indices

    @abstractmethod
    def _tasks(self, Y: sparse.csc_array) -> list[Task]:
        """Return the tasks for the labels Y; constant labels are in none."""

    _unweighted = "its prototypes are means of clusters whose rows count once"

    def _fit(self, X: Matrix, target: Target) -> None:
        Y = sparse.csc_array(target.indicator)
        scaler = StandardScaler(with_mean=False, with_std=self.standardize)
        X = scaler.fit_transform(X.astype(np.float64))
        # Distances do not depend on a shift, but lose precision beside a large mean.
        shift = np.zeros(X.shape[1]) if sparse.issparse(X) else X.mean(axis=0)
        rows = sparse.csr_array(X) if sparse.issparse(X) else X - shift
        # Laplace's rule of succession, for labels without a task.
        prior = (Y.sum(axis=0) + 1.0) / (Y.shape[0] + 2.0)
        parts = self._learn(rows, Y, self._tasks(Y))
        self.set_prototypes(Prototypes(scaler, shift, rows, prior, parts))

    def set_prototypes(self, found: Prototypes) -> None:
        """Set the fitted attributes."""
        self.prototypes_ = found
        self.n_prototypes_ = found.sum(lambda part: len(part.coef))

    def _learn(self, X: Matrix, Y: sparse.csc_array, tasks: list[Task]) -> list[Part]:
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(tasks))
        sizes = [task.k * 2 ** len(task.labels) for task in tasks]
        room = min(_STACK, _BLOCK_ENTRIES // max(X.shape))
        fit = partial(fit_log_odds, C=self.C, standardize=self.standardize_distances)
        jobs = (
            delayed(_learn_stack)(X, Y, tasks[s], seeds[s], fit)
            for s in _stacks(sizes, room)
        )
        with warnings.catch_warnings():
            # Expected: duplicate rows give fewer clusters.
            warnings.filterwarnings("ignore", "Number of distinct clusters")
            return [part for parts in _run(jobs, self.n_jobs) for part in parts]

    def _scores(self, X: Matrix) -> Array:
        scaler, shift, rows, prior, parts = self.prototypes_
        X = scaler.transform(X.astype(np.float64))
        if sparse.issparse(X):
            X = sparse.csr_array(X)
        else:
            X, shift = X - shift, np.zeros_like(shift)
        jobs = (
            delayed(_apply_stack)(X, rows, shift, parts[s])
            for s in _stacks([len(part.coef) for part in parts], _STACK)
        )
        total = np.zeros((X.shape[0], len(prior)))
        for found in _run(jobs, self.n_jobs):
            for labels, probabilities in found:
                total[:, labels] += probabilities
        count = self.prototypes_.sum(lambda _: 1)
        total /= np.maximum(count, 1)
        return np.where(count > 0, total, prior) - 0.5

    def _probabilities(self, scores: Array) -> Array:
        return strictly_inside(scores + 0.5)


def _stacks(sizes: list[int], room: int) -> Iterator[slice]:
    """Yield slices of consecutive sizes with sum at most ``room``, or of one size."""
    start, used = 0, 0
    for stop, size in enumerate(sizes):
        if used and used + size > room:
            yield slice(start, stop)
            start, used = stop, 0
        used += size
    if sizes:
        yield slice(start, len(sizes))


def _run(jobs: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield the results of jobs in order; each job runs in one thread."""
    with one_thread():
        yield from Parallel(n_jobs, require="sharedmem", return_as="generator")(jobs)


def _learn_stack(
    X: Matrix, Y: sparse.csc_array, tasks: list[Task], seeds: Indices, fit: Fit
) -> list[Part]:
    """Fit some tasks, with all distances computed by one product."""
    # The OpenMP limit applies per thread.
    with one_thread("openmp"):
        targets = [dense(Y[:, task.labels]) for task in tasks]
        members = [
            find_members(X, cells(target), task.k, seed)
            for task, target, seed in zip(tasks, targets, seeds, strict=True)
        ]
        D = distances(X, means(X, sparse.vstack(members)))
        fitted = map(fit, _split(D, members), targets)
        return [
            Part(task.labels, mine, *model)
            for task, mine, model in zip(tasks, members, fitted, strict=True)
        ]


def _split(D: Array, members: list[sparse.csr_array]) -> list[Array]:
    """Split the columns of D by part."""
    ends = np.cumsum([part.shape[0] for part in members])
    return np.split(D, ends[:-1], axis=1)


def fit_log_odds(
    D: Array, Y: Array, *, C: float, standardize: bool
) -> tuple[Array, Array]:
    """Fit logistic regressions of the labels Y on the distances D."""
    mean, scale = D.mean(axis=0), np.ones(D.shape[1])
    if standardize:
        spread = D.std(axis=0)
        np.copyto(scale, spread, where=spread > 10 * _EPS * mean)
    margins = fit_margins((D - mean) / scale, Y, C=C, loss="log")
    coef = margins.coef / scale[:, None]
    return coef, margins.intercept - mean @ coef


def _apply_stack(
    X: Matrix, rows: Matrix, shift: Array, parts: list[Part]
) -> list[tuple[list[int], Array]]:
    """Return the labels of each part, and their probabilities for the rows X."""
    members = [part.members for part in parts]
    centers = means(rows, sparse.vstack(members)) + shift
    found = [np.empty((X.shape[0], len(part.labels))) for part in parts]
    step = max(1, _BLOCK_ENTRIES // len(centers))
    for start in range(0, X.shape[0], step):
        block = slice(start, start + step)
        D = distances(X[block], centers)
        for part, out, mine in zip(parts, found, _split(D, members), strict=True):
            out[block] = expit(mine @ part.coef + part.intercept)
    return [(part.labels, out) for part, out in zip(parts, found, strict=True)]
