"""Convert arrays of users to the few forms that the library uses."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.typing import Array, Indices, Matrix, Values


def dense(A: Matrix) -> NDArray[Any]:
    """Return a sparse A as an array, anything else unchanged."""
    return A.toarray() if sparse.issparse(A) else A


def canonical(A: Matrix) -> Matrix:
    """Return a sparse A in canonical form: CSR, or CSC if it is one.

    Indices are valid, sorted, unique and as short as possible; no zero is stored. The
    result may share buffers with A, but A is never changed.
    """
    A = A if A.format in ("csr", "csc") else A.tocsr()
    kind = sparse.csr_array if A.format == "csr" else sparse.csc_array
    # A new object with the same buffers, because flags cached by A may be wrong.
    fits = max(A.nnz, *A.shape) < 2**31
    index = np.int32 if fits else np.int64
    indices, indptr = (np.asarray(a, index) for a in (A.indices, A.indptr))
    view = kind((A.data, indices, indptr), shape=A.shape)
    view.check_format(full_check=True)
    if not view.has_canonical_format:
        view = view.copy()
        view.sum_duplicates()
    if not view.data.all():
        view = view.copy()
        view.eliminate_zeros()
    return view


def as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return an object array of numbers and booleans as a plain one.

    Nullable, categorical and Arrow columns of data frames give such arrays. An array
    with any other value, including a missing one, is returned unchanged.
    """
    if values.dtype != object:
        return values
    if not all(isinstance(value, (Real, np.bool_)) for value in values.flat):
        return values
    plain = np.array(values.tolist())
    return plain if plain.dtype.kind in "buif" else values


def columns_of(Y: Matrix, columns: Indices) -> Array:
    """Return some columns as a dense array."""
    return dense(Y[:, columns])


def check_label_order(columns: object, names: object, what: str) -> None:
    """Raise ValueError for the columns of a data frame that are names in another order.

    Anything but columns or names, such as None, is not compared.
    """
    if not isinstance(columns, Iterable) or not isinstance(names, Iterable):
        return
    found, expected = list(columns), list(names)
    if found != expected and set(found) == set(expected):
        raise ValueError(
            f"{what} has its labels in another order, {found[:3]}… for "
            f"{expected[:3]}…; reorder its columns."
        )


def check_text(values: Values) -> None:
    """Raise ValueError for text with code points that Unicode does not have."""
    if values.dtype.kind != "U" or not values.nbytes:
        return
    codes = np.ascontiguousarray(values).reshape(-1)
    codes = codes.view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
    if codes.max() > sys.maxunicode:
        raise ValueError("it holds text that is not Unicode")
