"""Features of a sample of rows, small enough to try many of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from homi.arrays import dense
from homi.base.scaling import Scaler
from homi.linalg import Array
from homi.model.features import (
    FeatureSpace,
    RowSpace,
    linear_features,
)
from homi.model.fold_scores import FilledLabels
from homi.model.kernel_map import (
    RATES,
    Triangle,
    default_rate,
    distances,
    fall,
    independent,
)
from homi.model.missing_labels import fill_by_folds
from homi.moments import Moments
from homi.typing import Fields, Indices, Mask, Matrix

#: Most rows that candidates are compared on.
SEARCH_ROWS = 2_000
#: Landmarks of a kernel while candidates are compared.
SEARCH_LANDMARKS = 300
#: Up to this many features, rows are tried as they are; with more, by their products
#: with landmarks.
_FEW_FEATURES = 1_000


class FeatureChoice(NamedTuple):
    """Choice of a feature map: scaled or not, linear or a kernel of some width.

    ``widths`` has one factor of the default rate for each distance of the kernel.
    """

    standardize: bool
    kernel: str | None = None
    widths: tuple[float, ...] = ()

    def __str__(self) -> str:
        """Return a name for reports."""
        rows = "standardized rows" if self.standardize else "rows as they are"
        return f"{self.kernel or 'linear'} ({rows})"


class CandidateFeatures:
    """Features of a sample of rows for any choice.

    Distances between rows and landmarks are computed once for all widths.

    Parameters
    ----------
    X, Y : array or CSR matrix, and ndarray of 0 and 1
        All rows and their labels.
    weights : ndarray of shape (n_samples,) or None
        Weights of the rows.
    known : ndarray of bool of shape (n_samples, n_labels) or None
        False where a label is missing; None where all are known.
    n_components : int
        Most landmarks of a kernel.
    seed : int
        Seed of the sample and of the landmarks.

    Attributes
    ----------
    rows : ndarray of int
        The rows of the sample, ascending.
    X, Y, weights
        Those of the sample; missing labels are filled in.
    filled : FilledLabels or None
        If labels are missing: the labels of the sample and of its folds.
    """

    def __init__(
        self,
        X: Matrix,
        Y: Array,
        weights: Array | None,
        known: Mask | None = None,
        *,
        n_components: int,
        seed: int,
    ) -> None:
        rng = check_random_state(seed)
        self._all, self._all_weights = X, weights
        self.rows = _sample(X.shape[0], weights, rng)
        whole = len(self.rows) == X.shape[0]
        self.X, self.Y = (X, Y) if whole else (X[self.rows], Y[self.rows])
        self.weights = None if weights is None else weights[self.rows]
        count = min(SEARCH_LANDMARKS, n_components, len(self.rows))
        self._landmarks = rng.permutation(len(self.rows))[:count]
        self._scale: Scaler | None = None
        self._distances: dict[tuple[bool, str], tuple[Array, float]] = {}
        self.filled: FilledLabels | None = None
        if known is not None:
            linear = self(FeatureChoice(standardize=not sparse.issparse(X)))
            self.filled = fill_by_folds(linear, self.Y, known[self.rows], seed)
            self.Y = self.filled.labels

    @property
    def cells(self) -> Array | None:
        """Weights for objectives: of the rows, or of cells if labels are missing."""
        return self.weights if self.filled is None else self.filled.cells

    def __call__(self, choice: FeatureChoice) -> FeatureSpace:
        """Return the features of the sample."""
        if choice.kernel is not None:
            return self._features_of(self._kernel(choice), choice)
        n, m = self.X.shape
        if m <= _FEW_FEATURES or n <= _FEW_FEATURES:
            return linear_features(
                self.X,
                self.Y,
                standardize=choice.standardize,
                weights=self.weights,
                compact=n < m,
            )
        rows = self._scaled(choice.standardize)
        products = rows @ rows[self._landmarks].T
        values = np.asarray(dense(products), dtype=np.float64)
        return self._features_of(values, choice)

    def params(self, choice: FeatureChoice) -> Fields:
        """Return the parameters of HOMI that name a choice."""
        params: Fields = {"kernel": choice.kernel, "standardize": choice.standardize}
        if choice.kernel is not None:
            params["kernel_params"] = self._rates(choice)
        return params

    def unit(self, choice: FeatureChoice) -> float:
        """Return the unit of λ: the mean variance of features that are not scaled."""
        if choice.standardize or choice.kernel is not None:
            return 1.0
        return float(np.mean(self._scaler().scale ** 2)) or 1.0

    def is_binary(self) -> bool:
        """Return True if all values are 0 or 1: both distances are then the same."""
        values = self.X.data if sparse.issparse(self.X) else self.X
        return bool(((values == 0) | (values == 1)).all())

    def _features_of(self, values: Array, choice: FeatureChoice) -> FeatureSpace:
        triangle, kept = independent(values[self._landmarks])
        basis = Triangle(triangle)
        features = basis.features(values[:, kept])
        moments = Moments.from_rows(features, self.Y, self.weights)
        m, size = features.shape[1], self.X.shape[1]
        scaling = np.zeros(size), np.ones(size)
        if choice.standardize:
            scaling = self._scaler().mean, self._scaler().scale
        return FeatureSpace(
            features,
            moments,
            np.zeros(m),
            np.ones(m),
            weights=self.weights,
            row_space=RowSpace(*scaling, basis),
        )

    def _kernel(self, choice: FeatureChoice) -> Array:
        assert choice.kernel is not None
        parts = [
            fall(self._distance(choice.standardize, kind)[0], rate)
            for kind, rate in zip(
                RATES[choice.kernel], self._rates(choice).values(), strict=True
            )
        ]
        return parts[0] if len(parts) == 1 else sum(parts[1:], parts[0]) / len(parts)

    def _rates(self, choice: FeatureChoice) -> dict[str, float]:
        assert choice.kernel is not None
        return {
            name: width * self._distance(choice.standardize, kind)[1]
            for width, (kind, name) in zip(
                choice.widths, RATES[choice.kernel].items(), strict=True
            )
        }

    def _distance(self, standardize: bool, kind: str) -> tuple[Array, float]:
        """Return distances of the sample to the landmarks, and the default rate."""
        if (standardize, kind) not in self._distances:
            rows = self._scaled(standardize)
            D = distances(kind, rows, rows[self._landmarks])
            found = D, default_rate(D[self._landmarks])
            self._distances[standardize, kind] = found
        return self._distances[standardize, kind]

    def _scaled(self, standardize: bool) -> Matrix:
        return self._scaler()(self.X) if standardize else self.X

    def _scaler(self) -> Scaler:
        """Return the scaling of all rows, as in the final fit."""
        if self._scale is None:
            self._scale = Scaler.fit(self._all, self._all_weights)
        return self._scale


def _sample(n: int, weights: Array | None, rng: np.random.RandomState) -> Indices:
    """Draw rows that count; all of them where they are few."""
    counted = np.arange(n) if weights is None else np.flatnonzero(weights)
    if len(counted) <= SEARCH_ROWS:
        return counted
    return np.sort(counted[rng.permutation(len(counted))[:SEARCH_ROWS]])
