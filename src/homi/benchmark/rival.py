"""Base of the entries of the arena: each is tuned alike, inside the training fold.

Settings are compared by micro-averaged average precision on
held-out rows: by three folds up to 2,000 rows, on one quarter of the rows beyond, and
on a sample of 4,000 rows where there are more. The best setting gives held-out scores,
on which thresholds are chosen and margins become probabilities, and is then fitted to
all rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from homi.arrays import dense
from homi.benchmark.measures import HeldOut
from homi.estimators import MultiLabelClassifier
from homi.model.scoring import average_precision
from homi.thresholds import CalibrationMaps, fit_maps
from homi.thresholds.calibrate import SHRINKAGE
from homi.typing import Array, Fields, Indices, Mask, Matrix, MatrixLike, RandomState

#: Rows up to which all of three folds are held out in turn.
_FEW = 2000
#: Rows on which settings are compared.
_COMPARED = 4000

#: Ways to scale dense and sparse rows. Rows of words, such as TF-IDF, stay as they are.
_DENSE, _SPARSE = ("standard", "maxabs"), ("standard", "none")


class LabeledRows(NamedTuple):
    """Features and labels."""

    X: Matrix
    Y: Mask

    def take(self, rows: Indices) -> LabeledRows:
        """Return some of the rows."""
        return LabeledRows(self.X[rows], self.Y[rows])


class Answers(NamedTuple):
    """Output of a method for rows: scores, predicted labels, probabilities."""

    scores: Array
    labels: Mask
    probabilities: Array


class _Tried(NamedTuple):
    """Held-out value and scores of a setting, and the setting for all rows."""

    value: float
    held_out: HeldOut
    setting: Fields
    settled: Fields


def _value_of(tried: _Tried) -> float:
    return tried.value


class Rival(MultiLabelClassifier):
    """Compare settings on held-out rows, and fit the best one to all rows.

    Attributes
    ----------
    setting_ : dict
        The best setting.
    held_out_ : HeldOut
        Training rows, and their scores by models that were not fitted to them.
    model_ : object
        The model fitted to all rows.
    """

    #: Whether scores are margins, which sigmoids turn into probabilities.
    _margins = False

    setting_: Fields
    held_out_: HeldOut
    model_: Any

    def __init__(self, random_state: RandomState = None) -> None:
        self.random_state = random_state

    def _settings(self, rows: LabeledRows) -> list[Fields]:
        """Return the settings to compare."""
        return [{}]

    @abstractmethod
    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        """Fit a model; one that stops early watches the held-out rows if given."""

    @abstractmethod
    def _respond(self, model: Any, X: Matrix) -> Array:
        """Return margins, or probabilities less one half."""

    def _settled(self, setting: Fields, models: list[Any]) -> Fields:
        """Return the setting for all rows, given the models that held rows out."""
        return setting

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Compare the settings, then fit the best one to all rows."""
        given, target = self._check_fit_input(X, y)
        rows = LabeledRows(given, dense(target.indicator) > 0)
        best = self._best(rows)
        held_out, self.setting_ = best.held_out, best.settled
        self._maps: CalibrationMaps | None = None
        if self._margins:
            known = rows.Y[held_out.rows]
            self._maps = fit_maps(
                held_out.scores, known, "sigmoid", SHRINKAGE["sigmoid"]
            )
        self.held_out_ = held_out._replace(scores=self._mapped(held_out.scores))
        self.model_ = self._fit_model(rows, self.setting_, None)
        return self

    def _best(self, rows: LabeledRows) -> _Tried:
        """Return the best setting, tried on all rows."""
        settings, n = self._settings(rows), len(rows.Y)
        if len(settings) == 1:
            return self._tried(rows, settings[0])
        if n <= _COMPARED:
            return max((self._tried(rows, s) for s in settings), key=_value_of)
        rng = np.random.default_rng(self._seed())
        sample = rows.take(np.sort(rng.choice(n, _COMPARED, replace=False)))
        best = max((self._tried(sample, s) for s in settings), key=_value_of)
        return self._tried(rows, best.setting)

    def _tried(self, rows: LabeledRows, setting: Fields) -> _Tried:
        held, scores, models = [], [], []
        for learn, rest in _parts(len(rows.Y), self._seed()):
            new = rows.take(rest)
            models.append(self._fit_model(rows.take(learn), setting, new))
            held.append(rest)
            scores.append(self._respond(models[-1], new.X))
        found = HeldOut(np.concatenate(held), np.vstack(scores))
        value = average_precision(rows.Y[found.rows], found.scores)
        return _Tried(value, found, setting, self._settled(setting, models))

    def _seed(self) -> int:
        seed = self.random_state
        return seed % 2**31 if isinstance(seed, int) else 0

    def _mapped(self, scores: Array) -> Array:
        return scores if self._maps is None else self._maps(scores) - 0.5

    def _scores(self, X: Matrix) -> Array:
        return self._mapped(self._respond(self.model_, X))

    def answers(self, X: MatrixLike) -> Answers:
        """Return scores, labels and probabilities of rows, from one pass."""
        scores = self._checked_scores(X)
        return Answers(scores, scores > 0, self._probabilities(scores))

    def _probabilities(self, scores: Array) -> Array:
        return np.clip(scores + 0.5, 0.0, 1.0)


def _parts(n: int, seed: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield learned and held-out rows: of three folds, or one quarter of many rows."""
    folds = KFold(3 if n <= _FEW else 4, shuffle=True, random_state=seed)
    for parts in folds.split(np.arange(n)):
        yield parts
        if n > _FEW:
            return


def scalings(X: Matrix) -> tuple[str, ...]:
    """Return the names of the ways to scale these rows, for settings."""
    return _SPARSE if sparse.issparse(X) else _DENSE


def scaler(name: str, X: Matrix) -> BaseEstimator:
    """Return the scaler of a setting; sparse rows are not centered."""
    if name == "standard":
        return StandardScaler(with_mean=not sparse.issparse(X))
    return MaxAbsScaler() if name == "maxabs" else FunctionTransformer()
