"""Entries of the arena: linear models, machines, neighbors, networks, ensembles, ours.

How they are tuned: :mod:`homi.benchmark.rival`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from homi.arrays import dense
from homi.base.classifier import strictly_inside
from homi.benchmark.measures import HeldOut
from homi.benchmark.rival import LabeledRows, Rival, scaler, scalings
from homi.estimators import (
    HOMI,
    HOMICV,
    EnsembleOfChains,
    LabelPowerset,
    MLkNN,
    MultiLabelClassifier,
)
from homi.typing import Array, Fields, Mask, Matrix, MatrixLike, RandomState


class _Pipeline(Rival):
    """A scaler, and an estimator of scikit-learn for all labels."""

    @abstractmethod
    def _estimator(self, setting: Fields, rows: LabeledRows) -> BaseEstimator:
        """Return the steps after the scaling."""

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        first = scaler(setting.get("scale", "standard"), rows.X)
        pipeline = make_pipeline(first, self._estimator(setting, rows))
        return pipeline.fit(rows.X, rows.Y.astype(int))

    def _respond(self, model: Any, X: Matrix) -> Array:
        return np.asarray(model.decision_function(X)).reshape(X.shape[0], -1)


def _grid(rows: LabeledRows, name: str, **values: tuple[float, ...]) -> list[Fields]:
    """Return settings of one parameter for each way of scaling."""
    return [{"scale": s, name: v} for s in scalings(rows.X) for v in values[s]]


def _kernel_grid(
    rows: LabeledRows, scales: Sequence[str], widths: Sequence[float]
) -> list[Fields]:
    """Return widths of a Gaussian kernel, in squared lengths of scaled rows."""
    n, m = rows.X.shape
    squares = {"standard": float(m)}
    if "none" in scales:
        squares["none"] = float(sparse.linalg.norm(rows.X)) ** 2 / n
    return [{"scale": s, "gamma": w / squares[s]} for s in scales for w in widths]


class LogisticRival(_Pipeline):
    """One-vs-rest logistic regression: C and the scaling are tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return _grid(
            rows,
            "C",
            standard=(0.001, 0.01, 0.1),
            maxabs=(0.1, 1.0, 10.0),
            none=(0.1, 1.0, 10.0, 100.0),
        )

    def _estimator(self, setting: Fields, rows: LabeledRows) -> BaseEstimator:
        return OneVsRestClassifier(LogisticRegression(C=setting["C"], max_iter=300))

    def _respond(self, model: Any, X: Matrix) -> Array:
        return np.asarray(model.predict_proba(X)).reshape(X.shape[0], -1) - 0.5


class RidgeRival(_Pipeline):
    """Ridge regression with the penalty of least leave-one-out error, of 15."""

    _margins = True

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"scale": name} for name in scalings(rows.X)]

    def _estimator(self, setting: Fields, rows: LabeledRows) -> BaseEstimator:
        return RidgeClassifierCV(np.logspace(-3, 4, 15))


class NystroemRival(_Pipeline):
    """Ridge regression on 1,000 Nyström features: kernel width and penalty tuned."""

    _margins = True

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        scales = [s for s in scalings(rows.X) if s != "maxabs"]
        return _kernel_grid(rows, scales, (0.1, 0.3, 1.0, 3.0))

    def _estimator(self, setting: Fields, rows: LabeledRows) -> BaseEstimator:
        kernel = Nystroem(
            gamma=setting["gamma"],
            n_components=min(1000, len(rows.Y)),
            random_state=self._seed(),
        )
        return make_pipeline(kernel, RidgeClassifierCV(np.logspace(-3, 4, 15)))


class LinearSVMRival(_Pipeline):
    """One-vs-rest linear support vector machines: C and the scaling are tuned."""

    _margins = True

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return _grid(
            rows,
            "C",
            standard=(0.0001, 0.001, 0.01),
            maxabs=(0.01, 0.1, 1.0),
            none=(0.01, 0.1, 1.0, 10.0),
        )

    def _estimator(self, setting: Fields, rows: LabeledRows) -> BaseEstimator:
        machine = LinearSVC(C=setting["C"], dual="auto", random_state=self._seed())
        return OneVsRestClassifier(machine)


class RBFSVMRival(_Pipeline):
    """One-vs-rest support vector machines with a Gaussian kernel; C, width tuned."""

    _margins = True

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        scale = "none" if sparse.issparse(rows.X) else "standard"
        kernels = _kernel_grid(rows, (scale,), (0.3, 1.0, 3.0))
        return [{"C": C, **kernel} for C in (1.0, 10.0) for kernel in kernels]

    def _estimator(self, setting: Fields, rows: LabeledRows) -> BaseEstimator:
        machine = SVC(C=setting["C"], gamma=setting["gamma"], cache_size=500)
        return OneVsRestClassifier(machine)


class _Own(Rival):
    """A classifier of homi, on scaled features."""

    @abstractmethod
    def _estimator(self, setting: Fields) -> MultiLabelClassifier:
        """Return the classifier."""

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        first = scaler(setting.get("scale", "standard"), rows.X)
        pipeline = make_pipeline(first, self._estimator(setting))
        return pipeline.fit(rows.X, rows.Y.astype(int))

    def _respond(self, model: Any, X: Matrix) -> Array:
        return np.asarray(model.predict_proba(X)).reshape(X.shape[0], -1) - 0.5


