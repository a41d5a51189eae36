"""What a user would pick instead: four classifiers of scikit-learn, features scaled."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from homi.estimators import MultiLabelClassifier


class Baseline(MultiLabelClassifier):
    """A pipeline of scikit-learn behind the same contract as every method here."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    @abstractmethod
    def _steps(self, n_samples: int) -> list[Any]:
        """What follows the scaling of the features."""

    def fit(self, X, y):
        """Learn from rows and their labels."""
        X, target = self._check_fit_input(X, y)
        scaler = StandardScaler(with_mean=not sparse.issparse(X))
        self.pipeline_ = make_pipeline(scaler, *self._steps(X.shape[0]))
        self.pipeline_.fit(X, target.indicator)
        return self

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = self.pipeline_.decision_function(X)
        return np.asarray(scores).reshape(X.shape[0], -1)


class Ridge(Baseline):
    """``RidgeClassifierCV``: the penalty chosen by leave-one-out errors."""

    def _steps(self, n_samples: int) -> list[Any]:
        return [RidgeClassifierCV()]


class NystroemRidge(Baseline):
    """Up to 500 Nyström features of a Gaussian kernel, then ``RidgeClassifierCV``."""

    def _steps(self, n_samples: int) -> list[Any]:
        components = min(500, n_samples)
        kernel = Nystroem(n_components=components, random_state=self.random_state)
        return [kernel, RidgeClassifierCV()]


class RandomForest(Baseline):
    """A random forest of 100 trees for all labels together.

    For labels of 0 and 1 squared error and Gini impurity choose the same splits, so
    that a regression forest is the classification forest with half its memory: two
    shares in every leaf are one too many with a thousand labels.
    """

    def _steps(self, n_samples: int) -> list[Any]:
        forest = RandomForestRegressor(
            n_estimators=100, max_features="sqrt", random_state=self.random_state
        )
        return [forest]

    def _scores(self, X: Any) -> NDArray[np.float64]:
        shares = np.asarray(self.pipeline_.predict(X)).reshape(X.shape[0], -1)
        return shares - 0.5


class Logistic(Baseline):
    """One-vs-rest logistic regression."""

    def _steps(self, n_samples: int) -> list[Any]:
        return [OneVsRestClassifier(LogisticRegression(max_iter=1000))]

    def _scores(self, X: Any) -> NDArray[np.float64]:
        probabilities = np.asarray(self.pipeline_.predict_proba(X))
        return probabilities.reshape(X.shape[0], -1) - 0.5
