"""Direct or iterative: which solver a fit takes, and what the latter is given."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from homi import memory
from homi.graph import neighbour_laplacian
from homi.graph.approximate import ApproximateSearch
from homi.linalg import Array
from homi.model.features import is_compacted
from homi.model.graphs import resolve
from homi.moments import column_units
from homi.solver import EXACT_LABELS, Basis, compacted, saves_products
from homi.solver import RowsInput as Given
from homi.solver import memory_needs as cost

#: Up to this many features (and EXACT_LABELS labels) the direct solver is taken.
FEW_FEATURES = 2_000

#: More bytes than this the direct solver is not given unasked.
DIRECT_BYTES = 4 * 2**30

#: What a non-zero of X costs the iterative solver for each label, in units of what a
#: number in m³ or l³ costs the direct one: about 500 products of 4 ns beside 0.7 ns.
PRODUCTS = 3_000

#: Parameters that the iterative solver takes only one value of.
_ONLY = {
    "sweep": "joint",
    "init": "zeros",
    "correlation": "labels",
    "kernel": None,
    "penalize_bias": True,
    "missing_labels": "error",
}


def chosen_solver(model: Any, X: Any, Y: Any, *, weighted: bool) -> str:
    """The solver that the parameters of a model and the size of the data ask for."""
    (n, m), n_labels = X.shape, Y.shape[1]
    nnz = X.nnz if sparse.issparse(X) else X.size
    unfit = _why_not(model, weighted)
    if model.solver == "iterative" and unfit:
        raise ValueError(
            f'solver="iterative" needs {unfit}; change that, or use solver="direct".'
        )
    if (
        model.solver == "direct"
        or unfit
        or (model.solver == "auto" and is_for_direct(n, m, n_labels, nnz))
    ):
        size = n + 1 if compacts(model, n, m) else m
        if model.kernel is None:
            check_direct(size)
        least = partial(cost.bytes_least_direct, 0 if model.kernel else size)
        memory.check_labels(least, n_labels, "HOMI")
        return "direct"
    memory.check_labels(
        lambda count: cost.bytes_iterative(n, m, count, nnz), n_labels, "HOMI"
    )
    return "iterative"


def is_for_direct(n: int, m: int, n_labels: int, nnz: int) -> bool:
    """Whether arrays of m × m and l × l fit, and cost less than the products."""
    if is_compacted(n, m) and saves_products(n, m, nnz):
        return False
    if n_labels > EXACT_LABELS or cost.bytes_direct(m, n_labels) > DIRECT_BYTES:
        return False
    return m <= FEW_FEATURES or m**3 + n_labels**3 <= PRODUCTS * nnz * n_labels


def check_direct(m: int) -> None:
    """Refuse m features whose moments do not fit."""
    # Two arrays of this size are the least: G and H.
    memory.check(16 * m * m, "the direct solver")


def _why_not(model: Any, weighted: bool) -> str:
    """What keeps a model from the iterative solver; empty for nothing."""
    for name, value in _ONLY.items():
        given = getattr(model, name)
        if given != value:
            return f"{name}={value!r}, got {given!r}"
    if _is_anchored(model):
        return 'graph="exact" or "approximate", got "anchors"'
    if weighted:
        return "rows and labels without weights"
    return "" if model.lam > 0 else f"lam > 0, got {model.lam!r}"


class RowsView(NamedTuple):
    """What the iterative solver is given of rows, and the way back to their features.

    Attributes
    ----------
    given : Given
        Rows, labels and graph, in the space of the rows if these are few.
    mean, scale : ndarray of shape (m,)
        The units of the features.
    basis : Basis or None
        From the space of the rows to the features; None if the latter were given.
    """

    given: Given
    mean: Array
    scale: Array
    basis: Basis | None = None


def compacts(model: Any, n: int, m: int) -> bool:
    """Whether the direct solver sees rows in the space they span.

    Not without a penalty, which keeps W in it; nor by sums that batches can add to.
    """
    return (
        is_compacted(n, m)
        and model.kernel is None
        and model.lam > 0
        and not _is_anchored(model)
    )


def _is_anchored(model: Any) -> bool:
    return model.graph == "anchors" and model.gamma > 0


def rows_view(model: Any, X: Any, Y: Any) -> RowsView:
    """Rows as the iterative solver sees them."""
    centre, scale = column_units(X)
    if not model.standardize:
        scale = np.ones_like(scale)
    mean = centre if model.standardize else np.zeros_like(centre)
    L = _laplacian(model, X, mean, scale)
    given = Given.of(
        X,
        Y,
        mean=centre,
        scale=scale,
        standardize=model.standardize,
        L=L,
        lam=model.lam,
        beta=model.beta,
        gamma=model.gamma,
    )
    n, m = X.shape
    if saves_products(n, m, X.nnz if sparse.issparse(X) else X.size):
        given, basis = compacted(given)
        return RowsView(given, mean, scale, basis)
    return RowsView(given, mean, scale)


def _laplacian(model: Any, X: Any, mean: Array, scale: Array) -> Any:
    """The graph as a sparse matrix; where anchors would suit it better, by lists."""
    model.graph_ = resolve(model.graph, X) if model.gamma > 0 else "none"
    if model.graph_ == "none":
        return None
    units: dict[str, Any] = {"mean": mean, "scale": scale}
    if model.graph_ == "exact":
        return neighbour_laplacian(X, model.n_neighbors, **units)
    model.graph_, search = "approximate", ApproximateSearch(model._seed())
    L = neighbour_laplacian(X, model.n_neighbors, **units, search=search)
    model.graph_recall_ = search.recall
    return L
