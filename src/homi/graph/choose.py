"""Choose the graph for the number of rows and the available memory."""

from __future__ import annotations

from scipy import sparse

from homi import memory
from homi.typing import Matrix

#: The exact graph is used up to the first number of rows, and up to the second if it
#: takes at most the third number of products, about a minute on one core.
_ALWAYS, _MOST, _PRODUCTS = 50_000, 100_000, 1.5e12

#: Maximum rows of the approximate graph, and maximum share of the free memory.
_MOST_LISTED, _SHARE = 10_000_000, 0.5

#: Free memory to assume where the system does not report it.
_UNKNOWN = 4.0 * 2**30


def choose_graph(X: Matrix, free: float | None = None) -> tuple[str, str]:
    """Return ``"exact"``, ``"approximate"`` or ``"anchors"``, and the reason.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        All rows.
    free : float, optional
        Bytes of free memory; by default as reported by the system.
    """
    n, m = X.shape
    products = n * (X.nnz if sparse.issparse(X) else n * m)
    if n <= _ALWAYS or (n <= _MOST and products <= _PRODUCTS):
        return "exact", f"all pairs of {n:,} rows can be compared"
    needed = 4.0 * n * m
    if free is None:
        free = memory.available() or _UNKNOWN
    if n <= _MOST_LISTED and needed <= _SHARE * free:
        return "approximate", f"{n:,} rows are too many to compare all pairs"
    return "anchors", (
        f"{n:,} rows are too many to compare all pairs, and an index of them takes "
        f"{needed / 2**30:.1f} GiB, too much for {free / 2**30:.1f} GiB of free memory"
        if n <= _MOST_LISTED
        else f"{n:,} rows are too many to compare with each other"
    )
