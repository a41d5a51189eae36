"""ML-MLM, an entry of the arena: distances of rows predict distances of label sets."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.linalg
from sklearn.metrics import pairwise_distances

from homi.arrays import dense
from homi.benchmark.measures import HeldOut
from homi.benchmark.rival import LabeledRows, Rival, scaler, scalings
from homi.metrics import ranking_loss
from homi.thresholds import fit_maps
from homi.thresholds.calibrate import SHRINKAGE
from homi.typing import Array, Fields, Matrix, MatrixLike

#: Exponents of the inverse distances.
_POWERS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
#: Added to the diagonal of the distances, in units of their mean: rows may repeat.
_RIDGE = 1e-6
#: Smallest predicted distance.
_LEAST = 1e-3


class _Model(NamedTuple):
    """Scaler, reference rows and labels, coefficients of the distances, exponent."""

    scaler: Any
    X: Matrix
    Y: Array
    B: Array
    power: float


class DistancesRival(Rival):
    """ML-MLM: exponent and scaling by the leave-one-out ranking loss.

    Distances of a row to all training rows predict, by linear regression, the
    distances of its label vector to theirs. Label vectors are then averaged with the
    inverse predicted distances as weights, to some power. Leave-one-out distances have
    a closed form, ``D_ij - B_ij / [K⁻¹]_ii`` with ``B = K⁻¹ D``.

    J. Hämäläinen et al. Minimal Learning Machine for Multi-Label Learning. arXiv
    2305.05518, 2023.
    """

    _margins = True

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Choose by leave-one-out, from one factorization for each scaling."""
        given, target = self._check_fit_input(X, y)
        rows = LabeledRows(given, dense(target.indicator) > 0)
        best: tuple[float, _Model, Array] | None = None
        for name in scalings(rows.X):
            found = self._fit_model(rows, {"scale": name}, None)
            if best is None or found[0] < best[0]:
                best, self.setting_ = found, {"scale": name, "power": found[1].power}
        assert best is not None
        _, self.model_, scores = best
        self._maps = fit_maps(scores, rows.Y, "sigmoid", SHRINKAGE["sigmoid"])
        self.held_out_ = HeldOut(np.arange(len(scores)), self._mapped(scores))
        return self

    def _fit_model(
        self, rows: LabeledRows, setting: Fields, held: LabeledRows | None
    ) -> Any:
        """Return the leave-one-out loss, the model and the leave-one-out scores."""
        first = scaler(setting["scale"], rows.X).fit(rows.X)
        X, Y = first.transform(rows.X), rows.Y.astype(np.float64)
        K = pairwise_distances(X)
        K[np.diag_indices_from(K)] = -_RIDGE * K.mean()
        inverse = scipy.linalg.inv(K, overwrite_a=True, check_finite=False)
        del K
        D = pairwise_distances(Y)
        B = inverse @ D
        D -= B / np.diag(inverse)[:, None]
        del inverse
        # A row is not its own neighbor.
        np.fill_diagonal(D, np.inf)
        scores = {power: _weighted(D, Y, power) for power in _POWERS}
        losses = {power: ranking_loss(rows.Y, scores[power]) for power in _POWERS}
        power = min(losses, key=lambda p: losses[p])
        model = _Model(first, X, Y, B, power)
        return losses[power], model, scores[power]

    def _respond(self, model: Any, X: Matrix) -> Array:
        D = pairwise_distances(model.scaler.transform(X), model.X) @ model.B
        return _weighted(D, model.Y, model.power)


def _weighted(D: Array, Y: Array, power: float) -> Array:
    """Return the means of label vectors with weights ``d ** -power``, less one half."""
    D = np.maximum(D, _LEAST)
    # Relative to the nearest one: a power of a small distance would overflow.
    weights = (D.min(axis=1, keepdims=True) / D) ** power
    return weights @ Y / weights.sum(axis=1, keepdims=True) - 0.5
