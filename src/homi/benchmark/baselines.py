"""Standard classifiers of scikit-learn on scaled features, for comparison."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from homi.arrays import dense
from homi.estimators import MultiLabelClassifier
from homi.typing import Array, Matrix, MatrixLike, RandomState

#: Inverse penalties of a logistic regression.
_CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
#: Penalties for ``RidgeClassifierCV``.
_ALPHAS = np.logspace(-3, 4, 15)


class Baseline(MultiLabelClassifier):
    """A pipeline of scikit-learn with the interface of the compared methods."""

    def __init__(self, random_state: RandomState = None) -> None:
        self.random_state = random_state

    @abstractmethod
    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        """Return the steps after the scaling of the features."""

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Fit the pipeline."""
        rows, target = self._check_fit_input(X, y)
        scaler = StandardScaler(with_mean=not sparse.issparse(rows))
        self.pipeline_ = make_pipeline(scaler, *self._steps(rows.shape[0]))
        # Not every classifier accepts sparse labels.
        self.pipeline_.fit(rows, dense(target.indicator))
        return self

    def _scores(self, X: Matrix) -> Array:
        scores = self.pipeline_.decision_function(X)
        return np.asarray(scores).reshape(X.shape[0], -1)


class Ridge(Baseline):
    """``RidgeClassifierCV``: the penalty chosen by leave-one-out errors."""

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        return [RidgeClassifierCV()]


class NystroemRidge(Baseline):
    """Up to 500 Nyström features of a Gaussian kernel, then ``RidgeClassifierCV``."""

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        components = min(500, n_samples)
        kernel = Nystroem(n_components=components, random_state=self.random_state)
        return [kernel, RidgeClassifierCV()]


class TunedRidge(Ridge):
    """``RidgeClassifierCV`` with a wider range of penalties."""

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        return [RidgeClassifierCV(_ALPHAS)]


class TunedNystroemRidge(Baseline):
    """Up to 1,000 Nyström features, then a wider range of penalties."""

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        components = min(1000, n_samples)
        kernel = Nystroem(n_components=components, random_state=self.random_state)
        return [kernel, RidgeClassifierCV(_ALPHAS)]


class RandomForest(Baseline):
    """A random forest of 100 trees for all labels together.

    For labels of 0 and 1 squared error and Gini impurity choose the same splits, so
    that a regression forest is the classification forest with half its memory: two
    shares in every leaf are one too many with a thousand labels.
    """

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        forest = RandomForestRegressor(
            n_estimators=100, max_features="sqrt", random_state=self.random_state
        )
        return [forest]

    def _scores(self, X: Matrix) -> Array:
        shares = np.asarray(self.pipeline_.predict(X)).reshape(X.shape[0], -1)
        return shares - 0.5


class Logistic(Baseline):
    """One-vs-rest logistic regression."""

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        return [self._classifier()]

    def _classifier(self, C: float = 1.0) -> OneVsRestClassifier:
        return OneVsRestClassifier(LogisticRegression(C=C, max_iter=1000))

    def _scores(self, X: Matrix) -> Array:
        probabilities = np.asarray(self.pipeline_.predict_proba(X))
        return probabilities.reshape(X.shape[0], -1) - 0.5


class TunedLogistic(Logistic):
    """One C for all labels, by average precision on a quarter of the training rows.

    Many labels are too rare for folds of their own.
    """

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Choose C, then fit on all rows."""
        given, target = self._check_fit_input(X, y)
        Y = dense(target.indicator)
        learn, held_out = train_test_split(
            np.arange(len(Y)), test_size=0.25, random_state=self.random_state
        )
        scaler = StandardScaler(with_mean=not sparse.issparse(given)).fit(given[learn])
        rows, new = scaler.transform(given[learn]), scaler.transform(given[held_out])
        values = []
        for C in _CS:
            P = self._classifier(C).fit(rows, Y[learn]).predict_proba(new)
            values.append(average_precision_score(Y[held_out].ravel(), P.ravel()))
        self.C_ = _CS[int(np.argmax(values))]
        return super().fit(given, y)

    def _steps(self, n_samples: int) -> list[BaseEstimator]:
        return [self._classifier(self.C_)]
