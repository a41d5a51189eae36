"""Entries of the arena that grow trees: forests of scikit-learn, and boosted trees.

LightGBM, XGBoost and CatBoost come with the extra ``arena`` and are imported by the
fits. The number of boosting rounds is chosen by early stopping on held-out rows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from homi.benchmark.rival import LabeledRows, Rival
from homi.extras import optional
from homi.typing import Array, Fields, Matrix

#: Rows times labels above which the leaves of forests must be larger: a leaf holds a
#: share for every label.
_MANY = 500_000
#: Features up to which half of them are tried at every split, too.
_FEW_FEATURES = 500
#: Most rounds of boosting, and rounds without a gain after which it stops.
_ROUNDS, _PATIENCE = 500, 25


class ForestRival(Rival):
    """A random forest of 300 trees for all labels: leaf size and features tuned.

    For labels of 0 and 1 squared error and Gini impurity choose the same splits, and a
    regression forest takes half the memory.
    """

    _forest: type[BaseEstimator] = RandomForestRegressor

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        leaves = (1, 3) if rows.Y.size <= _MANY else (5, 10)
        grid = [(leaf, "sqrt") for leaf in leaves] + [(leaves[0], 0.2)]
        grid += [(leaves[0], 0.5)] if rows.X.shape[1] <= _FEW_FEATURES else []
        return [{"min_samples_leaf": leaf, "max_features": m} for leaf, m in grid]

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        # A third of the trees ranks settings as well.
        n_trees = 300 if held is None else 100
        forest = self._forest(n_trees, **setting, random_state=self._seed())
        return forest.fit(rows.X, rows.Y.astype(np.float64))

    def _respond(self, model: Any, X: Matrix) -> Array:
        return np.asarray(model.predict(X)).reshape(X.shape[0], -1) - 0.5


class ExtraTreesRival(ForestRival):
    """Extremely randomized trees, 300 for all labels: leaf size, features tuned."""

    _forest = ExtraTreesRegressor


class _Boosted(Rival):
    """Boosted trees, stopped early on held-out rows."""

    @abstractmethod
    def _boost(
        self, rows: LabeledRows, setting: Fields, rounds: Any, held: LabeledRows | None
    ) -> Any:
        """Fit trees for a number of rounds, or until held-out rows gain nothing."""

    @abstractmethod
    def _rounds(self, model: Any) -> Any:
        """Return the number of rounds of a model, or of each of its labels."""

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        trees = {key: setting[key] for key in setting if key != "rounds"}
        return self._boost(rows, trees, setting.get("rounds", _ROUNDS), held)

    def _settled(self, setting: Fields, models: list[Any]) -> Fields:
        found = np.mean([self._rounds(model) for model in models], axis=0)
        rounds = np.maximum(1, np.round(found)).astype(int)
        return setting | {"rounds": rounds.tolist()}


class LightGBMRival(_Boosted):
    """LightGBM, one model for each label: the number of leaves is tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"num_leaves": leaves} for leaves in (7, 31)]

    def _boost(
        self, rows: LabeledRows, setting: Fields, rounds: Any, held: LabeledRows | None
    ) -> Any:
        with optional("LightGBM in the arena"):
            import lightgbm
        X = _csr(rows.X)
        each = np.broadcast_to(rounds, rows.Y.shape[1])
        options = {
            **setting,
            **{"objective": "binary", "learning_rate": 0.1, "min_data_in_leaf": 5},
            **{"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8},
            **{"num_threads": 1, "verbosity": -1, "seed": self._seed()},
            **{"deterministic": True, "force_col_wise": True},
        }
        binned = lightgbm.Dataset(X, params=options, free_raw_data=False).construct()
        models: list[Any] = []
        for j, y in enumerate(rows.Y.T):
            if y.all() or not y.any():
                models.append(float(y.all()))
                continue
            data = binned.set_label(y.astype(float))
            watched: Fields = {}
            if held is not None and held.Y[:, j].any():
                new = lightgbm.Dataset(
                    _csr(held.X), held.Y[:, j].astype(float), reference=data
                )
                stop = lightgbm.early_stopping(_PATIENCE, verbose=False)
                watched = {"valid_sets": [new], "callbacks": [stop]}
            # A label that no held-out row has cannot be watched.
            n = int(each[j]) if held is None or watched else 50
            models.append(lightgbm.train(options, data, n, **watched))
        return models

    def _rounds(self, model: Any) -> Any:
        return [
            1 if isinstance(m, float) else m.best_iteration or m.current_iteration()
            for m in model
        ]

    def _respond(self, model: Any, X: Matrix) -> Array:
        rows = _csr(X)
        columns = [
            np.full(X.shape[0], m) if isinstance(m, float) else m.predict(rows)
            for m in model
        ]
        return np.column_stack(columns) - 0.5


class XGBoostRival(_Boosted):
    """XGBoost, a tree for each label in every round: the depth is tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"max_depth": depth} for depth in (3, 6)]

    def _boost(
        self, rows: LabeledRows, setting: Fields, rounds: Any, held: LabeledRows | None
    ) -> Any:
        with optional("XGBoost in the arena"):
            import xgboost
        options = {
            **setting,
            **{"objective": "binary:logistic", "eval_metric": "logloss"},
            **{"eta": 0.1, "subsample": 0.8, "colsample_bytree": 0.8},
            **{"nthread": 1, "seed": self._seed(), "tree_method": "hist"},
        }
        data = xgboost.DMatrix(_csr(rows.X), rows.Y.astype(float))
        watched: Fields = {}
        if held is not None:
            new = xgboost.DMatrix(_csr(held.X), held.Y.astype(float))
            watched = {
                **{"evals": [(new, "held_out")], "verbose_eval": False},
                "early_stopping_rounds": _PATIENCE,
            }
        return xgboost.train(options, data, int(rounds), **watched)

    def _rounds(self, model: Any) -> Any:
        return model.best_iteration + 1

    def _respond(self, model: Any, X: Matrix) -> Array:
        import xgboost

        last = model.attr("best_iteration")
        end = 0 if last is None else int(last) + 1
        P = model.predict(xgboost.DMatrix(_csr(X)), iteration_range=(0, end))
        return P.reshape(X.shape[0], -1).astype(np.float64) - 0.5


class CatBoostRival(_Boosted):
    """CatBoost with its multi-label loss: the depth is tuned."""

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        return [{"depth": depth} for depth in (4, 6)]

    def _boost(
        self, rows: LabeledRows, setting: Fields, rounds: Any, held: LabeledRows | None
    ) -> Any:
        with optional("CatBoost in the arena"):
            from catboost import CatBoostClassifier
        model = CatBoostClassifier(
            **setting,
            **{"loss_function": "MultiLogloss", "learning_rate": 0.1},
            **{"iterations": int(rounds), "thread_count": 1, "verbose": False},
            **{"random_seed": self._seed(), "allow_writing_files": False},
        )
        # It refuses a label that all rows have, or none.
        means = rows.Y.mean(axis=0)
        varied = (means > 0) & (means < 1)
        watched: Fields = {}
        if held is not None:
            watched = {
                "eval_set": (_csr(held.X), held.Y[:, varied].astype(int)),
                "early_stopping_rounds": _PATIENCE,
            }
        model.fit(_csr(rows.X), rows.Y[:, varied].astype(int), **watched)
        return model, varied, means

    def _rounds(self, model: Any) -> Any:
        return model[0].tree_count_

    def _respond(self, model: Any, X: Matrix) -> Array:
        fitted, varied, means = model
        P = np.tile(means, (X.shape[0], 1))
        P[:, varied] = np.asarray(fitted.predict_proba(_csr(X)))
        return P - 0.5


def _csr(X: Matrix) -> Matrix:
    """Return sparse rows as the matrices that these packages know."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X
