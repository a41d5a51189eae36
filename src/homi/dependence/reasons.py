"""Why a given label is suspicious, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse

from homi.dependence.suspicion import Suspicion
from homi.joint import JointModel
from homi.joint.gaussian import scaled_residuals
from homi.typing import Array

#: Labels, and features, that a reason names.
_MOST = 2


class Reasons(NamedTuple):
    """A fitted model and the rows it judges."""

    model: Any
    joint: JointModel
    X: Any
    Y: Array
    log_odds: Array
    names: NDArray[Any]

    def __call__(
        self, cells: NDArray[np.intp], found: Suspicion, n_explained: int
    ) -> list[str]:
        """Return a sentence for each cell; the first ones name features, too."""
        precision = scipy.linalg.inv(np.asarray(self.joint.covariance))
        center = _center(self.model, self.X) if n_explained > 0 else None
        texts = []
        for place, (i, j) in enumerate(cells):
            text = _shares(found, i, j) + self._swap(found.partner[i, j], i, j)
            against = [*self._labels(precision, i, j)] if _differs(found, i, j) else []
            if place < n_explained:
                against += self._features(center, i, j)
            texts.append(text + (f"; {', '.join(against)}" if against else ""))
        return texts

    def _swap(self, partner: int, i: int, j: int) -> str:
        if partner < 0:
            return ""
        place = "given instead of" if self.Y[i, j] else "missing, instead there is"
        return f", {place} {self.names[partner]}"

    def _labels(self, precision: Array, i: int, j: int) -> Iterator[str]:
        """Yield the labels of the row that speak most against label j as given."""
        E = scaled_residuals(self.log_odds[i : i + 1], self.Y[i : i + 1])[0]
        pull = -precision[:, j] / precision[j, j] * E
        pull[j] = 0.0
        against = pull * (1.0 - 2.0 * self.Y[i, j])
        for k in np.argsort(-against, kind="stable")[:_MOST]:
            if against[k] > 0.1 * np.abs(pull).max():
                yield (
                    f"label {self.names[k]}"
                    if self.Y[i, k]
                    else (f"no label {self.names[k]}")
                )

    def _features(self, center: Any, i: int, j: int) -> list[str]:
        """Return the features, or neighbors, that speak most against label j."""
        if not hasattr(self.model, "why"):
            return []
        try:
            name = self.model.label_names_[j]
            found = self.model.why(_row(self.X, i), [name], X=center, n_terms=50)
        except TypeError:  # scores that are not sums over features
            return []
        sign = 1.0 - 2.0 * self.Y[i, j]
        terms = [
            t
            for t in found.terms
            if t.value is not None
            and sign * t.contribution > 0
            and t.name != f"training row {i}"
        ]
        terms.sort(key=lambda t: -sign * t.contribution)
        return [
            f"{t.name} = {t.value:.3g}" if t.kind == "feature" else f"like {t.name}"
            for t in terms[:_MOST]
        ]


def _shares(found: Suspicion, i: int, j: int) -> str:
    text = f"{found.by_features[i, j]:.0%} by its features"
    if _differs(found, i, j):
        text += f", {found.probability[i, j]:.0%} with its other labels"
    return text


def _differs(found: Suspicion, i: int, j: int) -> bool:
    return bool(found.probability[i, j] != found.by_features[i, j])


def _center(model: Any, X: Any) -> Any:
    """Return the mean row, where contributions of features are relative to it."""
    core = getattr(model, "best_estimator_", model)
    if getattr(core, "kernel", None) is not None or not hasattr(X, "mean"):
        return None
    if hasattr(X, "columns"):
        return X.mean().to_frame().T if hasattr(X, "iloc") else None
    return np.asarray(X.mean(axis=0)).reshape(1, -1)


def _row(X: Any, i: int) -> Any:
    """Return row i of an array, a sparse matrix or a data frame, two-dimensional."""
    if hasattr(X, "iloc"):
        return X.iloc[[i]]
    return X.tocsr()[[i]] if sparse.issparse(X) else X[i : i + 1]
