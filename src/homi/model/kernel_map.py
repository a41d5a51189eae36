"""Nyström features of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from homi.base.scaling import Scaler
from homi.typing import Fields, Matrix

#: Kernels by name, each with the parameters that it takes.
KERNELS = {
    "rbf": {"gamma"},
    "laplacian": {"gamma"},
    "polynomial": {"gamma", "degree", "coef0"},
    "cosine": set[str](),
}

#: Rows among which the median distance is taken.
_SAMPLE = 1000

Kernel = str | Callable[..., float]


class KernelMap:
    """Features whose inner products approximate a kernel.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows to draw landmarks from.
    kernel : str or callable
        One of ``KERNELS``, or a function of two rows.
    n_components : int
        Largest number of landmarks; with all rows, the features are exact.
    params : dict
        Parameters of the kernel. A width that is not given follows from the median
        distance between rows.
    standardize : bool
        Whether to scale features to variance 1 (and mean 0, unless sparse) first.
    rng : RandomState
    factor : float
        Factor of the default width.
    weights : ndarray of shape (n_samples,) or None
        Weights of the rows, for their mean and scale only: landmarks and the median
        distance ignore them.

    Attributes
    ----------
    scaler : Scaler or None
    nystroem : Nystroem
        scikit-learn's, fitted.
    """

    def __init__(
        self,
        X: Matrix,
        kernel: Kernel,
        n_components: int,
        params: Fields,
        *,
        standardize: bool,
        rng: np.random.RandomState,
        factor: float = 1.0,
        weights: Any = None,
    ) -> None:
        self.scaler = Scaler(X, weights) if standardize else None
        rows = self._scaled(X)
        count = min(n_components, X.shape[0])
        given: Fields
        if isinstance(kernel, str):
            given = _width(kernel, rows, rng, factor) | _known(kernel, params)
        else:
            given = {"kernel_params": params or None}
        self.nystroem = Nystroem(
            kernel=kernel, n_components=count, random_state=rng, **given
        ).fit(rows)

    @classmethod
    def restore(cls, nystroem: Nystroem, scaler: Scaler | None) -> KernelMap:
        """Return a KernelMap with the attributes of an earlier one."""
        kernel_map = cls.__new__(cls)
        kernel_map.nystroem, kernel_map.scaler = nystroem, scaler
        return kernel_map

    def __call__(self, X: Matrix) -> Matrix:
        """Return the Nyström features of rows."""
        return self.nystroem.transform(self._scaled(X))

    def _scaled(self, X: Matrix) -> Any:
        return X if self.scaler is None else self.scaler(X)


def _known(kernel: str, params: Fields) -> Fields:
    unknown = sorted(set(params) - KERNELS[kernel])
    if unknown:
        takes = ", ".join(sorted(KERNELS[kernel])) or "no parameters"
        raise ValueError(
            f"kernel_params has {', '.join(unknown)}, but the kernel {kernel!r} takes "
            f"{takes}; leave it out."
        )
    return params


def _width(
    kernel: str, rows: Any, rng: np.random.RandomState, factor: float
) -> dict[str, float]:
    """Return γ = factor/(2 d), with d the median distance between two rows."""
    if kernel not in ("rbf", "laplacian"):
        return {}
    some = rng.permutation(rows.shape[0])[:_SAMPLE]
    if kernel == "rbf":
        distances = euclidean_distances(rows[some], squared=True)
    else:
        distances = manhattan_distances(rows[some])
    apart = distances[np.triu_indices(len(some), 1)]
    median = float(np.median(apart)) if len(apart) else 0.0
    # Rows that are mostly equal have no width of their own.
    return {"gamma": factor / (2.0 * median) if median > 0 else factor}
