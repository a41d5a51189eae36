"""Values of hyper-parameters that HOMICV tries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from homi.model.graphs import warn_of_few_rows
from homi.model.kernel_map import KERNELS
from homi.typing import Matrix

if TYPE_CHECKING:
    from homi.model.cross_validated_fit import CrossValidatedFit

#: Penalties tried by default.
_LAMS = tuple(float(x) for x in np.logspace(-3, 4, 15))
#: Weights of the graph tried for ``gammas=None``, beside 0.
GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0)
#: Weights of a label's errors, beside 1. The smaller the weight, the more λ and γ
#: shrink the label toward its mean, which suits rare labels.
LABEL_WEIGHTS = (1e-3, 3e-3, 1e-2, 0.03, 0.1, 0.3, 3.0, 10.0)
#: Strengths of the label correction, beside none.
_BETAS = (1e-2, 0.1, 1.0, 10.0, 100.0)
#: Kernels whose width matters.
KERNELS_TRIED = ("rbf", "laplacian")
#: Widths of a kernel, as factors of the width by the median distance.
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: Numbers of neighbors; 10 is tried first, the others if it helps.
NEIGHBORS = (5, 10, 20)
#: More features than this, and more rows than the sample has: city-block distances
#: would cost more than everything else.
_MOST_CITY_BLOCK = 20


@dataclass(frozen=True)
class Grid:
    """Values to try of each parameter."""

    standardize: Sequence[bool]
    kernels: Sequence[str]
    widths: Sequence[float]
    lams: Sequence[float]
    gammas: Sequence[float]
    n_neighbors: Sequence[int]
    label_weights: Sequence[float]
    betas: Sequence[float]
    #: Whether λ are in units of the mean variance of features that are not scaled.
    in_units: bool = True
    #: What is not tried, and why.
    note: str = ""

    @property
    def first_width(self) -> float:
        """The width nearest to 1, which is tried first."""
        return min(self.widths, key=lambda w: abs(np.log(w)), default=1.0)


def build_grid(model: CrossValidatedFit, X: Matrix, n: int) -> Grid:
    """Return the grid of the parameters of a HOMICV.

    X is the sample, and n the number of all rows.
    """
    m, thin, scaled = X.shape[1], sparse.issparse(X), model.standardize
    kernels, note = _checked_kernels(model.kernels), ""
    if X.shape[0] < n and m > _MOST_CITY_BLOCK and kernels == list(KERNELS_TRIED):
        kernels = ["rbf"]
        note = "laplacian is not tried: it would double the time of the fit"
    weights = check_values("label_weights", model.label_weights, LABEL_WEIGHTS)
    return Grid(
        # Sparse rows are cheapest, and usually best, as they are.
        standardize=[not thin, thin] if scaled == "auto" else [bool(scaled)],
        kernels=kernels,
        widths=check_values("widths", model.widths, _WIDTHS),
        lams=check_values("lams", model.lams, _LAMS),
        # Rows of one or two features are all fully correlated: they have no graph.
        gammas=check_values("gammas", model.gammas, GAMMAS) if m > 2 else (),
        n_neighbors=_checked_neighbors(model.n_neighbors, n),
        label_weights=weights,
        betas=check_values("betas", model.betas, _BETAS),
        in_units=model.lams is None,
        note=note,
    )


def check_values(
    name: str, given: ArrayLike | None, default: tuple[float, ...] = ()
) -> tuple[float, ...]:
    """Return positive numbers; γ = 0 is always tried and need not be given."""
    if given is None:
        return default
    values = tuple(float(value) for value in np.ravel(given))
    if name == "gammas":
        values = tuple(value for value in values if value != 0)
    if not all(0 < value < np.inf for value in values) or (
        name == "lams" and not values
    ):
        raise ValueError(
            f"{name} must be positive numbers, got {given!r}; leave it None for "
            "the default."
        )
    return values


def _checked_neighbors(given: ArrayLike, n: int) -> list[int]:
    counts = [int(s) for s in check_values("n_neighbors", given)]
    if counts and counts != list(NEIGHBORS):
        warn_of_few_rows(max(counts), n)
    return list(dict.fromkeys(min(s, n - 1) for s in counts))


def _checked_kernels(given: Sequence[str]) -> list[str]:
    kernels = list(given)
    unknown = [kernel for kernel in kernels if kernel not in KERNELS_TRIED]
    if unknown or isinstance(given, str):
        raise ValueError(
            f"kernels must be a list of some of {', '.join(KERNELS_TRIED)}, got "
            f"{given!r}; HOMI itself also takes {', '.join(KERNELS)}."
        )
    return kernels