class MLkNNRival(_Own):
    """ML-kNN: the number of neighbors and the scaling are tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"scale": s, "k": k} for s in scalings(rows.X) for k in (5, 10, 20)]

    def _estimator(self, setting: Fields) -> MultiLabelClassifier:
        return MLkNN(n_neighbors=setting["k"])


class ChainsRival(_Own):
    """Ten classifier chains of logistic regressions: C and the scaling are tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        small, large = (0.001, 0.01, 0.1), (1.0, 10.0, 100.0)
        return _grid(rows, "C", standard=small, maxabs=large, none=large)

    def _estimator(self, setting: Fields) -> MultiLabelClassifier:
        return EnsembleOfChains(
            n_chains=10,
            C=setting["C"],
            loss="log",
            standardize=False,
            random_state=self._seed(),
        )


class TreeChainsRival(_Own):
    """Five classifier chains of random forests of 30 trees: leaf size tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"min_samples_leaf": leaf} for leaf in (1, 5)]

    def _estimator(self, setting: Fields) -> MultiLabelClassifier:
        return EnsembleOfChains(
            RandomForestClassifier(30, **setting),
            n_chains=5,
            standardize=False,
            random_state=self._seed(),
        )


class PowersetRival(_Own):
    """A random forest of 300 trees whose classes are label sets; pruning is tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"min_rows": least} for least in (1, 3)]

    def _estimator(self, setting: Fields) -> MultiLabelClassifier:
        forest = RandomForestClassifier(300)
        return LabelPowerset(
            forest, **setting, standardize=False, random_state=self._seed()
        )


class PaperRival(_Own):
    """HOMI with the paper's parameters: nothing is tuned."""

    def _estimator(self, setting: Fields) -> MultiLabelClassifier:
        return HOMI()

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        return self._estimator(setting).fit(rows.X, rows.Y.astype(int))

    def _respond(self, model: Any, X: Matrix) -> Array:
        return np.asarray(model.decision_function(X)).reshape(X.shape[0], -1)


class NetworkRival(Rival):
    """Three networks of 256 hidden units, stopped by held-out log loss.

    Adam, batches of 64 rows, L2 penalty tuned. A network is fitted to all rows for
    the number of epochs that was best on held-out rows.
    """

    _NETWORKS, _EPOCHS, _PATIENCE = 3, 100, 8

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [
            {"scale": s, "alpha": a} for s in scalings(rows.X) for a in (1e-4, 1e-2)
        ]

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        first = scaler(setting["scale"], rows.X).fit(rows.X)
        X = first.transform(rows.X)
        new = None if held is None else LabeledRows(first.transform(held.X), held.Y)
        # One network ranks settings as well.
        networks = [
            self._train(LabeledRows(X, rows.Y), setting, new, self._seed() + k)
            for k in range(self._NETWORKS if held is None else 1)
        ]
        return first, networks

    def _train(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None, seed: int
    ) -> tuple[MLPClassifier, int]:
        network = MLPClassifier(
            (256,),
            alpha=setting["alpha"],
            batch_size=min(64, len(rows.Y)),
            random_state=seed % 2**31,
        )
        Y, classes = rows.Y.astype(int), np.arange(rows.Y.shape[1])
        best, losses = None, []
        for _ in range(setting.get("epochs", self._EPOCHS)):
            network.partial_fit(rows.X, Y, classes=classes)
            if held is None:
                continue
            losses.append(_log_loss(held.Y, network.predict_proba(held.X)))
            if losses[-1] == min(losses):
                best = [w.copy() for w in (*network.coefs_, *network.intercepts_)]
            if len(losses) - int(np.argmin(losses)) > self._PATIENCE:
                break
        if best is not None:
            layers = len(network.coefs_)
            network.coefs_, network.intercepts_ = best[:layers], best[layers:]
        return network, int(np.argmin(losses)) + 1 if losses else 0

    def _settled(self, setting: Fields, models: list[Any]) -> Fields:
        epochs = [epochs for _, networks in models for _, epochs in networks]
        return setting | {"epochs": max(1, round(float(np.mean(epochs))))}

    def _respond(self, model: Any, X: Matrix) -> Array:
        first, networks = model
        rows = first.transform(X)
        P = np.mean([net.predict_proba(rows) for net, _ in networks], axis=0)
        return P.reshape(X.shape[0], -1) - 0.5


def _log_loss(Y: Mask, P: Array) -> float:
    P = np.clip(P.reshape(Y.shape), 1e-7, 1 - 1e-7)
    return -float(np.mean(np.where(Y, np.log(P), np.log1p(-P))))


class HOMICVRival(Rival):
    """``HOMICV`` with its defaults; its own held-out scores give the thresholds.

    Parameters
    ----------
    trees : bool, default=True
        Whether trees may be a part.
    random_state : int or None, default=None
        Seed of the search.
    """

    def __init__(self, *, trees: bool = True, random_state: RandomState = None) -> None:
        self.trees = trees
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Fit HOMICV, and keep its held-out scores."""
        given, target = self._check_fit_input(X, y)
        rows = LabeledRows(given, dense(target.indicator) > 0)
        self.setting_ = {}
        self.model_, scores = self._fit_model(rows, self.setting_, None)
        self.held_out_ = HeldOut(np.arange(len(scores)), scores)
        return self

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        """Return the model and its held-out scores."""
        model = HOMICV(
            trees="auto" if self.trees else False, random_state=self.random_state
        )
        return model, model.fit_held_out(rows.X, rows.Y.astype(int))

    def _respond(self, model: Any, X: Matrix) -> Array:
        return np.asarray(model.decision_function(X)).reshape(X.shape[0], -1)

    def _scores(self, X: Matrix) -> Array:
        return self._respond(self.model_, X)

    def _probabilities(self, scores: Array) -> Array:
        return strictly_inside(expit(scores))
