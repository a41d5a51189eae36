"""Which graph suits so many rows of this kind on a machine of this size."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from homi import memory

#: All pairs of rows are compared up to the first number of rows, and up to the second
#: if that takes no more products than the third: about a minute on one core.
_ALWAYS, _MOST, _PRODUCTS = 50_000, 100_000, 1.5e12

#: Rows and share of the free memory that lists of rows may take.
_MOST_LISTED, _SHARE = 10_000_000, 0.5

#: Free memory where the system does not tell.
_UNKNOWN = 4.0 * 2**30


def choose_graph(X: Any, free: float | None = None) -> tuple[str, str]:
    """``"exact"``, ``"approximate"`` or ``"anchors"``, and why.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        All rows.
    free : float, optional
        Bytes of free memory; by default what the system says.
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
        f"{n:,} rows are too many to compare all pairs, and {needed / 2**30:.1f} GiB "
        f"for lists of them too much for {free / 2**30:.1f} GiB of free memory"
        if n <= _MOST_LISTED
        else f"{n:,} rows are too many to compare with each other"
    )
